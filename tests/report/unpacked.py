"""The packed parts of a page, for tests that read the page's text."""

import base64
import gzip
import re

LONG_TABLE = re.compile(
    r"(?P<head></thead>)(?:(?!</thead>).)*?(?P<tail></table>\s*</div>)\s*"
    r'<p class="more"[^>]*>[^\n]*\n<script type="text/plain" class="rest">(?P<rest>[^<]*)</script>',
    re.S,
)


def unpack(text):
    return gzip.decompress(base64.b64decode(text)).decode()


def whole(html):
    """Return a page that has all rows of each table, not only the first ones."""

    def filled(found):
        return found["head"] + unpack(found["rest"]) + found["tail"]

    return LONG_TABLE.sub(filled, html)

"""Changes of a file's bytes, whatever the file's content."""


def _lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def cut(source, content):
    return content[: source.randrange(len(content) + 1)]


def no_utf8(source, content):
    place = source.randrange(len(content) + 1)
    return content[:place] + source.choice([b"\xff", b"\xc3", b"\xed\xa0\x80"]) + content[place:]


def other_encoding(source, content):
    text = content.decode("utf-8")
    return source.choice([text.encode("utf-16"), text.encode("utf-32-le"), text.encode("utf-7")])


def lines_swapped(source, content):
    lines = _lines(content)
    one, other = source.randrange(len(lines)), source.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def line_doubled(source, content):
    lines = _lines(content)
    place = source.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def line_gone(source, content):
    lines = _lines(content)
    del lines[source.randrange(len(lines))]
    return b"".join(lines)


def lines_joined(source, content):
    lines = _lines(content)
    place = source.randrange(len(lines))
    lines[place] = lines[place].rstrip(b"\r\n")
    return b"".join(lines)


def mark_of_order(source, content):
    return b"\xef\xbb\xbf" + content


def ends_of_lines(source, content):
    return content.replace(b"\n", source.choice([b"\r\n", b"\r", b"\n\n", b"\x85"]))


def nul(source, content):
    place = source.randrange(len(content) + 1)
    return content[:place] + source.choice([b"\0", b"\x1b[31m", b"\x07"]) + content[place:]


def nothing(source, content):
    return source.choice(
        [b"", b"\n", b" ", b"\0" * 512, b"---\n", b"null\n", b"[]", b"{}\n", b"..."]
    )


def stretch_gone(source, content):
    begin = source.randrange(len(content) + 1)
    return content[:begin] + content[begin + source.randrange(1, 40) :]


def character_changed(source, content):
    if not content:
        return b"x"
    place = source.randrange(len(content))
    other = source.choice(b"0:,{}[]\"'-#&*!|>%@`\\ \t~=").to_bytes(1, "big")
    return content[:place] + other + content[place + 1 :]


OF_BYTES = {
    "cut in the middle": cut,
    "bytes that are no UTF-8": no_utf8,
    "another encoding": other_encoding,
    "lines swapped": lines_swapped,
    "a line twice": line_doubled,
    "a line less": line_gone,
    "two lines in one": lines_joined,
    "a byte order mark": mark_of_order,
    "other ends of lines": ends_of_lines,
    "NUL and controls between": nul,
    "nothing in it": nothing,
    "a stretch less": stretch_gone,
    "another character": character_changed,
}

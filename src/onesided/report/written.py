"""The texts of pages: names, sections and tables in a YAML file beside the pages' code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.parts import Column, Part, Row, Section, Table
from onesided.system import documents

SHOWN: Mapping[str, Callable[[float], str]] = {
    **{name: getattr(numbers, name) for name in ("seconds", "plain_seconds", "factor", "ratio")},
    "significant": numbers.significant,
    "whole": str,
    "percent": numbers.share,
}
"""The functions that turn a column's numbers into text, by the functions' names in a YAML file."""

Repeated = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Words in braces that repeat a column, such as ``{size}``: the column is repeated for each value
of the word. Each value has a mapping from other words in braces to texts."""


@dataclass(frozen=True)
class PageText:
    """A YAML file with texts of pages.

    The file describes a column by a name and by fields of `onesided.report.parts.Column`. A
    column's title is its name, unless the file gives another title. If a column's name has a word
    in braces, such as ``{size}``, the table has this column once for each value of the word.

    Attributes:
        path: the path of the file, which has the mappings ``sections``, ``sentences`` and
            ``tables``.
    """

    path: Path

    @cached_property
    def names(self) -> Mapping[str, Any]:
        """Return the whole file.

        Raises:
            InputError: the file cannot be read, or is not YAML.
        """
        return documents.parse_yaml(documents.read_text(self.path), self.path)

    def section(self, name: str, parts: Sequence[Part | None], **words: str) -> Section | None:
        """Return a section of a page; None if the section has no part to show.

        `name` is the name of the section in the file, and its identifier. The section's lead may
        have HTML, and braces for the words in `words`. A part is None if it has nothing to show.
        """
        shown = tuple(part for part in parts if part is not None)
        if not shown:
            return None
        said = self.names["sections"][name]
        return Section(name, said["title"], Markup(said["lead"]).format(**words), shown)

    def say(self, name: str, *words: object) -> Markup:
        """Return a sentence of the mapping ``sentences``, with its placeholders filled in."""
        return Markup(self.names["sentences"][name]).format(*words)

    def table(
        self,
        name: str,
        rows: Sequence[Row],
        *,
        called: str = "",
        each: Repeated | None = None,
        without: Sequence[str] = (),
        aside: Sequence[str] = (),
        **words: Any,
    ) -> Table:
        """Return a table.

        `called` is the name of the table and of its CSV; by default, the name in the file. `each`
        has the columns to repeat, `without` has the columns to leave out, and `aside` has the
        columns that are only in the CSV. `words` has the words for the braces in the caption and
        columns.
        """
        said = dict(self.names["tables"][name])
        caption = said.pop("caption").format(**words)
        shown, beside = (
            list(_columns(said.pop(key, {}), each or {}, without, words))
            for key in ("columns", "csv_only")
        )
        columns = [column for column in shown if column.key not in aside]
        beside += [column for column in shown if column.key in aside]
        return Table(called or name, caption, columns, rows, csv_only=beside, **said)


def _columns(
    written: Mapping[str, Mapping[str, Any] | None],
    each: Repeated,
    without: Sequence[str],
    words: Mapping[str, Any],
) -> Iterator[Column]:
    for key, given in written.items():
        if key in without:
            continue
        axis = next((axis for axis in each if f"{{{axis}}}" in key), "")
        for value, own in each.get(axis, {"": {}}).items():
            yield _column(key, given or {}, {**words, axis: value, **own})


def _column(key: str, given: Mapping[str, Any], words: Mapping[str, Any]) -> Column:
    fields = {"title": key.replace("_", " "), **given}
    show = SHOWN.get(fields.pop("show", ""))
    told = {
        name: text.format(**words) if isinstance(text, str) else text
        for name, text in fields.items()
    }
    return Column(key.format(**words), show=show, **told)


def range_words(values: Iterable[float], show: Callable[[float], str]) -> str:
    """Return the least and the largest of some values in words; one value if both are equal."""
    known = list(values)
    return " to ".join(dict.fromkeys((show(min(known)), show(max(known)))))

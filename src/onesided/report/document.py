"""An HTML file from a template, with style, script, legend and parts. It needs no other file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from onesided.report import badges, figures
from onesided.report.parts import Figure, Folded, Matrix, Part, Prose, Section, Table
from onesided.report.words import template
from onesided.system import writing

INDEX = "index.html"
"""The first page of a folder."""


def _kind(part: object) -> str:
    return type(part).__name__.lower()


def document(name: str, **values: Any) -> str:
    """Return a page: a template filled with the project's style, script, legend and parts.

    Args:
        name: the name of the template.
        values: what the page shows. If no `legend` is given, the page says what each verdict means.
            If a `caveat` is given, this sentence is at each table and figure of the page.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"kind": _kind, "packed": figures.packed}
    return environment.get_template(name).render(
        **{"legend": badges.meanings().items(), "caveat": None, **values},
        badge=badges.badge,
        style=Markup(template("style.css")),
        script=Markup(template("enhance.js")),
        Markup=Markup,
    )


Content = str | Table
"""The content of a file: its text, or a table that is written as CSV."""


def write_files(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files to a folder, by name and content. A CSV is never in memory as a whole."""
    for name, content in files.items():
        pieces = content.csv_pieces() if isinstance(content, Table) else [content]
        writing.write_pieces(folder / name, pieces)


def _files_of(part: Part) -> dict[str, Content]:
    """Return the files that go with a part: name and content."""
    if isinstance(part, Folded):
        return _files_of(part.part)
    if isinstance(part, Prose):
        return dict(part.files)
    if isinstance(part, Figure):
        return {f"{part.name}.svg": figures.as_file(part.wide), **_files_of(part.table)}
    table = part.table if isinstance(part, Matrix) else part
    return {f"{table.name}.csv": table, **table.files}


def files_of(sections: Sequence[Section], tables: Sequence[Table]) -> dict[str, Content]:
    """Return every file beside the page: name and content."""
    files: dict[str, Content] = {f"{table.name}.csv": table for table in tables}
    for section in sections:
        for part in section.parts:
            files |= _files_of(part)
    return files


def has_figure(sections: Sequence[Section]) -> bool:
    """Tell whether a page needs the drawing library."""
    parts = [part for section in sections for part in section.parts]
    return any(isinstance(part, Figure) for part in parts)

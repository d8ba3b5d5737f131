"""Variables without which some versions of an MPI do not start: found in the MPI's own folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_FOLDER_OF = re.compile(r"\{folder of ([^{}]+)\}")


def attempts(fallbacks: Sequence[Mapping[str, str]], root: Path) -> Iterator[dict[str, str]]:
    """Yield sets of variables to try in turn, none first.

    Args:
        fallbacks: as a family declares them; ``{folder of NAME}`` is the folder of the files below
            ``root`` that a glob pattern names.
        root: the MPI's folder.
    """
    yield {}
    for declared in fallbacks:
        found = {name: _filled(text, root) for name, text in declared.items()}
        if None not in found.values():
            yield {name: text for name, text in found.items() if text is not None}


def _filled(text: str, root: Path) -> str | None:
    """Return a value with the names of folders in it; None where there is no such folder."""
    for pattern in _FOLDER_OF.findall(text):
        folders = sorted({file.parent for file in root.rglob(pattern)})
        if not folders:
            return None
        text = text.replace(f"{{folder of {pattern}}}", ":".join(map(str, folders)))
    return text

"""Which payload sizes the campaigns of `config/campaigns` have, from the axes of the checks.

ReFrame takes seconds to describe a campaign, so what it says is kept in a file.
`tools/campaign_sizes.py` writes the file, and a test compares it with the checks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onesided.campaign import declared
from onesided.system import documents, paths

SCHEMA = "onesided/campaign-sizes/1"
AXIS = "size_bytes"


def file() -> Path:
    """Return the file's path."""
    return paths.config_dir() / "campaign_sizes.json"


def of_tests(tests: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the sizes of each kernel that has any, from tests as ReFrame describes them."""
    found: dict[str, set[int]] = defaultdict(set)
    for test in tests:
        for labels in declared.cells_of(dict(test)).values():
            if labels.get(AXIS, "").isdigit():
                found[test["kernel"]].add(int(labels[AXIS]))
    return {kernel: sorted(sizes) for kernel, sizes in found.items()}


def known(kernel: str) -> Mapping[str, list[int]]:
    """Return the sizes that each declared campaign has of a kernel's cells.

    Raises:
        InputError: the file is missing or does not fit its schema.
    """
    return documents.read_json(file(), "campaign_sizes")["kernels"].get(kernel, {})

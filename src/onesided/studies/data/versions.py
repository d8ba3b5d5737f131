"""Which MPI an environment of a campaign is: its family and its version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def families_of(record: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the family and the version of each environment of a campaign's record."""
    return {
        document["name"]: (str(document.get("family")), str(document.get("version") or ""))
        for document in record.get("environments", [])
        if "name" in document
    }

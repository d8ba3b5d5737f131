"""Altair, loaded when the first chart is drawn: ReFrame loads pages and draws nothing.

A module of pages imports this one as it would import Altair.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    """Return the attribute of Altair with that name."""
    import altair

    return getattr(altair, name)

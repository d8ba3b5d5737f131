"""Altair, loaded when the first chart is drawn, because ReFrame loads pages but draws nothing.

A module of pages imports this module in place of Altair.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    """Return the attribute of Altair with that name."""
    import altair

    return getattr(altair, name)

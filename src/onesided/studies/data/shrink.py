"""Make a failing cell smaller: fewer operations, fewer bytes, simpler datatypes."""

from collections.abc import Callable, Iterator, Mapping

from onesided.campaign.grid import NO_MEANING

Labels = dict[str, str]

SIMPLER: Mapping[str, tuple[str, ...]] = {
    "windows": ("1", "2", "8"),
    "outstanding": ("1", "2", "4", "16", "64", "128", "192", "224", "240", "248", "252", "254"),
    "count": ("1", "2", "3", "8", "64", "256", "1024"),
    "layout_origin": ("plain", "contiguous", "vector", "indexed", "struct"),
    "layout_target": ("plain", "contiguous", "vector", "indexed", "struct"),
    "datatypes": ("kept",),
    "memory": ("every",),
    "target": ("last",),
    "overlap": ("apart", "same"),
    "flavor": ("allocate", "create"),
    "synchronisation": ("lock_all_flush", "lock_exclusive", "fence"),
    "element": ("int8", "int32", "int64", "double", "two_int", "short_int"),
    "operator": ("replace", "sum", "maxloc"),
    "window": ("exact",),
}
"""The simple values of each axis, the simplest first. A value that is not listed is less simple.
The axes that add the most to a program's length come first."""


def simpler(labels: Mapping[str, str]) -> Iterator[Labels]:
    """Yield the cells that are simpler on one axis. For each axis, the simplest comes first."""
    for axis, values in SIMPLER.items():
        own = labels[axis]
        if own == NO_MEANING:
            continue
        known = values.index(own) if own in values else len(values)
        numeric = own.isdigit() and all(value.isdigit() for value in values)
        for value in values[:known]:
            if not numeric or int(value) < int(own):
                yield {**labels, axis: value}


def shrink(labels: Mapping[str, str], fails: Callable[[Labels], bool]) -> Labels:
    """Return a failing cell; no cell that is simpler on only one axis fails in the same way.

    Args:
        labels: the labels of a cell that fails, with all axes.
        fails: tells whether a cell fails in the same way. It is called at most once for each cell.
    """
    found = dict(labels)
    tried: set[tuple[str, ...]] = set()
    while True:
        for candidate in simpler(found):
            key = tuple(candidate.values())
            if key in tried:
                continue
            tried.add(key)
            if fails(candidate):
                found = candidate
                break
        else:
            return found

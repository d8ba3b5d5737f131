"""The axes that the kernel conformance can vary, and all values of each axis.

The ReFrame check of `conformance` takes the values of its cells from these lists. The report's page
on `conformance` says which of these values a campaign did not try. A unit test compares these
values with the values that the kernel accepts.
"""

from collections.abc import Mapping

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REAL = ("float", "double", "long_double")
COMPLEX = ("float_complex", "double_complex")
PAIRS = ("two_int", "short_int", "long_int", "float_int", "double_int")
ELEMENTS = (*WHOLE, *REAL, *COMPLEX, "logical", "byte", *PAIRS)

LOGICAL, BITWISE = ("land", "lor", "lxor"), ("band", "bor", "bxor")
OF_WHOLE = ("sum", "prod", "max", "min", *LOGICAL, *BITWISE)
OPERATORS = (*OF_WHOLE, "maxloc", "minloc", "replace", "no_op")

LAYOUTS = (
    *("plain", "contiguous", "vector", "backwards", "hvector", "indexed", "hindexed"),
    *("indexed_block", "hindexed_block", "struct", "resized", "negative", "subarray"),
    *("nested", "drawn"),
)
FLAVORS = ("create", "allocate", "shared", "dynamic")

MOVES = ("put", "get", "rput", "rget")
REDUCES = ("accumulate", "get_accumulate", "raccumulate", "rget_accumulate")
IN_ANY_EPOCH = (
    *("put", "get", "accumulate", "get_accumulate"),
    *("fetch_and_op", "compare_and_swap"),
)
WITH_REQUEST = ("rput", "rget", "raccumulate", "rget_accumulate")

LOCKS = ("lock_exclusive", "lock_shared", "lock_shared_nocheck")
ALL_LOCKED = ("lock_all_flush", "lock_all_nocheck", "lock_all_flush_local")
PASSIVE, ACTIVE = (*LOCKS, *ALL_LOCKED), ("fence", "pscw")

AXES: Mapping[str, tuple[str, ...]] = {
    "call": (*IN_ANY_EPOCH, *WITH_REQUEST),
    "operator": OPERATORS,
    "element": ELEMENTS,
    "layout_origin": (*LAYOUTS, "empty", "bottom", "bottom_contiguous"),
    "layout_target": (*LAYOUTS, "empty"),
    "flavor": FLAVORS,
    "synchronisation": (*PASSIVE, *ACTIVE),
    "overlap": ("apart", "same", "all_ranks"),
    "target": ("last", "first", "self"),
    "memory": ("every", "one"),
    "window": ("roomy", "exact"),
    "windows": ("1", "2", "8", "8_freed_backwards"),
    "datatypes": ("kept", "freed_early"),
}
"""The axes of the kernel conformance with their values, in the kernel's order.

The axes `count` and `outstanding` are not listed, because their values are numbers.
"""

PLURALS: Mapping[str, str] = {
    "call": "calls",
    "operator": "operators",
    "element": "elements",
    "layout_origin": "layouts at the origin",
    "layout_target": "layouts at the target",
    "flavor": "window flavors",
    "synchronisation": "synchronisations",
    "overlap": "overlaps",
    "target": "roles of the target",
    "memory": "placements of memory",
    "window": "sizes of windows",
    "windows": "numbers of windows",
    "datatypes": "lifetimes of datatypes",
}
"""The plural noun for the values of each axis, such as ``operators``."""

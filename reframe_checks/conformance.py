"""Is the data right? The checks test every call, datatype, operator, window, epoch and setting.

Source: MPI 4.1, chapter 12 (one-sided communication), sections 5.1 (datatypes) and 6.9 (operators).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING
from onesided.studies.data.axes import (
    ACTIVE,
    BITWISE,
    COMPLEX,
    ELEMENTS,
    FLAVORS,
    IN_ANY_EPOCH,
    LAYOUTS,
    LOCKS,
    LOGICAL,
    MOVES,
    OF_WHOLE,
    PAIRS,
    PASSIVE,
    REAL,
    REDUCES,
    WHOLE,
    WITH_REQUEST,
)

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL

NONE = [NO_MEANING]
WITHOUT_LAYOUT = {"count": NONE, "layout_origin": NONE, "layout_target": NONE}
#: For each call, its axis values; `NONE` if an axis has no meaning for the call.
OF_CALL = {
    **{call: {"operator": NONE, "overlap": NONE} for call in MOVES},
    **{call: {"operator": ["sum"], "overlap": ["apart"]} for call in REDUCES},
    "fetch_and_op": {"operator": ["sum"], "overlap": ["apart"], **WITHOUT_LAYOUT},
    "compare_and_swap": {"operator": NONE, "overlap": ["apart"], **WITHOUT_LAYOUT},
}
#: Groups of elements, each with its operators in MPI 4.1 (sections 6.9.2 and 6.9.4). All elements
#: also have `replace` and `no_op`.
OPERATORS = [
    (WHOLE, OF_WHOLE),
    (REAL, ["sum", "prod", "max", "min"]),
    (COMPLEX, ["sum", "prod"]),
    (["logical"], LOGICAL),
    (["byte"], BITWISE),
    (PAIRS, ["maxloc", "minloc"]),
]
#: The window flavors for ranks that may be on several machines.
UNSHARED = ["create", "allocate", "dynamic"]
MANY = [1, 16, 254, 255, 256, 4096]
WINDOWS = ["1", "2", "8", "8_freed_backwards"]
PLAIN = {"layout_origin": ["plain"], "layout_target": ["plain"]}


def calls(*names, **axes):
    """Return axis values for each call; axes that are not given have the values in `OF_CALL`."""
    return [
        {axis: list(values) for axis, values in {"call": [name], **OF_CALL[name], **axes}.items()}
        for name in names
    ]


def alike(names, layouts):
    """Return axis values for cells in which origin and target have the same datatype layout."""
    return [
        cross
        for layout in layouts
        for cross in calls(*names, layout_origin=[layout], layout_target=[layout])
    ]


class ConformanceCheck(OnesidedCheck):
    """The base class of all conformance checks; they run at the lowest thread level."""

    kernel = "conformance"
    #: A round takes long if progress threads run beside two ranks on two cores.
    kernel_options = {"rounds": "1"}
    #: A cell takes only milliseconds, so a short time-out is enough to find a hang.
    cell_timeout_s = 20.0
    tags = {"conformance"}
    thread_level = builtins.parameter([LOWEST_LEVEL])
    base_point = {
        "call": "put",
        "operator": NO_MEANING,
        "element": "int32",
        "count": 3,
        "layout_origin": "vector",
        "layout_target": "indexed",
        "flavor": "allocate",
        "synchronisation": "lock_all_flush",
        "outstanding": 4,
        "overlap": NO_MEANING,
        "target": "last",
        "memory": "every",
        "window": "roomy",
        "windows": "1",
        "datatypes": "kept",
    }

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores with a slow transport."""
        return 0.01 * max(1, int(labels["outstanding"]) / 64)


@rfm.simple_test
class ConformanceLayouts(ConformanceCheck):
    """Cells with every datatype layout at origin and target, and cells with random datatypes."""

    descr = "data by layout"
    _drawn = {"layout_origin": ["drawn"], "layout_target": ["drawn"], "count": [1, 5]}
    crosses_one_thread = [
        *calls("put", "get", count=[0, 1, 2, 255, 256, 4096], layout_target=["plain", "resized"]),
        *alike(["put", "get", "accumulate", "get_accumulate"], LAYOUTS),
        *alike(["rput", "rget"], LAYOUTS),
        *alike(WITH_REQUEST, ["vector", "struct", "drawn"]),
        *calls("rput", "rget", layout_origin=LAYOUTS, layout_target=["plain"]),
        *calls("put", "accumulate", layout_origin=["plain", "vector"], layout_target=LAYOUTS),
        *calls("put", "accumulate", layout_origin=LAYOUTS, layout_target=["plain", "indexed"]),
        *calls(*IN_ANY_EPOCH[:4], layout_origin=["bottom", "bottom_contiguous"]),
        *calls("put", "get", element=ELEMENTS, **_drawn),
        *calls("accumulate", element=[*WHOLE, *REAL, *COMPLEX], **_drawn),
        *calls("put", "get", layout_origin=["empty"], layout_target=["empty"]),
    ]


@rfm.simple_test
class ConformanceOperators(ConformanceCheck):
    """Every operator that MPI allows for each element, with or without shared target addresses."""

    descr = "data by operator and element"
    #: The flavor may decide which part of a library carries out an operator.
    _by_any = {"element": ["int32", "int64"], "operator": [*OF_WHOLE, "replace"]}
    _by_any_or_none = {**_by_any, "operator": [*_by_any["operator"], "no_op"]}
    crosses_one_thread = [
        *calls("put", "get", element=ELEMENTS),
        *calls("compare_and_swap", element=[*WHOLE, "logical", "byte"], overlap=["apart", "same"]),
        *calls("accumulate", element=[*WHOLE, *REAL, *COMPLEX], overlap=["all_ranks"]),
        *[
            cross
            for elements, operators in OPERATORS
            for cross in (
                *calls("accumulate", element=elements, operator=[*operators, "replace"]),
                *calls(
                    "get_accumulate",
                    "fetch_and_op",
                    element=elements,
                    operator=[*operators, "replace", "no_op"],
                    overlap=["same"],
                ),
            )
        ],
        *calls("accumulate", flavor=FLAVORS, **_by_any, **PLAIN),
        *calls("get_accumulate", flavor=FLAVORS, **_by_any_or_none, **PLAIN),
        *calls("fetch_and_op", flavor=FLAVORS, **_by_any_or_none),
    ]


@rfm.simple_test
class ConformanceEpochs(ConformanceCheck):
    """Cells with every call, epoch and flavor, with the origin as target, with many operations."""

    descr = "data by epoch, flavor and role"
    crosses_one_thread = [
        *calls(*IN_ANY_EPOCH, flavor=FLAVORS, synchronisation=PASSIVE + ACTIVE),
        *calls(*WITH_REQUEST, flavor=FLAVORS, synchronisation=PASSIVE),
        *calls(*IN_ANY_EPOCH, *WITH_REQUEST, flavor=FLAVORS, target=["first", "self"]),
        *calls(*IN_ANY_EPOCH, flavor=FLAVORS, target=["self"], synchronisation=LOCKS[:1]),
        *calls(*IN_ANY_EPOCH, *WITH_REQUEST, flavor=FLAVORS, memory=["one"]),
        *calls("put", "get", "accumulate", "rput", "rget", outstanding=MANY, count=[1], **PLAIN),
    ]


@rfm.simple_test
class ConformanceWindows(ConformanceCheck):
    """Cells with several windows, or with a window that ends at the last accessed byte."""

    descr = "data by size and number of windows"
    _exact = {"window": ["exact"], "outstanding": [1], **PLAIN}
    _some = {"element": ["int8"], "count": [1, 3, 7, 9, 127, 129, 4095, 4096, 4097]}
    crosses_one_thread = [
        *calls("put", "get", element=["int8"], count=list(range(1, 71)), **_exact),
        *calls("put", "get", "accumulate", flavor=FLAVORS, **_some, **_exact),
        *calls("fetch_and_op", element=WHOLE, flavor=["allocate", "dynamic"], window=["exact"]),
        *calls("compare_and_swap", element=WHOLE, window=["exact"]),
        *calls("put", flavor=FLAVORS, windows=WINDOWS, datatypes=["kept", "freed_early"]),
        *calls("accumulate", flavor=FLAVORS, windows=["2", "8_freed_backwards"]),
    ]


@rfm.simple_test
class ConformanceKnown(ConformanceCheck):
    """Cells that repeat the programs of public defect reports (config/upstream_defects.yaml).

    A cell tests a defect only if the cell has the element, size, window and epoch of the reported
    program. Cells that other checks already declare are left out here.
    """

    descr = "data of programs that defects were reported with"
    _at_bottom = {"layout_origin": ["bottom_contiguous"], "element": ["double"]}
    _locked_all = {"flavor": ["create"], "synchronisation": ["lock_all_nocheck"], "count": [1]}
    _many = {"outstanding": [2**14], "flavor": ["create"], "synchronisation": ["fence"]}
    _pairs = {"element": ["short_int"], "operator": ["maxloc"], "count": [100]}
    crosses_one_thread = [
        *calls(*REDUCES, layout_target=["indexed_block"], **_at_bottom),
        *calls("rget_accumulate", layout_origin=["bottom"]),
        *calls("get_accumulate", operator=["no_op"], layout_target=["plain"], **_locked_all),
        *calls(
            "accumulate",
            operator=["replace"],
            layout_origin=["bottom_contiguous"],
            layout_target=["plain"],
            **_locked_all,
        ),
        *calls(
            "get",
            target=["self"],
            flavor=["dynamic"],
            synchronisation=["lock_exclusive"],
            count=[1],
            **PLAIN,
        ),
        *calls("compare_and_swap", element=["int64", "uint64"], target=["self"]),
        *calls("accumulate", flavor=["create"], synchronisation=["pscw"], **_pairs, **PLAIN),
        *calls("rput", element=["double"], layout_origin=["indexed"], layout_target=["plain"]),
        *calls(*MOVES[2:], element=["double"], layout_target=["vector", "plain"]),
        *calls("rget", element=["double"], layout_origin=["plain"], layout_target=["vector"]),
        *calls("put", layout_target=["vector"], count=[10_000], outstanding=[1]),
        *calls("accumulate", count=[1], **_many, **PLAIN),
    ]


@rfm.simple_test
class ConformanceLarge(ConformanceCheck):
    """One put and one get, each of 2 GiB and 8 bytes."""

    descr = "data of more bytes than an int counts"
    setting = builtins.parameter(["default"])
    cell_timeout_s = 90.0
    crosses_one_thread = calls(
        "put", "get", element=["int64"], count=[2**28 + 1], outstanding=[1], **PLAIN
    )

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores."""
        return 8.0


@rfm.simple_test
class ConformanceFirst(ConformanceCheck):
    """A few cells for each call, epoch, flavor, layout and element; the test takes a second."""

    descr = "data, the cheapest cells"
    tags = {"quick"}
    first_round_only = True
    setting = builtins.parameter(["default"])
    crosses_one_thread = [
        *calls(*IN_ANY_EPOCH, *WITH_REQUEST),
        *calls("put", "get", "accumulate", flavor=UNSHARED, synchronisation=["fence", "pscw"]),
        *calls("put", "get", layout_origin=LAYOUTS[2:], layout_target=["plain"]),
        *calls("accumulate", element=[*WHOLE, *REAL, *COMPLEX]),
    ]

"""Every kernel on any number of ranks: all data are right, and unsupported cells give a reason.

ONESIDED_MANY_RANKS has the numbers (3,4,6,8,16,32); without it, one of these is tried.
"""

from __future__ import annotations

import json
import os

import pytest

from .conftest import KERNEL_NAMES, SLOW

NUMBERS = [int(text) for text in os.environ.get("ONESIDED_MANY_RANKS", "4").split(",")]
#: Options that keep a cell short when thirty ranks share two cores; a kernel gets the options it
#: has.
FEW = {
    "samples": 2, "burst": 1, "trials": 2, "budget-s": 0.01, "computing-samples": 1,
    "computing-trials": 1, "tasks-per-rank": 2, "helper-samples": 1, "tries": 1,
    "delay-ms": 20, "largest-bytes": 16384, "compute-ms": 2,
    "lengths-ms": "0,3", "latency-burst": 1, "latency-samples": 1, "latency-passes": 1,
    "latency-patience-s": 0,
}  # fmt: skip
#: Time-outs of a cell and of a launch, for each rank: polling ranks keep each other from the cores,
#: and a lock is handed on only when its holder has a core again.
CELL_S, LAUNCH_S = 15, 30
pytestmark = [pytest.mark.every_mpi, SLOW, pytest.mark.timeout(LAUNCH_S * max(8, *NUMBERS) + 300)]
#: Cells that depend on the number of ranks; {others}: all ranks but one, at most `MOST_ORIGINS`.
OWN_CELLS = {"origin_threads": "operation=put,fetch_and_op;arrangement=processes;origins={others}"}
#: With more origins than this, origin_threads has no cells, and reports this.
MOST_ORIGINS = 16
#: Values of axes that must be multiples of the number of ranks.
MULTIPLES = {("transpose", "order"): 8}
#: Ranks send before they receive, although the standard does not let a program rely on this. Above
#: the eager limit the cell hangs, as its check says.
UNSAFE = ("in_place_all_to_all", "isend_waitany")
#: The status of a launch with unsupported cells and nothing worse.
UNSUPPORTED = 4


def few_of_all(described: dict, ranks: int) -> list[str]:
    """Return options for a cell of each value of the first axis, each cell as short as possible."""
    first, *others = described["axes"]
    every = first.get("values", first["default"])
    values = [value for value in every if (described["kernel"], value) != UNSAFE]
    cells = [f"{first['name']}={','.join(values)}"]
    for axis in others:
        times = MULTIPLES.get((described["kernel"], axis["name"]))
        value = times * ranks if times else axis["default"][0]
        cells += [] if axis["only_with"] else [f"{axis['name']}={value}"]
    own = OWN_CELLS.get(described["kernel"], ";".join(cells)).format(
        others=min(ranks - 1, MOST_ORIGINS)
    )
    known = {option["name"] for option in described["options"]}
    return [
        f"--cells={own}",
        f"--cell-timeout-s={CELL_S * max(ranks, 8)}",
        *(f"--{name}={value}" for name, value in FEW.items() if name in known),
    ]


@pytest.mark.parametrize("ranks", NUMBERS)
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_data_are_right_whatever_the_number_of_ranks(each, name, ranks):
    kernel = each(name)
    described = json.loads(kernel.alone("--describe").stdout)
    patience_s = LAUNCH_S * max(ranks, 8)
    run, ended = kernel.launch_within(patience_s, *few_of_all(described, ranks), ranks=ranks)
    assert ended, f"the launch took more than {patience_s} s"
    assert run.code in (0, UNSUPPORTED), run.stderr
    for cell, result in run.results.items():
        assert result["status"] in ("ok", "unsupported"), (cell, result["status"], result["detail"])
        assert result["status"] == "ok" or result["detail"], cell
    has_cells = name not in OWN_CELLS or ranks <= MOST_ORIGINS + 1
    assert has_cells == any(status == "ok" for status in run.statuses.values()), run.results

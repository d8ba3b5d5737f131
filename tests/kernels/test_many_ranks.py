"""Every kernel on any number of ranks: all data are right, and unsupported cells give a reason.

ONESIDED_MANY_RANKS has the numbers (3,4,6,8,16,32); without it, one of these is tried. The ranks
are on this machine, or on the four nodes of a virtual cluster.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from cluster.clusters import started

from .conftest import KERNEL_NAMES, SLOW
from .launching import Environment, Run

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
CELL_S, LAUNCH_S = 30, 60
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
#: In these kernels a rank receives from MPI_ANY_SOURCE. Between nodes MPICH then waits forever,
#: unless it has this variable (docs/defects/mpich_ucx_any_source.md).
FROM_ANY_SOURCE = {"active_accumulate", "gather", "mutex", "remote_read"}
OFI = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
#: Nodes of the virtual cluster, and the kinds of PMI with which its Slurm starts ranks by itself.
NODES = 4
SRUN_MPI = {"mpich": "pmi2", "impi": "pmi2"}
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


@dataclass(frozen=True)
class OnNodes(Environment):
    """An MPI that puts equally many ranks on each node of the virtual cluster."""

    def launch_line(self, ranks: int) -> list[str]:
        where = ["--partition=network", f"--nodes={NODES}", f"--ntasks={ranks}", "--overcommit"]
        where += [f"--ntasks-per-node={-(-ranks // NODES)}"]
        kind = SRUN_MPI.get(self.document["family"])
        if kind:
            return ["srun", *where, f"--mpi={kind}", "--cpu-bind=none"]
        return ["salloc", *where, *super().launch_line(ranks)]


@pytest.fixture(scope="module")
def nodes():
    """The names of the nodes of a virtual cluster."""
    with started(NODES) as cluster:
        yield cluster.names


def assert_right(run: Run, ended: bool) -> None:
    """Check that a launch ended, and that each cell has right data or a reason for none."""
    assert ended, f"the launch took too long: {run.statuses}"
    assert run.code in (0, UNSUPPORTED), run.stderr
    for cell, result in run.results.items():
        assert result["status"] in ("ok", "unsupported"), (cell, result["status"], result["detail"])
        assert result["status"] == "ok" or result["detail"], cell


def launched(kernel, ranks: int, variables: dict[str, str] | None = None) -> Run:
    described = json.loads(kernel.alone("--describe").stdout)
    few, patience_s = few_of_all(described, ranks), LAUNCH_S * max(ranks, 8)
    run, ended = kernel.launch_within(patience_s, *few, ranks=ranks, variables=variables)
    assert_right(run, ended)
    has_cells = described["kernel"] not in OWN_CELLS or ranks <= MOST_ORIGINS + 1
    assert has_cells == any(status == "ok" for status in run.statuses.values()), run.results
    return run


@pytest.mark.parametrize("ranks", NUMBERS)
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_data_are_right_whatever_the_number_of_ranks(each, name, ranks):
    launched(each(name), ranks)


@pytest.mark.parametrize("ranks", NUMBERS)
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_data_are_right_on_several_nodes(each, name, ranks, nodes):
    kernel = each(name)
    on_nodes = OnNodes(kernel.environment.document)
    needs_ofi = on_nodes.document["family"] == "mpich" and name in FROM_ANY_SOURCE
    run = launched(replace(kernel, environment=on_nodes), ranks, OFI if needs_ofi else None)
    on_node = Counter(process["host"] for process in run.lines[0]["processes"])
    assert max(on_node.values()) == -(-ranks // NODES)
    assert [*on_node] == nodes[: len(on_node)]

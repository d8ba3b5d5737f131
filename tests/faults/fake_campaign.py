"""A checkout with made-up MPIs and kernels: its campaigns measure nothing and are quick.

Everything else is the project's own: ReFrame and its checks, launch scripts, Snakemake, analysis,
report. Ranks are processes that map a segment of shared memory, so that kills leave the same files
as kills of an MPI's ranks.
"""

import json
import random
import shutil
import sys
from pathlib import Path

import yaml
from fake_mpi import CHECKOUT, MPICH, put_mpi
from made_up import counter
from synthetic_lines import header, result

from onesided.campaign import grid
from onesided.environments import fingerprint

CONFIGURED = (
    "settings.yaml",
    "variables.yaml",
    "wheels.lock",
    "found_defects.yaml",
    "campaign_sizes.json",
)
"""Files of config/ that the fake checkout has unchanged."""
LINKED = ("src", "workflow", "profiles", "Snakefile", "results/published")
NAMES = ("fake-a", "fake-b")
KERNEL = "shared_counter"
BUILD = """#!/bin/sh
set -eu
[ ! -d "$2" ] || exit 0
rm -rf "$2.partial"
mkdir -p "$2.partial/bin"
for kernel in {kernels}; do ln -s "{program}" "$2.partial/bin/$kernel"; done
mv "$2.partial" "$2"
"""
LAUNCHES = """#!/bin/sh
while :; do
    case $1 in
    -n) ranks=$2; shift 2 ;;
    -bind-to) shift 2 ;;
    *) break ;;
    esac
done
export FAKE_SEGMENT="mpich_shm_${FAKE_TAG:-fake}_$$" FAKE_RANKS="$ranks"
rank=1 others=
while [ "$rank" -lt "$ranks" ]; do
    FAKE_RANK=$rank "$@" &
    rank=$((rank + 1)) others="$others $!"
done
FAKE_RANK=0 "$@"
status=$?
[ "$status" -eq 0 ] || kill -KILL $others 2>/dev/null
wait
exit $status
"""
AXES = {
    "algorithms": ("mpi2_array", "fetch_and_op_flush"),
    "compute_ms": (2,),
    "spreads": (0,),
}


def make_checkout(root):
    """Make the checkout in a folder; return the names of its two environments."""
    for name in LINKED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(CHECKOUT / name)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "reframe_checks", root / "reframe_checks", ignore=ignored)
    config = root / "config"
    config.mkdir()
    for name in CONFIGURED:
        shutil.copy(CHECKOUT / "config" / name, config)
    document = yaml.safe_load((CHECKOUT / "config/environments.yaml").read_text())
    document["containers"] = {}
    document["environments"] = {
        name: {"provider": "system", "compiler": str(put_mpi(root / name, launches=LAUNCHES))}
        for name in NAMES
    }
    (config / "environments.yaml").write_text(yaml.safe_dump(document))
    _make_kernels(root)
    return list(NAMES)


def _make_kernels(root):
    """Replace each kernel by the fake one, in the script that builds kernels."""
    lines = root / "lines.json"
    lines.write_text(json.dumps({"header": _header(), "results": _results()}))
    program = root / "fake_kernel.py"
    text = Path(__file__).with_name("fake_kernel.py").read_text()
    program.write_text(text.replace("PYTHON", sys.executable).replace("LINES", str(lines)))
    program.chmod(0o755)
    names = sorted({path.stem for path in (CHECKOUT / "src/kernels").glob("*/*")})
    script = BUILD.format(kernels=" ".join(names), program=program)
    (root / "reframe_checks/build_kernels.sh").write_text(script)


def _header():
    """Return the first line of a launch, as the checks of results expect it."""
    line = header(source_state=fingerprint.kernel_source_state(KERNEL, "MPI"))
    line["mpi"]["library_version"] = " ".join(MPICH.splitlines()[0].split())
    return line


def _results():
    """Return the result of each cell of the campaign, as from an MPI that waits."""
    found = {}
    for labels in counter.labels_of(**AXES):
        cell = grid.cell_id(labels)
        series = counter.series(labels, counter.waiting(), random.Random(1))
        lines = [{**vars(one), "dropped": 0} for one in series]
        found[cell] = {**result(cell), "labels": labels, "series": lines}
    return found

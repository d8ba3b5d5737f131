"""A result is old if its inputs have changed, but not if other inputs have."""

import shutil

import pytest

from onesided.campaign.slot import check_state
from onesided.environments import fingerprint, kernels
from onesided.system import paths


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A copy of all inputs of fingerprints; the project's root."""
    here = paths.project_root()
    for name in ("src", "reframe_checks"):
        shutil.copytree(here / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    return tmp_path


def add(path, text):
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as stream:
        stream.write(text)


def changed(before, after):
    return {name for name in before if before[name] != after[name]}


def kernel_states():
    return {name: fingerprint.kernel_source_state(name) for name in kernels.names()}


def check_states(site):
    checks = (paths.project_root() / "reframe_checks").glob("[a-z]*.py")
    return {path.stem: check_state(path.name, site) for path in checks}


def test_a_kernels_state_is_of_its_own_files_and_of_those_that_kernels_share(root):
    sources = root / "src" / "kernels"
    before = kernel_states()
    assert len(set(before.values())) == len(before) >= 4
    add(sources / "stfc" / "progress" / "place.c", "\n")
    assert changed(before, kernel_states()) == {"progress"}
    add(sources / "machine" / "another.c", "int main(void) { return 0; }\n")
    assert changed(before, kernel_states()) == {"progress"}
    assert fingerprint.kernel_source_state("another") not in before.values()
    for shared in ("rma/window.h", "harness/clock.c", "CMakeLists.txt"):
        add(sources / shared, "\n")
        now = kernel_states()
        assert changed(before, now) == set(before), shared
        before = now


def test_a_checks_state_is_of_its_own_file_of_what_checks_share_and_of_the_site(root):
    site = root / "reframe_checks" / "sites" / "laptop.py"
    before = check_states(site)
    checks = {path.stem for path in (root / "reframe_checks").glob("*.py")} - {"__init__"}
    assert {"progress", "baseline", "llnl"} <= checks
    assert before.keys() == checks
    add(root / "reframe_checks" / "baseline.py", "\n")
    assert changed(before, check_states(site)) == {"baseline"}
    add(root / "reframe_checks" / "another.py", "\n")
    add(root / "reframe_checks" / "sites" / "slurm_srun.py", "\n")
    assert changed(before, check_states(site)) == {"baseline"}
    shared = ("common/base.py", "plugins/grid.py", "launch.sh", "sites/laptop.py")
    for path in (*(root / "reframe_checks" / name for name in shared),
                 root / "src" / "onesided" / "environments" / "transport.py"):  # fmt: skip
        add(path, "\n")
        now = check_states(site)
        assert changed(before, now) == set(before), path
        before = now

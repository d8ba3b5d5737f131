"""Impossible requests are refused at once: one line, exit code 2, nothing installed or made."""

import json
import re
import shutil

import pytest

from onesided.campaign import campaign
from onesided.system import paths, writing
from onesided.system.errors import InputError

NOWHERE = "/proc/nowhere"
#: A cell of the kernel `conformance`, as far as a command can tell before the kernel is built.
CELL = "operation=put"

REFUSED = [
    (["progress", "nosuch-1.0"], ["'nosuch-1.0'", "--environment nosuch-1.0"]),
    (["progress", "--environment", "nosuch-1.0"], ["no nosuch-1.0", "mpich-5.0.2"]),
    (["progress", "--setting", "nosuch"], ["--setting", "'nosuch'", "default"]),
    (
        ["progress", "--environment", "mpich-5.0.2", "--setting", "osc_rdma"],
        ["osc_rdma", "a setting that mpich-5.0.2 has"],
    ),
    (["reproduce", "nosuch-1.0", CELL], ["no nosuch-1.0", "mpich-5.0.2"]),
    (["reproduce", "mpich-5.0.2", CELL, "--setting", "nosuch"], ["--setting", "'nosuch'"]),
    (["reproduce", "mpich-5.0.2", CELL, "--setting", "osc_rdma"], ["osc_rdma", "mpich-5.0.2"]),
    (["reproduce", "mpich-5.0.2", CELL, "--ranks", "0"], ["--ranks", "found 0", "1 or more"]),
    (["reproduce", "mpich-5.0.2", CELL, "--output", f"{NOWHERE}/x.c"], ["--output", NOWHERE]),
    (["environments", "nosuch-1.0"], ["no nosuch-1.0", "mpich-5.0.2"]),
    (["environments", "lock", "nosuch"], ["environments lock: NAME: found nosuch"]),
    (["session", "quick", "laptop:nosuch", "mpich-5.0.2", "1"], ["PARTITION", "laptop:node"]),
    (["session", "quick", "laptop:node", "nosuch-1.0", "1"], ["ENVIRONMENT", "mpich-5.0.2"]),
    (["session", "quick", "laptop:node", "mpich-5.0.2", "0"], ["ROUND", "found 0"]),
    (["compare", NOWHERE, NOWHERE, "--page", NOWHERE], ["--page", NOWHERE, "a folder to write"]),
    (["versions", NOWHERE, "--page", NOWHERE], ["--page", NOWHERE, "a folder to write to"]),
    (["advice", NOWHERE], [f"{NOWHERE}: found No such file or directory"]),
    (["container", "build", "nosuch"], ["container build: found 'nosuch'"]),
    (["container", "compare", NOWHERE, NOWHERE], [NOWHERE, "an image"]),
    (["spack", "machine", "--name", "../x"], ["spack machine: --name"]),
    (["new", "9x"], ["new: NAME: found 9x"]),
]


@pytest.fixture
def nothing_there(tmp_path, monkeypatch):
    """Remove all environments, kernels and results; return their folders."""
    folders = {name: tmp_path / name.lower() for name in ("ONESIDED_BUILD", "ONESIDED_RESULTS")}
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(folder))
    return list(folders.values())


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=lambda one: " ".join(one)[:60])
def test_a_name_or_folder_that_cannot_be_is_refused_before_any_work(
    nothing_there, called, words, said
):
    answer = called(*words)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("onesided: ")
    assert not line.startswith("onesided: onesided"), "the command's name stands there once"
    for word in said:
        assert word in line
    assert not any(folder.exists() for folder in nothing_there)


def test_run_without_a_campaign_lists_them_with_their_times_and_starts_none(nothing_there, called):
    answer = called("run")
    assert answer.returncode == 2
    names = [line.split()[0] for line in answer.stdout.splitlines()]
    folder = paths.config_dir() / "campaigns"
    assert names == sorted(path.stem for path in folder.glob("*.yaml"))
    (line,) = answer.stderr.splitlines()
    assert line == "onesided: run: CAMPAIGN: found none; expected a name of this list, or a file"
    quick = next(line for line in answer.stdout.splitlines() if line.startswith("quick "))
    assert re.search(r"6 rounds of 3 MPIs, and further ones in the first [\d.]+ min", quick)
    assert not any(folder.exists() for folder in nothing_there)


def test_the_time_of_a_campaign_is_what_it_took_here_where_it_ran(campaign_that_ran):
    loaded = campaign.load(str(campaign_that_ran))
    record = json.loads((loaded.results / "campaign.json").read_text())
    assert campaign.time_of(loaded) == f"took {record['timing']['wall_s'] / 60:.1f} min here"
    shutil.rmtree(loaded.results)
    assert campaign.time_of(loaded) == "1 round of 1 MPI; never run here"


def test_a_folder_that_can_be_written_to_is_left_as_it_is(tmp_path):
    writing.demand_folder("--page", tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("kept")
    with pytest.raises(InputError, match=f"--page: found {file} "):
        writing.demand_folder("--page", file)
    assert file.read_text() == "kept"

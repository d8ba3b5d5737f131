"""Launcher and ranks inside, a container a rank, a host's MPI in an image: one path for all."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.timeout(3600)  # builds images

MPICH = "mpich-5.0.2"
MODELS = ("native", "contained", "hybrid-shared", "bind")


def names_of(base):
    return {model: base if model == "native" else f"{base}-{model}" for model in MODELS}


def campaign(person, name, environments, **changes):
    """Run a campaign of a few launches; return its results folder."""
    document = {
        "schema": "onesided/campaign/1",
        "description": "a test",
        "site": "laptop",
        "partitions": ["laptop:node"],
        "environments": list(environments),
        "rounds": 1,
        "select": {"tags": ["smoke"]},
        "settings": ["default"],
        "launch_timeout_s": 60,
        **changes,
    }
    path = person.folder / f"{name}.yaml"
    person.do("tee", path, cwd="/", timeout=10) if not path.exists() else None
    path.write_text(yaml.safe_dump(document))
    person.do("onesided", "run", path)
    return person.checkout / "results" / name


def headers(results, environment):
    lines = sorted(Path(results, "sessions", environment).rglob("lines.jsonl"))
    assert lines
    return [json.loads(path.read_text().partition("\n")[0]) for path in lines]


@pytest.fixture(scope="module")
def beside_native(person, images):
    images("mpich")
    return campaign(person, "models", names_of(MPICH).values())


def test_every_cell_is_there_natively_and_by_each_launch_model(beside_native):
    cells = pl.read_parquet(beside_native / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    found = {
        (environment, model): number
        for environment, model, number in cells.group_by("environment", "launch_model")
        .len()
        .iter_rows()
    }
    names = names_of(MPICH).items()
    assert set(found) == {(name, model.removesuffix("-shared")) for model, name in names}
    assert len(set(found.values())) == 1


def test_the_header_says_what_the_ranks_share(beside_native):
    for model, name in names_of(MPICH).items():
        for header in headers(beside_native, name):
            assert header["launch_model"] == model.removesuffix("-shared")
            assert header["ranks"] == 2
            assert header["namespaces"]["user"] == 1
            assert header["process_vm_readv"] is True
            assert bool(header["container"]) == (model != "native")


def test_ranks_in_namespaces_of_their_own_are_one_world_that_may_not_look_into_each_other(
    person, images
):
    images("mpich")
    folder = person.new_folder("own")
    # only short messages: MPICH fails with long messages there
    person.do(
        "python", "-c",
        "import sys; from onesided.environments import kernels, provision; "
        "held = provision.provide('mpich-5.0.2-hybrid'); "
        "options = ['--output', 'lines.jsonl', '--ranks', '2']; "
        "line = kernels.launch_line(held, 'progress', options); "
        "sys.exit(kernels.launch(line, kernels.variables(held), 60, quiet=True))",
        cwd=folder,
    )  # fmt: skip
    lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text().splitlines()]
    assert lines[-1]["type"] == "finished"
    assert {line["status"] for line in lines if line["type"] == "result"} == {"ok"}
    assert lines[0]["ranks"] == 2
    assert lines[0]["namespaces"]["user"] == 2
    assert lines[0]["process_vm_readv"] is False


def test_the_report_shows_each_launch_model_beside_the_native_one(beside_native):
    page = (beside_native / "report" / "index.html").read_text()
    for name in names_of(MPICH).values():
        assert name in page
    assert "What a container costs" in page


MIXED = """
import json, subprocess, sys
from pathlib import Path
from onesided.environments import provision, kernels
from onesided.environments import fingerprint
from onesided.system import paths
from onesided.campaign import records, outcomes

held, other = (provision.provide(name) for name in sys.argv[1:])
mixed = {**held, "launcher": other["launcher"], "variables": other["variables"]}
grid = ["--case", "target_idle", "--compute_ms", "0.5"]
options = ["--missing", "--output", "lines.jsonl", "--ranks", "2", *grid]
script = paths.project_root() / "reframe_checks" / "launch.sh"
subprocess.run(
    ["sh", script, "lines.jsonl", "launches.jsonl", "60",
     *kernels.launch_line(mixed, "shared_counter", options)],
    env=kernels.variables(mixed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
)
launch = records.read_launch("lines.jsonl", "launches.jsonl")
state = fingerprint.kernel_source_state("shared_counter")
expected = outcomes.Expectation.of(held, 2, "unbound", state)
outcomes = outcomes.of_cells(launch, {"a cell": {}, "another": {}}, expected)
print(json.dumps({
    "verdicts": sorted({(one.status, one.detail) for one in outcomes.values()}),
    "timed_out": [attempt["timed_out"] for attempt in launch.attempts],
}))
"""


def test_a_launcher_of_another_mpi_ends_in_one_clear_verdict(person, images):
    images("mpich")
    folder = person.new_folder("mixed")
    said = person.do("python", "-c", MIXED, "mpich-5.0.2-hybrid", "openmpi-5.0.11", cwd=folder)
    found = json.loads(said.splitlines()[-1])
    [[status, detail]] = found["verdicts"]
    assert status == "unavailable"
    assert "MPI_Init_thread" in detail
    assert "is it the launcher of this MPI?" in detail
    assert found["timed_out"] == [False]


@pytest.fixture(scope="module")
def abi(person, images):
    images("abi")
    names = ["mpich-5.0.2-abi", "impi-2021.18.1-abi"]
    return campaign(person, "abi", names, select={"tags": ["smoke"]}), names


def test_one_binary_counts_right_under_both_mpis(abi):
    results, names = abi
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert set(cells["environment"]) == set(names)
    found = {name: headers(results, name) for name in names}
    for kernel in {header["kernel"] for header in found[names[0]]}:
        programs = {
            header["program_sha256"]
            for name in names
            for header in found[name]
            if header["kernel"] == kernel
        }
        assert len(programs) == 1
    for name, family in zip(names, ("MPICH", "Intel"), strict=True):
        for header in found[name]:
            assert header["mpi"]["abi"] == "1.0"
            assert header["mpi"]["library_path"].startswith("/opt/onesided/mpi/lib/libmpi_abi")
            assert family in header["mpi"]["library_version"]

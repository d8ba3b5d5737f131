"""Launcher and ranks inside, a container a rank, a host's MPI in an image: one path for all."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import yaml

MPICH = "mpich-5.0.2"
MODELS = ("native", "contained", "hybrid", "bind")


def names_of(base):
    return {model: base if model == "native" else f"{base}-{model}" for model in MODELS}


def campaign(person, name, environments, **changes):
    """Run a campaign of a few launches; return its folder of results."""
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
    """Return the header of every launch of an environment."""
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
    assert set(found) == {(name, model) for model, name in names_of(MPICH).items()}
    assert len(set(found.values())) == 1


def test_the_header_says_what_the_ranks_share(beside_native):
    names = names_of(MPICH)
    for model in MODELS:
        for header in headers(beside_native, names[model]):
            assert header["launch_model"] == model
            assert header["ranks"] == 2
            own = 2 if model in ("hybrid", "bind") else 1
            assert header["namespaces"]["user"] == own
            assert header["namespaces"]["ipc"] == 1
            assert bool(header["container"]) == (model != "native")
    # a container a rank: neither may read the other's memory
    native, hybrid = (headers(beside_native, names[model])[0] for model in ("native", "hybrid"))
    assert (native["process_vm_readv"], hybrid["process_vm_readv"]) == (True, False)


def test_the_report_shows_each_launch_model_beside_the_native_one(beside_native):
    page = (beside_native / "report" / "index.html").read_text()
    for name in names_of(MPICH).values():
        assert name in page
    assert "What a container costs" in page


def test_a_launcher_of_another_mpi_ends_in_one_clear_verdict(person, images):
    images("mpich")
    # config of its own: the container is MPICH's, the launcher Open MPI's
    wanted = "mpich-5.0.2-hybrid"
    script = (
        "import json, sys; from onesided import containers, environments, kernels, records, "
        "fingerprint; from pathlib import Path; "
        f"held, other = environments.provide('{wanted}'), environments.provide('openmpi-5.0.11'); "
        "mixed = {**held, 'launcher': other['launcher'], 'variables': other['variables']}; "
        "lines = Path('mixed.jsonl').resolve(); "
        "line = kernels.launch_line(mixed, 'shared_counter', "
        "['--output', str(lines), '--ranks', '2']); "
        "status = kernels.launch(line, kernels.variables(mixed), 60, quiet=True); "
        "launch = records.read_launch(lines, 'none'); "
        "expected = records.Expectation.of(held, 2, 'unbound', fingerprint.kernel_source_state()); "
        "print(json.dumps(sorted({(o.status, o.detail) for o in "
        "records.outcomes(launch, {'a': {}, 'b': {}}, expected).values()})))"
    )
    folder = person.new_folder("mixed")
    [[status, detail]] = json.loads(
        person.do("python", "-c", script, cwd=folder).strip().splitlines()[-1]
    )
    assert status == "unavailable"
    assert "1 rank" in detail and "expected 2" in detail


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

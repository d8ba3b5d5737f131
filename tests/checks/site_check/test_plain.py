"""`onesided site check` with a configuration of ReFrame that has no part of this project."""

import shutil

import pytest

from onesided.sites import site_check

from .conftest import HERE, faults

PLAIN = """
site_configuration = {{
    "systems": [{{
        "name": "box", "descr": "", "hostnames": [{hostnames!r}],
        "modules_system": {modules_system!r},
        "partitions": [{partition!r}],
    }}],
    "environments": {environments!r},
}}
"""
GNU = {"name": "PrgEnv-gnu", "cc": "mpicc", "modules": ["gnu"]}


@pytest.fixture
def plain_file(tmp_path):
    """Return a function that writes a configuration without any part of this project."""

    def write(*environments, hostnames=HERE, modules_system="nomod", **changes):
        partition = {
            "name": "compute",
            "scheduler": "local",
            "launcher": "mpirun",
            "environs": [one["name"] for one in environments],
            "features": ["cpu", "netwrok", "scale_16_nodes"],
            "extras": {"mem_per_node": 16, "nodes": 4},
            **changes,
        }
        path = tmp_path / f"plain{len(list(tmp_path.glob('plain*.py')))}.py"
        path.write_text(
            PLAIN.format(
                hostnames=hostnames,
                modules_system=modules_system,
                partition=partition,
                environments=list(environments),
            )
        )
        return path

    return write


def test_a_plain_configuration_may_have_foreign_features_extras_environments(plain_file, program):
    program("mpicc")
    program("mpirun")
    found = site_check.check(plain_file({"name": "PrgEnv-gnu", "cc": "mpicc"}))
    assert found.faults == []
    assert found.notes == []
    own = "environments of the site's own: PrgEnv-gnu"
    assert found.partitions == [f"box:compute: local, mpirun; {own}"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"extras": {"ranks_per_node": 0}}, ["extras.ranks_per_node", "a whole number from 1"]),
        ({"extras": {"ranks": "many"}}, ["extras.ranks", "many"]),
        ({"launcher": "mpirunn"}, ["launcher", "no such launcher"]),
        ({"scheduler": "slrm"}, ["scheduler", "no such scheduler"]),
        ({"environs": ["PrgEnv-cray"]}, ["environs: found PrgEnv-cray", "defines for box:compute"]),
        ({"prepare_cmds": ["false"]}, ["prepare_cmds.0: found false", "exit status 1"]),
        ({"modules": ["gnu"]}, ["modules.0: found gnu", "no module"]),
        ({}, ["environments.PrgEnv-gnu.cc: found mpicc", "a compiler that is on PATH"]),
        ({}, ["launcher: found mpirun", "in the environment PrgEnv-gnu that is on PATH"]),
    ],
)
def test_what_reframe_cannot_do_with_a_plain_configuration_is_a_line(
    plain_file, program, monkeypatch, tmp_path, changes, words
):
    bash = shutil.which("bash")
    (tmp_path / "bin/bash").symlink_to(bash)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    lines = faults(plain_file({"name": "PrgEnv-gnu", "cc": "mpicc"}, **changes))
    assert any(all(word in line for word in words) for line in lines), lines


def test_an_environment_is_the_one_that_the_file_defines_for_the_partitions_system(
    plain_file, program
):
    program("mpicc")
    program("mpirun")
    of_another = {**GNU, "prepare_cmds": ["false"], "target_systems": ["another"]}
    own = {"name": "PrgEnv-gnu", "cc": "mpicc", "target_systems": ["box:compute"]}
    for order in ([own, of_another], [of_another, own]):
        assert faults(plain_file(*order, environs=["PrgEnv-gnu"])) == []


def test_a_launcher_without_ranks_is_a_note_because_a_login_partition_is_none_of_ours(
    plain_file, program
):
    program("mpicc")
    found = site_check.check(plain_file({"name": "gnu", "cc": "mpicc"}, launcher="local"))
    assert found.faults == []
    (note,) = found.notes
    assert "launcher: found local; expected a launcher that starts ranks" in note


def test_a_compiler_that_a_module_brings_is_found_and_a_missing_module_is_one_fault(
    plain_file, modules, tmp_path
):
    (tmp_path / "gnu").mkdir()
    for name in ("mpicc-of-gnu", "mpirun"):
        (tmp_path / "gnu" / name).write_text("#!/bin/sh\n")
        (tmp_path / "gnu" / name).chmod(0o755)
    environment = {**GNU, "cc": "mpicc-of-gnu"}
    wanted = {"modules_system": "envmod", "prepare_cmds": modules}
    (line,) = faults(plain_file(environment, **wanted))
    assert "environments.PrgEnv-gnu.modules.0: found gnu" in line
    (tmp_path / "modulefiles/gnu").write_text(f"#%Module\nprepend-path PATH {tmp_path}/gnu\n")
    assert faults(plain_file(environment, **wanted)) == []

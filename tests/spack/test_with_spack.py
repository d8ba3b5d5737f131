"""What a real Spack makes of the recipe and the default environment."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from onesided.environments import fingerprint
from onesided.environments.providers import spack
from onesided.system.paths import project_root

pytestmark = pytest.mark.timeout(3600)  # Spack installs

ROOT = project_root()
MPI = "mpich-5.0.2"
LEVELS = ["single", "funneled", "serialized", "multiple"]
TIMEOUT_S = 900
TOOLS = ("cmake", "ninja", "gmake")


def spack_command():
    """Return Spack's command as the provider finds it, or skip without Spack."""
    found = spack.find()
    if found is None:
        pytest.skip(f"no Spack in {spack.where_it_was_looked_for()}: the recipe was only read")
    return str(found)


def tool_externals():
    """Return this machine's tools as externals, so that Spack builds none of them."""
    packages = {}
    for tool in TOOLS:
        path = shutil.which(tool)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"\d+\.\d+(\.\d+)?", said)[0]
            external = {"spec": f"{tool}@{version}", "prefix": str(Path(path).parents[1])}
            packages[tool] = {"buildable": False, "externals": [external]}
    return packages


class Project:
    """A copy of the project's files for Spack, with a machine file of one MPI."""

    def __init__(self, folder, prefix):
        self.folder = folder
        self.spack = spack_command()
        shutil.copy(ROOT / "spack.yaml", folder)
        hidden = shutil.ignore_patterns(".spack-env", "spack.lock", "__pycache__")
        shutil.copytree(ROOT / "spack", folder / "spack", ignore=hidden)
        shutil.copytree(ROOT / "src" / "kernels", folder / "src" / "kernels")
        family, version = MPI.split("-")
        external = {"spec": f"{family}@{version}", "prefix": prefix}
        self.write("local", {
            "config": {"install_tree": {"root": str(folder / "installed")}},
            "packages": {**tool_externals(),
                         family: {"buildable": False, "externals": [external]}},
            # two colons: instead of the portable values
            "definitions:": [{"mpis": [f"{family}@{version}"]}],
        })  # fmt: skip
        self.write("local.lean", {
            "concretizer": {"static_analysis": True},
            "packages": {name: {"buildable": False} for name in self.not_needed(family)},
        })  # fmt: skip

    def write(self, name, document):
        path = self.folder / "spack" / "machines" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(document), "utf-8")

    def not_needed(self, family):
        """Return the packages that are needed only to build the MPI."""
        answer = subprocess.run(
            [self.spack, "dependencies", family], capture_output=True, text=True, check=True
        )
        needed = {"c", "cxx", "fortran", "gcc", "mpi", "compiler-wrapper", *TOOLS}
        return sorted(set(answer.stdout.split()) - needed)

    def run(self, *arguments):
        return subprocess.run(
            [self.spack, "-e", self.folder, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def kernel(self, level, name="baseline"):
        view = self.folder / "build" / "spack" / "view" / "onesided-kernels" / MPI
        return view / level / "bin" / name


@pytest.fixture(scope="module")
def project(ready_environment, tmp_path_factory):
    spack_command()
    prefix = ready_environment(MPI)["prefix"]
    return Project(tmp_path_factory.mktemp("project"), prefix)


@pytest.fixture(scope="module")
def installed(project):
    for step in ("concretize", "install"):
        answer = project.run(step)
        assert answer.returncode == 0, (answer.stdout + answer.stderr)[-4000:]
    return project


def test_spack_finds_no_fault_in_the_recipe(project):
    answer = project.run("audit", "packages", "onesided-kernels")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "onesided" in project.run("repo", "list").stdout


def test_the_environment_is_the_one_mpi_at_every_thread_level(installed, ready_environment):
    lock = json.loads((installed.folder / "spack.lock").read_text("utf-8"))
    roots = {root["hash"] for root in lock["roots"]}
    levels = []
    for digest, spec in lock["concrete_specs"].items():
        if digest in roots:
            levels.append(spec["parameters"]["threads"])
            (mpi,) = [each for each in spec["dependencies"] if each["name"] == "mpich"]
            external = lock["concrete_specs"][mpi["hash"]]["external"]
            assert external["path"] == ready_environment(MPI)["prefix"]
    assert sorted(levels) == sorted(LEVELS)


@pytest.mark.parametrize("level", LEVELS)
def test_a_binary_is_bound_to_its_mpi_and_asks_for_its_level(
    installed, ready_environment, level, tmp_path
):
    environment = ready_environment(MPI)
    library = str(Path(environment["prefix"]) / "lib")
    answer = subprocess.run(
        ["readelf", "-d", installed.kernel(level)], capture_output=True, text=True, check=True
    )
    assert library in re.search(r"\(RPATH\).*\[(.*)\]", answer.stdout)[1].split(":")
    assert "RUNPATH" not in answer.stdout
    output = tmp_path / "lines.jsonl"
    launcher = [environment["launcher"]["path"], "-n", "2"]
    options = ["--baseline", "timer", "--samples", "1", "--output", output]
    subprocess.run([*launcher, installed.kernel(level), *options], check=True, timeout=TIMEOUT_S)
    header = json.loads(output.read_text("utf-8").splitlines()[0])
    assert header["thread_level"]["required"] == level
    assert header["mpi"]["library_path"].startswith(library)
    assert header["source_state"] == fingerprint.kernel_source_state("baseline")


def test_every_stand_alone_test_passes(installed):
    answer = installed.run("test", "run", "onesided-kernels")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"{len(LEVELS)} passed of {len(LEVELS)} specs" in answer.stdout


def test_the_build_leaves_nothing_among_the_sources(installed):
    def files(folder):
        return sorted(path.relative_to(folder) for path in folder.rglob("*"))

    sources = installed.folder / "src" / "kernels"
    assert files(sources) == files(ROOT / "src" / "kernels")

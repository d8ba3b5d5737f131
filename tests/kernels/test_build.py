"""The build of the kernels: every MPI, source state, thread level, units, a kernel of the docs."""

from __future__ import annotations

import functools
import graphlib
import re
import shutil
import subprocess

import pytest

from onesided.environments import fingerprint, kernels, libraries
from onesided.system.paths import project_root

from .conftest import ENVIRONMENTS, FEW, HERE, KERNEL_NAMES, ONE_KERNEL, OPENSHMEM, SLOW
from .launching import KERNELS, Environment, Kernel, build, tool

pytestmark = pytest.mark.beside
QUICK = ("--baseline", "timer", "--samples", "1")


@pytest.fixture(scope="module")
def one_environment(ready_environment):
    return Environment(ready_environment(ENVIRONMENTS[0]))


@pytest.fixture(scope="module")
def copied(one_environment, tmp_path_factory):
    """Build a kernel from a copy of the sources, which a test may change; return the folder."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copytree(KERNELS, folder / "src" / "kernels")
    # no test asks for its speed
    options = ["-DONESIDED_THREAD_LEVEL=multiple", "-DCMAKE_BUILD_TYPE=Debug"]
    sources = folder / "src" / "kernels"
    build(one_environment, folder / "build", sources, options, targets=["baseline"])
    return folder


@pytest.fixture
def documented(kernel_of_tests, tmp_path):
    text = (project_root() / "docs" / "add-an-experiment.md").read_text("utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    source = tmp_path / "get_latency.c"
    source.write_text(example, "utf-8")
    return kernel_of_tests(source)


@functools.cache
def symbols_of(path):
    """Return the symbols that an object file defines, and the symbols that it needs."""
    answer = subprocess.run(["nm", "-g", path], check=True, capture_output=True, text=True)
    rows = [line.split()[-2:] for line in answer.stdout.splitlines()]
    taken = {name for kind, name in rows if kind == "U"}
    return {name for kind, name in rows if kind != "U"}, taken


#: Every kernel with the first MPI. With other MPIs, the kernels that `make test` launches, which
#: are built while no other test measures.
BUILT = [
    *((mpi, ()) if mpi == ENVIRONMENTS[0] else (mpi, FEW) for mpi in ENVIRONMENTS),
    (OPENSHMEM, (ONE_KERNEL,)),
    *(pytest.param(mpi, (), marks=SLOW) for mpi in ENVIRONMENTS[1:]),
]


@pytest.mark.parametrize(("mpi", "few"), BUILT)
def test_every_mpi_builds_every_kernel(ready_environment, built, mpi, few):
    folder = built(Environment(ready_environment(mpi)), wanted=few)
    assert [name for name in few or KERNEL_NAMES if not (folder / name).is_file()] == []


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_no_object_file_needs_one_that_needs_it(one_environment, built, kernel):
    """Each file of harness, rma and a kernel can be read after the files that it calls."""
    prefix = built(one_environment).parent
    compiled = prefix.with_name(f"{prefix.name}.work")
    objects = {
        path: symbols_of(path)
        for target in ("harness", kernel)
        for path in (compiled / "CMakeFiles" / f"{target}.dir").rglob("*.o")
    }
    owner = {name: path for path, (given, _) in objects.items() for name in given}
    needs = {
        path: {owner[name] for name in taken if name in owner} - {path}
        for path, (_, taken) in objects.items()
    }
    assert len(needs) > 30
    assert sum(map(len, needs.values())) > 60
    order = tuple(graphlib.TopologicalSorter(needs).static_order())
    assert len(order) == len(objects)


@pytest.mark.first_mpi
def test_no_object_file_of_a_room_needs_one_of_a_room_above(environment, sanitized_folder):
    """Except the functions of harness/world.h: each library has its own."""
    rooms = libraries.COMMON[environment.library]
    folder = sanitized_folder / "CMakeFiles" / "harness.dir"
    floors, takes = {}, []
    for source in (KERNELS / room for room in rooms):
        for path in source.glob("*.c"):
            given, taken = symbols_of(folder / source.name / f"{path.name}.o")
            floors |= dict.fromkeys(given, rooms.index(source.name))
            takes += [(path, rooms.index(source.name), name) for name in taken]
    assert len(floors) > 200
    up = [(path.name, name) for path, floor, name in takes if floors.get(name, 0) > floor]
    assert {name.partition("_")[0] for _, name in up} == {"world"}


def header_of(environment, folder_of, folder):
    return Kernel(environment, folder_of / "baseline", folder, {}).launch(*QUICK).lines[0]


@pytest.mark.slow
def test_a_build_after_a_change_tells_another_source_state(
    one_environment, copied, tmp_path, monkeypatch
):
    before = header_of(one_environment, copied / "build", tmp_path)["source_state"]
    assert before == fingerprint.kernel_source_state("baseline")
    changed = copied / "src" / "kernels" / "harness" / "software.h"
    changed.write_text(changed.read_text("utf-8") + "/* changed */\n", "utf-8")
    again = [tool("cmake"), "--build", copied / "build", "--target", "baseline"]
    subprocess.run(again, check=True, capture_output=True)
    after = header_of(one_environment, copied / "build", tmp_path)["source_state"]
    monkeypatch.setenv("ONESIDED_ROOT", str(copied))
    assert after == fingerprint.kernel_source_state("baseline") != before


def test_the_source_state_is_that_of_sha256sum():
    """The command in docs/kernels.md, for readers without CMake and Python."""
    documentation = (KERNELS.parents[1] / "docs" / "kernels.md").read_text("utf-8")
    command = documentation.split("cd src/kernels\n")[1].split("```")[0]
    answer = subprocess.run(
        ["sh", "-c", command], cwd=KERNELS, check=True, capture_output=True, text=True
    )
    assert answer.stdout.strip() == fingerprint.kernel_source_state("shared_counter")


@pytest.mark.first_mpi
def test_the_thread_level_of_the_build_is_the_default_and_the_option_wins(documented):
    default = documented.launch().lines[0]
    asked = documented.launch("--thread-level", "funneled").lines[0]
    assert default["thread_level"]["required"] == "multiple"
    assert asked["thread_level"]["required"] == "funneled"


def test_a_thread_level_that_there_is_not_stops_the_build(one_environment, tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as fault:
        build(one_environment, tmp_path / "build", options=["-DONESIDED_THREAD_LEVEL=many"])
    assert b"ONESIDED_THREAD_LEVEL: found many, expected one of single," in fault.value.stderr


@pytest.mark.first_mpi
@pytest.mark.parametrize("units", ["harness_units", "machine_units"])
def test_the_units_of_the_harness(
    environment, sanitized_folder, sanitizer_options, tmp_path, units
):
    program = tmp_path / units
    subprocess.run(
        [
            *(environment.document["compilers"]["c"], "-std=c11", "-D_GNU_SOURCE", "-Wall"),
            *("-Wextra", "-Werror", "-fsanitize=address,undefined", "-I", KERNELS),
            *(HERE / f"{units}.c", sanitized_folder / "libharness.a"),
            *("-lm", "-ldl", "-lpthread", "-o", program),
        ],
        env=environment.variables(),
        check=True,
    )
    run = subprocess.run(
        [program, tmp_path / "lines.jsonl"],
        env=environment.variables() | sanitizer_options,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.first_mpi
def test_a_kernel_of_the_documentation_is_one_file(documented):
    run = documented.launch()
    assert run.code == 0, run.stderr
    assert set(run.statuses.values()) == {"ok"}
    assert documented.launch(fault="alter any 1 1 0").code == 3


@pytest.mark.slow
def test_a_build_makes_what_is_wanted_and_leaves_what_is_there(one_environment, tmp_path):
    """A later build keeps compiled files, unless they are from other sources."""
    prefix = tmp_path / "prefix"

    def build_some(*names):
        line = kernels.build_command(one_environment.document, prefix, names)
        variables = kernels.variables(one_environment.document)
        subprocess.run(line, env=variables, check=True, capture_output=True)
        return {path.name: path.stat().st_ino for path in (prefix / "bin").iterdir()}

    first = build_some("baseline")
    assert set(first) == {"baseline"}
    second = build_some("baseline", "operators")
    assert set(second) == {"baseline", "operators"}
    assert second["baseline"] == first["baseline"]
    assert {path.name for path in tmp_path.iterdir()} == {"prefix", "prefix.lock", "prefix.work"}
    assert header_of(one_environment, prefix / "bin", tmp_path)["kernel"] == "baseline"
    cache, sources = tmp_path / "prefix.work" / "CMakeCache.txt", str(kernels.sources())
    cache.write_text(cache.read_text("utf-8").replace(sources, str(tmp_path)), "utf-8")
    assert set(build_some("eager_limit")) == {"baseline", "operators", "eager_limit"}


def test_kernels_may_be_chosen_by_name(monkeypatch):
    monkeypatch.delenv(kernels.CHOICE_VARIABLE, raising=False)
    assert kernels.chosen(libraries.MPI) == KERNEL_NAMES
    monkeypatch.setenv(kernels.CHOICE_VARIABLE, "progress,baseline")
    assert kernels.chosen(libraries.MPI) == ["baseline", "progress"]
    assert kernels.chosen(libraries.OPENSHMEM) == []

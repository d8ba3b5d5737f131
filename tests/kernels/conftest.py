"""Kernels built once for each MPI, with and without sanitizers; which tests run with which MPIs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import quiet
import yaml

from onesided.environments import kernels, libraries
from onesided.system.paths import build_dir, config_dir

from .launching import Environment, Kernel, Run, build, build_alone, copy_common, preloaded

#: A library that ends the program at the library's start.
NO_MPI = """
#include <unistd.h>
int MPI_Init_thread(int *c, char ***v, int r, int *p)
{ (void)c; (void)v; (void)r; (void)p; _exit(99); }
int shmem_init_thread(int r, int *p) { (void)r; (void)p; _exit(99); }
"""
KERNEL_NAMES = kernels.names()
KERNELS_OF_OPENSHMEM = kernels.names(libraries.OPENSHMEM)
SANITIZERS = "address,undefined"
#: Open MPI's OpenSHMEM puts symmetric memory at the sanitizer's addresses and crashes at its end.
#: This crash is no finding of the sanitizer.
SANITIZED_OPENSHMEM = {"OMPI_MCA_sshmem_base_start_address": str(0x200000000000)}
NO_SIGNALS = ":handle_segv=0:handle_sigbus=0"
HERE = Path(__file__).parent
ENVIRONMENTS = yaml.safe_load((config_dir() / "campaigns" / "quick.yaml").read_text("utf-8"))[
    "environments"
]
#: The OpenSHMEM that builds and launches its kernels.
OPENSHMEM = "openshmem-debian"
SLOW, FIRST_MPI = pytest.mark.slow, pytest.mark.first_mpi
#: Numbers of ranks. Three ranks on two cores take seconds, and `make test` has a launch for each
#: kernel.
TWO_AND_THREE = (2, pytest.param(3, marks=SLOW))
#: Faults of the faulty library, whatever the MPI. In `make test`, test_contract_faults.py tries all
#: of them with each kernel.
FAULTS = (
    pytest.param("lose", marks=FIRST_MPI),
    *(pytest.param(fault, marks=(FIRST_MPI, SLOW)) for fault in ("stale", "alter")),
)
#: Tests of all kernels leave out these kernels (fixture `calls`), because a library cannot spoil
#: every operation that they verify. Their own tests say which faults are found: in processors and
#: clocks, in a list or a mutex for which ranks wait, in puts that overlap.
IN_OWN_TESTS = {"baseline", "linked_list", "mutex", "put_ordering", "remote_read"}
#: This kernel shows what the harness does for every kernel.
ONE_KERNEL = "shared_counter"
#: Marks of tests that need not pass with every pair of kernel and MPI.
SHOWN_BY_ONE = {"first_mpi", "one_kernel", "one_kernel_elsewhere"}
#: The kernels in the campaigns of tests.
OF_CAMPAIGNS = (ONE_KERNEL, "progress")
#: The kernels that `make test` launches with an MPI other than the first. They are built first; all
#: kernels are built if a test needs another kernel.
FEW = (*OF_CAMPAIGNS, "some_to_some")
#: The same for kernels with sanitizers: the contract of the first ones, own tests of the others.
#: `make test-all` has all other kernels with sanitizers.
FEW_SANITIZED = (*OF_CAMPAIGNS, "conformance", "origin_threads")
#: Kernels with long default cells: `make test` has their own tests, but not their contract.
LONG = {"distant_messages", "halo"}
#: Of kernels with one description, the first shows under the other MPIs what all do;
#: test_patterns.py and test_exchanges.py have all of them.
ALIKE = {"right_shift", "naive_broadcast", "tree_broadcast", "all_to_all"}
ALIKE |= {"swapped_all_to_all", "some_to_some", "alltoall_algorithms"}


def parameters_of(item: pytest.Item) -> dict:
    return item.callspec.params if hasattr(item, "callspec") else {}


def is_left_out(item: pytest.Item) -> bool:
    """Return whether the first MPI alone, or one kernel, shows the claim.

    A kept test is marked `slow` if `make test` has the same claim with the first MPI or the one
    kernel.
    """
    marks = {mark.name for mark in item.iter_markers()}
    if not marks & SHOWN_BY_ONE:
        return is_anothers_turn(item)
    parameters = parameters_of(item)
    pair = parameters.get("kernel") or parameters.get("sanitized")
    kernel, mpi = pair or (None, parameters.get("environment"))
    if "calls" in item.fixturenames and kernel in IN_OWN_TESTS:
        return True
    is_elsewhere = mpi not in (None, ENVIRONMENTS[0], OPENSHMEM)
    is_another = kernel != ONE_KERNEL
    if is_elsewhere:
        item.add_marker(SLOW)
    if "one_kernel" in marks:
        return is_another
    return is_elsewhere and (is_another or "first_mpi" in marks)


def meets(name: str, mpi: str) -> bool:
    """Return whether a test runs with an MPI: each runs with the first and with one other."""
    others = ENVIRONMENTS[1:]
    return mpi not in others or mpi == others[zlib.crc32(name.encode()) % len(others)]


def is_anothers_turn(item: pytest.Item) -> bool:
    """Return whether a kernel's own test runs with another MPI than this one.

    Tests marked `every_mpi` run with all MPIs.
    """
    mpi = parameters_of(item).get("environment")
    if mpi is None or item.get_closest_marker("every_mpi"):
        return False
    return not meets(item.nodeid.replace(mpi, ""), mpi)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Launch kernels alone: two ranks spin on two cores."""
    launched = [item for item in items if not item.get_closest_marker("beside")]
    quiet.mark(launched, HERE, pytest.mark.measures)
    left_out = {item for item in items if HERE in item.path.parents and is_left_out(item)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


@pytest.fixture(
    scope="session",
    params=[ENVIRONMENTS[0], *(pytest.param(one, marks=SLOW) for one in ENVIRONMENTS[1:])],
)
def environment(request, ready_environment) -> Environment:
    """An MPI: in `make test` the first one; there, every kernel's contract has the others."""
    return Environment(ready_environment(request.param))


@pytest.fixture(scope="session")
def built(once) -> Callable[..., Path]:
    """Return a function that builds an environment's kernels once and returns their folder.

    The function builds the named kernels, or all. Without sanitizers, the kernels are those of
    campaigns. With sanitizers, the folder stays, too, so that the next run of tests builds only
    what has changed.
    """
    builds = build_dir() / "tests"

    def folder_of(
        environment: Environment, sanitizers: str = "", wanted: Sequence[str] = ()
    ) -> Path:
        name = "-".join([environment.name, *filter(None, sanitizers.split(","))])
        folder = builds / name if sanitizers else kernels.prefix_of(environment.document) / "bin"

        def update(_: Path) -> None:
            if not sanitizers:
                kernels.build(environment.document, wanted)
                return
            builds.mkdir(parents=True, exist_ok=True)
            options = [f"-DONESIDED_SANITIZE={sanitizers}"]
            with quiet.one_at_a_time(builds / f"{name}.lock"):
                build(environment, folder, options=options, targets=wanted)

        once("-".join(["built", name, *wanted]), update)
        return folder

    return folder_of


@pytest.fixture(scope="session")
def sanitized_folder(environment, built) -> Path:
    return built(environment, SANITIZERS, built_with(environment.name, SANITIZERS, ONE_KERNEL))


def built_with(mpi: str, sanitizers: str, name: str) -> Sequence[str]:
    """Return the kernels that are built together with a kernel; None stands for all.

    Most tests of the first MPI need all kernels. Tests of other MPIs and with sanitizers need a few
    kernels, or one.
    """
    if mpi == ENVIRONMENTS[0] and not sanitizers:
        return ()
    few = FEW_SANITIZED if sanitizers else FEW
    known = KERNELS_OF_OPENSHMEM if mpi == OPENSHMEM else KERNEL_NAMES
    return tuple(one for one in few if one in known) if name in few else (name,)


@pytest.fixture(scope="session")
def sanitizer_options() -> dict[str, str]:
    """Report leaks of the kernels only: MPI libraries keep memory until their end.

    The libraries on a leak's stack decide whether the leak is left out, so stacks must be whole.
    The fast unwinder stops at libraries without frame pointers. A faulty library may come before
    the sanitizer's library.
    """
    return {
        "ASAN_OPTIONS": "detect_leaks=1:fast_unwind_on_malloc=0:verify_asan_link_order=0",
        "LSAN_OPTIONS": f"suppressions={HERE / 'leaks_of_mpi.supp'}:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@pytest.fixture(scope="session")
def kernel_of(ready_environment, built, sanitizer_options, tmp_path_factory) -> Callable:
    """Return a function that gives a kernel under an MPI, with or without sanitizers."""

    def found(name: str, mpi: str = ENVIRONMENTS[0], sanitizers: str = "") -> Kernel:
        environment = Environment(ready_environment(mpi))
        variables = sanitizer_options if sanitizers else {}
        if sanitizers and environment.library == libraries.OPENSHMEM:
            options = sanitizer_options["ASAN_OPTIONS"] + NO_SIGNALS
            variables = {**variables, **SANITIZED_OPENSHMEM, "ASAN_OPTIONS": options}
        folder = tmp_path_factory.mktemp(f"{name}-{mpi}")
        folder_of = built(environment, sanitizers, built_with(mpi, sanitizers, name))
        return Kernel(environment, folder_of / name, folder, variables)

    return found


@pytest.fixture(scope="session")
def each(environment, kernel_of) -> Callable:
    """Return the same for each MPI in turn: `make test` has the first one, CI has all."""

    def found(name: str, sanitizers: str = "") -> Kernel:
        return kernel_of(name, environment.name, sanitizers)

    return found


@pytest.fixture
def kernel_of_tests(environment, once, tmp_path) -> Callable:
    """Return a function that builds a one-file kernel once, from this folder or another.

    All such kernels of an MPI are built in one folder, for the thread level `multiple`.
    """
    folder = once(f"kernels-of-tests-{environment.name}", copy_common)

    def found(source: str | Path) -> Kernel:
        path = HERE / source

        def update(_: Path) -> None:
            with quiet.one_at_a_time(folder / "lock"):
                build_alone(environment, path, folder)

        once(f"built-{path.name}-{environment.name}", update)
        return Kernel(environment, folder / "build" / Path(source).stem, tmp_path, {})

    return found


@pytest.fixture(scope="session")
def shared_counter(each) -> Kernel:
    return each("shared_counter")


@pytest.fixture(scope="session")
def sanitized_counter(each) -> Kernel:
    return each("shared_counter", SANITIZERS)


@pytest.fixture(scope="session")
def progress(each) -> Kernel:
    return each("progress")


@pytest.fixture(scope="session")
def sanitized_progress(each) -> Kernel:
    return each("progress", SANITIZERS)


def pairs(*marks: pytest.MarkDecorator) -> list:
    """Return every kernel with the MPIs it runs with, and OpenSHMEM's kernels, as parameters.

    The kernel that shows what the harness does runs with every MPI. In `make test` the others run
    with the first MPI.

    Args:
        marks: for all MPIs but the first.
    """

    def marks_of(name: str, mpi: str) -> Sequence[pytest.MarkDecorator]:
        if name == ONE_KERNEL:
            return () if mpi == ENVIRONMENTS[0] else marks
        return (SLOW,) if mpi != ENVIRONMENTS[0] or name in ALIKE | LONG else ()

    return [
        pytest.param((name, mpi), id=f"{name}-{mpi}", marks=marks_of(name, mpi))
        for mpi in (*ENVIRONMENTS, OPENSHMEM)
        for name in (KERNELS_OF_OPENSHMEM if mpi == OPENSHMEM else KERNEL_NAMES)
        if name == ONE_KERNEL or mpi == OPENSHMEM or meets(name, mpi)
        if name not in ALIKE or mpi == ENVIRONMENTS[0]
    ]


def sanitized_pairs() -> list:
    """Return the same for kernels with sanitizers: in `make test`, a few under the first MPI."""
    found = pairs(SLOW)
    others = [one for one in found if one.values[0][0] not in OF_CAMPAIGNS and not one.marks]
    return [one._replace(marks=(SLOW,)) if one in others else one for one in found]


@pytest.fixture(scope="session", params=pairs())
def kernel(request, kernel_of) -> Kernel:
    """Each kernel, with the MPIs it runs with."""
    return kernel_of(*request.param)


@pytest.fixture(scope="session")
def whole(kernel) -> Run:
    return kernel.launch()


@pytest.fixture(scope="session")
def no_mpi(tmp_path_factory) -> dict[str, str]:
    return preloaded(NO_MPI, tmp_path_factory.mktemp("no-mpi"))


@pytest.fixture(scope="session")
def without_mpi(kernel, no_mpi) -> Callable:
    """Return a function that runs the kernel without a launcher, where MPI cannot start."""
    return lambda *options: kernel.alone(*options, variables=no_mpi)


@pytest.fixture(scope="session")
def default_cells(without_mpi) -> list[str]:
    return without_mpi("--list-cells").stdout.splitlines()


@pytest.fixture(scope="session", params=sanitized_pairs())
def sanitized(request, kernel_of) -> Kernel:
    return kernel_of(*request.param, SANITIZERS)


@pytest.fixture(scope="session")
def sanitized_whole(sanitized) -> Run:
    """One launch with sanitizers; the outcomes of its cells are kept beside the kernel."""
    run = sanitized.launch()
    _statuses_file(sanitized).write_text(json.dumps(run.statuses), "utf-8")
    return run


def _statuses_file(kernel: Kernel) -> Path:
    return kernel.executable.with_name(f"{kernel.executable.name}.statuses.json")


@pytest.fixture(scope="session")
def sanitized_statuses(request, sanitized) -> dict[str, str]:
    """Return the statuses of the cells of this launch, or of an earlier one of this kernel."""
    kept, made = _statuses_file(sanitized), sanitized.executable.stat().st_mtime
    if not kept.exists() or kept.stat().st_mtime < made:
        request.getfixturevalue("sanitized_whole")
    return json.loads(kept.read_text("utf-8"))

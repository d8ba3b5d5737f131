"""OpenSHMEM as an environment: found like an MPI, and only its own checks run with it."""

import shutil

import pytest
import yaml
from fake_mpi import CHECKOUT, LAUNCHES, MPICH, put_mpi

from onesided.campaign import declared
from onesided.environments import declarations, kernels, libraries, provision, settings
from onesided.environments.spack_machine import find

DEBIAN = "openshmem-debian"
OPEN_MPI = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"
OPENSHMEM = {
    "text": OPEN_MPI,
    "names": ("oshcc", "oshrun"),
    "standard_version": "1.4",
}
#: A launcher whose ranks do everything requested, and crash at their end.
CRASHES = f"{LAUNCHES}exit 139\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that puts an OpenSHMEM into a folder and declares it."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    (tmp_path / "config").mkdir()
    for name in ("environments.yaml", "wheels.lock", "settings.yaml", "variables.yaml"):
        shutil.copy(CHECKOUT / "config" / name, tmp_path / "config")
    document = yaml.safe_load((CHECKOUT / "config/environments.yaml").read_text())

    def put(entry=None, **found):
        wrapper = put_mpi(tmp_path / "opt", **{**OPENSHMEM, **found})
        entry = entry or {"family": "openshmem", "compiler": str(wrapper)}
        document["environments"]["mine"] = {"provider": "system", **entry}
        path = tmp_path / "config" / "environments.yaml"
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        return provision.provide("mine")

    put.root = tmp_path / "opt"
    return put


def test_it_is_described_with_the_standard_that_its_library_is_of(site):
    document = site()
    assert (document["status"], document["reason"]) == ("ready", None)
    assert (document["library"], document["standard_version"]) == ("OpenSHMEM", "1.4")
    assert (document["family"], document["version"]) == ("openshmem", "4.1.4")
    assert document["teardown"] is None
    assert provision.read("mine") == document


def test_its_launcher_is_the_one_beside_the_wrapper_with_the_same_suffix(site):
    wrapper = put_mpi(site.root, suffix=".other", **OPENSHMEM)
    document = site({"family": "openshmem", "compiler": str(wrapper)})
    assert document["status"] == "ready"
    (site.root / "bin" / "oshrun.other").unlink()
    reason = provision.provide("mine")["reason"]
    assert reason.startswith("found no oshrun.other beside ")


def test_a_prefix_is_asked_for_its_oshcc(site):
    document = site({"family": "openshmem", "prefix": str(site.root)})
    assert document["compilers"] == {"c": str(site.root / "bin" / "oshcc")}


def test_a_crash_in_its_end_is_noted_and_makes_it_no_less_ready(site):
    document = site(launches=CRASHES)
    assert (document["status"], document["reason"]) == ("ready", None)
    assert document["teardown"] == "shmem_finalize did not return: oshrun exited 139"


def test_a_crash_of_an_mpi_at_its_end_makes_it_unavailable(site):
    wrapper = put_mpi(site.root, launches=CRASHES)
    document = site({"compiler": str(wrapper)}, text=MPICH)
    assert (document["status"], document["library"]) == ("unavailable", "MPI")
    assert "mpiexec exited 139" in document["reason"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"errors": 3}, "a put lost 3 elements"),
        ({"ranks": 1}, "oshrun made worlds of 1, not of 2"),
        ({"text": "Sandia OpenSHMEM"}, "an OpenSHMEM unknown here: 'Sandia OpenSHMEM'"),
    ],
)
def test_what_does_not_work_is_unavailable_also_where_its_end_crashes(site, found, words):
    document = site(launches=CRASHES, **found)
    assert document["status"] == "unavailable"
    assert words in document["reason"]


def test_a_machine_without_it_says_which_program_is_missing(site, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = provision.provide(DEBIAN)["reason"]
    assert reason == "found no program oshcc on PATH"


def test_an_mpi_is_never_taken_for_the_openshmem_that_is_part_of_it(site):
    wrapper = put_mpi(site.root, text=OPEN_MPI)
    document = site({"compiler": str(wrapper)})
    assert (document["family"], document["library"]) == ("openmpi", "MPI")
    assert find.specs_of_families()["openmpi"] == "openmpi@{version}"


def test_it_has_one_setting(site):
    document = site()
    values = {name: settings.value(name, "openshmem", "4.1.4") for name in settings.names()}
    assert [name for name, value in values.items() if not value.unavailable] == ["default"]
    assert kernels.variables(document)["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_no_campaign_of_an_mpi_has_it():
    for name in ("quick", "full", "debian", "smoke", "settings"):
        text = (CHECKOUT / "config" / "campaigns" / f"{name}.yaml").read_text()
        names = yaml.safe_load(text)["environments"]
        assert {declarations.declared()[one].library for one in names} == {libraries.MPI}


# ---- Which tests are its own ----


TESTS = [
    {"test": "of MPI", "valid_prog_environs": ["+mpi"]},
    {"test": "of OpenSHMEM", "valid_prog_environs": ["+openshmem"]},
    {"test": "of both", "valid_prog_environs": ["+mpi", "+openshmem"]},
    {"test": "of any", "valid_prog_environs": ["*"]},
    {"test": "with threads", "valid_prog_environs": ["+openshmem +thread_multiple"]},
    {"test": "of one", "valid_prog_environs": ["mpich-5_0_2"]},
    {"test": "of none", "valid_prog_environs": ["-mpi -openshmem"]},
]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            {"name": "mpich-5.0.2", "library": "MPI", "features": ["thread_multiple"]},
            {"of MPI", "of both", "of any", "of one"},
        ),
        (
            {"name": DEBIAN, "library": "OpenSHMEM", "features": []},
            {"of OpenSHMEM", "of both", "of any"},
        ),
        (
            {"name": DEBIAN, "library": "OpenSHMEM", "features": ["thread_multiple"]},
            {"of OpenSHMEM", "of both", "of any", "with threads"},
        ),
    ],
)
def test_an_environment_has_the_tests_that_reframe_would_run_with_it(document, expected):
    assert {test["test"] for test in declared.tests_for(TESTS, document)} == expected


# ---- Which sources are whose ----


@pytest.fixture
def sources(tmp_path):
    """Kernels of two studies: one has two kernels for each library, the other has one for both."""
    for name in (
        "CMakeLists.txt",
        "harness/run.c",
        "mpi/world.c",
        "openshmem/world.c",
        "rma/window.c",
        "stfc/counter/counter.c",
        "stfc/counter/algorithms.c",
        "stfc/counter_shmem.c",
        "stfc/shared/tasks.c",
        "luecke/shift.c",
        "luecke/shared/pattern.c",
        "luecke/shared/pattern_mpi.c",
        "luecke/shared/pattern_shmem.h",
        "luecke/shared/pattern_shmem.c",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def sources_of(root, kernel, library):
    own = libraries.kernels(root, library)[kernel].relative_to(root)
    names = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {name.as_posix() for name in names if libraries.is_source_of(name, own, library)}


def test_each_library_has_its_kernels(sources):
    assert list(libraries.kernels(sources, "MPI")) == ["counter", "shift"]
    assert list(libraries.kernels(sources, "OpenSHMEM")) == ["counter", "shift"]
    (sources / "luecke" / "shared" / "pattern_shmem.c").unlink()
    assert list(libraries.kernels(sources, "OpenSHMEM")) == ["counter"]


def test_a_kernels_sources_are_those_of_its_library(sources):
    of_both = {"CMakeLists.txt", "harness/run.c"}
    of_mpi = of_both | {"mpi/world.c", "rma/window.c"}
    of_openshmem = of_both | {"openshmem/world.c"}
    shift = {"luecke/shift.c", "luecke/shared/pattern.c"}
    assert sources_of(sources, "shift", "MPI") == (of_mpi | shift | {"luecke/shared/pattern_mpi.c"})
    assert sources_of(sources, "shift", "OpenSHMEM") == (
        of_openshmem | shift | {"luecke/shared/pattern_shmem.c", "luecke/shared/pattern_shmem.h"}
    )
    assert sources_of(sources, "counter", "MPI") == of_mpi | {
        "stfc/counter/counter.c",
        "stfc/counter/algorithms.c",
        "stfc/shared/tasks.c",
    }
    assert sources_of(sources, "counter", "OpenSHMEM") == of_openshmem | {
        "stfc/counter_shmem.c",
        "stfc/shared/tasks.c",
    }

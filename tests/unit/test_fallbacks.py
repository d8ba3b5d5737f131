"""The variables that a version of an MPI needs to start are found in its folder and by trying."""

import pytest
from fake_mpi import LAUNCHES, NAME

from onesided.environments import kernels, probe, provision

DECLARED = (
    {"FI_PROVIDER_PATH": "{folder of lib*-fi.so}"},
    {"FI_PROVIDER_PATH": "{folder of lib*-fi.so}", "FI_PROVIDER": "tcp"},
    {"UCX_MODULE_DIR": "{folder of libuct_*.so}"},
)


@pytest.fixture
def providers(tmp_path):
    folder = tmp_path / "lib/libfabric/prov"
    folder.mkdir(parents=True)
    (folder / "libtcp-fi.so").touch()
    return folder


def test_nothing_is_tried_first_then_what_the_mpi_has_in_its_folder(providers, tmp_path):
    found = {"FI_PROVIDER_PATH": str(providers)}
    assert list(probe.attempts(DECLARED, tmp_path)) == [
        {},
        found,
        found | {"FI_PROVIDER": "tcp"},
    ]


def test_without_such_files_there_is_nothing_to_try(tmp_path):
    assert list(probe.attempts(DECLARED, tmp_path)) == [{}]


NEEDY = [
    {"FI_PROVIDER_PATH": "{folder of mpicc}"},
    {"FI_PROVIDER_PATH": "{folder of mpicc}", "FI_PROVIDER": "tcp"},
]


@pytest.fixture
def provided(unpacked):
    """Return a function that provides a made-up MPI, which starts if a shell test succeeds."""

    def provide(condition):
        starts = LAUNCHES.replace(
            "while", f"[ {condition} ] || {{ echo no provider; exit 3; }}\nwhile"
        )
        unpacked.document["families"]["mpich"]["fallbacks"] = NEEDY
        unpacked.declare(launcher=starts)
        return provision.provide(NAME)

    return provide


def test_an_mpi_that_starts_by_itself_gets_no_variable(provided):
    assert provided("1 = 1")["variables"] == {}


def test_an_mpi_gets_the_first_variables_with_which_it_starts(provided):
    document = provided('"${FI_PROVIDER-}" = tcp')
    folder = document["prefix"] + "/bin"
    assert (document["status"], document["reason"]) == ("ready", None)
    assert document["variables"] == {"FI_PROVIDER_PATH": folder, "FI_PROVIDER": "tcp"}
    # they are part of the environment: every launch has them
    variables = kernels.variables(document)
    assert (variables["FI_PROVIDER_PATH"], variables["FI_PROVIDER"]) == (folder, "tcp")


def test_an_mpi_that_starts_with_none_is_unavailable_for_what_it_said_first(provided):
    document = provided("1 = 2")
    assert document["reason"] == "mpiexec exited 3: no provider"
    assert document["variables"] == {}

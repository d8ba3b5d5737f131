"""Each MPI's own debug report, asked live: every window's transport, under several settings."""

import subprocess
from pathlib import Path

import pytest

from onesided.environments import kernels, settings, transport

pytestmark = [pytest.mark.slow, pytest.mark.every_mpi]

SCRIPT = Path(__file__).parents[2] / "reframe_checks" / "transport_report.sh"
MPICH, OPENMPI, OPENMPI_4, IMPI = "mpich-5.0.2", "openmpi-5.0.11", "openmpi-4.1.8", "impi-2021.18.1"


@pytest.fixture
def found(environment, tmp_path):
    """Return a function that gives the transport of a flavor's window under a setting."""
    document = environment.document
    prefix = kernels.build(document, [transport.REPORT_KERNEL])

    def ask(setting, flavor):
        value = settings.value(setting, document["family"], document["version"])
        assert value.unavailable is None
        options = [
            word
            for name, chosen in transport.REPORT_OPTIONS.items()
            for word in (f"--{name}", chosen)
        ]
        subprocess.run(
            ["sh", SCRIPT, tmp_path / setting, "60", "in_turn", flavor, *environment.launch_line(2),
             prefix / "bin" / transport.REPORT_KERNEL, *options],
            cwd=tmp_path,
            env=environment.variables()
            | value.variables
            | transport.REPORT_VARIABLES[document["family"]],
            check=True,
        )  # fmt: skip
        report = (tmp_path / f"transport-{flavor}.txt").read_text("utf-8", "replace")
        assert report.endswith("exit status 0\n"), report[-500:]
        return value, transport.read(report, document["family"]).document()

    return ask


@pytest.mark.parametrize(
    ("environment", "flavor", "told"),
    [
        (MPICH, "create", {"netmod": "shm,ucx", "shm": True}),
        (OPENMPI, "create", {"osc": "rdma", "netmod": "ob1", "provider": "sm", "shm": True}),
        (OPENMPI, "allocate", {"osc": "sm", "netmod": "ob1", "shm": True}),
        (OPENMPI_4, "allocate", {"osc": "rdma", "provider": "vader", "shm": True}),
        (OPENMPI_4, "shared", {"osc": "sm", "shm": True}),
        (IMPI, "create", {"netmod": "shm", "shm": True}),
    ],
    indirect=["environment"],
)
def test_the_transport_is_told_as_the_mpi_comes(found, flavor, told):
    _, told_here = found("default", flavor)
    assert transport.differences(told, told_here) == ([], [])


@pytest.mark.parametrize(
    ("environment", "setting", "flavor"),
    [
        (MPICH, "tcp", "allocate"),
        (MPICH, "ofi", "create"),
        (MPICH, "ucx", "create"),
        (OPENMPI, "tcp", "allocate"),
        (OPENMPI, "osc_rdma", "allocate"),
        (OPENMPI, "osc_ucx", "create"),
        (OPENMPI_4, "tcp", "create"),
        (OPENMPI_4, "osc_pt2pt", "create"),
        (OPENMPI_4, "osc_sm", "allocate"),
        (IMPI, "tcp", "create"),
        (IMPI, "fabrics_shm_ofi", "create"),
    ],
    indirect=["environment"],
)
def test_a_setting_is_proven_by_the_report(found, setting, flavor):
    value, told = found(setting, flavor)
    assert value.transport
    assert transport.differences(value.transport, told) == ([], [])
    # the report distinguishes it from the default setting
    assert transport.differences(value.transport, found("default", flavor)[1])[0]


@pytest.mark.parametrize("environment", [OPENMPI], indirect=True)
def test_a_transport_by_name_leaves_open_mpis_allocated_window_in_shared_memory(found):
    value, told = found("btl_tcp", "allocate")
    differ, _ = transport.differences(value.transport, told)
    assert differ == ["no shared memory asked for, shared memory found"]
    value, told = found("btl_tcp", "create")
    assert transport.differences(value.transport, told) == ([], [])

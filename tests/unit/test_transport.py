"""What a library's debug report says about the transport, and what not; the reports are real."""

from pathlib import Path

import pytest

from onesided.environments import transport

REPORTS = Path(__file__).parents[1] / "data" / "transport_reports"

#: MPI, setting and flavor of a report, then its facts: osc, netmod, provider, shm.
TOLD = {
    "mpich-5.0.2.default.create": (None, "shm,ucx", "cma,posix,sysv", True),
    "mpich-5.0.2.ucx.create": (None, "ucx", "cma,posix,sysv", True),
    "mpich-5.0.2.tcp.create": (None, "ucx", "tcp", False),
    "mpich-5.0.2.ofi.allocate": (None, "ofi", "sockets", False),
    "openmpi-5.0.11.default.create": ("rdma", "ob1", "sm", True),
    "openmpi-5.0.11.default.allocate": ("sm", "ob1", None, True),
    "openmpi-5.0.11.btl_tcp.create": ("rdma", "ob1", "tcp", False),
    "openmpi-5.0.11.btl_tcp.allocate": ("sm", "ob1", None, True),
    "openmpi-5.0.11.osc_ucx.allocate": ("ucx", "ucx", "posix,sysv", True),
    # no component takes a shared window here, and the report names none
    "openmpi-5.0.11.tcp.shared": (None, "ob1", None, None),
    "openmpi-4.1.8.default.create": ("rdma", "ob1", "vader", True),
    "openmpi-4.1.8.default.shared": ("sm", "ob1", None, True),
    "openmpi-4.1.8.tcp.create": ("pt2pt", "ob1", "tcp", False),
    "openmpi-4.1.8.osc_sm.allocate": ("sm", "ob1", None, True),
    "openmpi-4.1.8.osc_ucx.create": ("ucx", "ucx", "posix,sysv", True),
    "impi-2021.18.1.default.create": (None, "shm", None, True),
    "impi-2021.18.1.tcp.create": (None, "ofi", "tcp", False),
    # a shared window without the fabric shm: the report does not say how it is reached
    "impi-2021.18.1.ofi.shared": (None, "ofi", "tcp", None),
    "impi-2021.18.1.fabrics_shm_ofi.allocate": (None, "shm,ofi", "tcp", True),
    # ended by its time-out; the report until then counts
    "impi-2021.18.1.async_thread.create": (None, "shm", None, True),
}


def report(name):
    return (REPORTS / f"{name}.txt").read_text("utf-8")


def family(name):
    return name.partition("-")[0]


@pytest.mark.parametrize("name", TOLD)
def test_a_report_tells_the_path(name):
    assert transport.read(report(name), family(name)) == transport.Transport(*TOLD[name])


def test_every_kept_report_is_held_against_its_path():
    assert {path.stem for path in REPORTS.iterdir()} == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_a_report_that_is_not_there_tells_nothing(name):
    for text in ("", "exit status 124\n"):
        assert transport.read(text, family(name)) == transport.Transport()


def test_a_family_without_a_reader_has_no_path():
    assert transport.read(report("mpich-5.0.2.tcp.create"), "other") == transport.Transport()


@pytest.mark.parametrize("name", TOLD)
def test_a_report_that_is_cut_tells_the_same_or_less(name):
    whole = transport.read(report(name), family(name)).document()
    lines = report(name).splitlines(keepends=True)
    for kept in range(len(lines)):
        cut = transport.read("".join(lines[:kept]), family(name)).document()
        for part, value in cut.items():
            if value is not None and part != "provider":
                assert value == whole[part], (kept, part)


def test_ranks_whose_windows_differ_leave_the_component_unknown():
    text = report("openmpi-5.0.11.default.create")
    last = text.rindex("select: component rdma selected")
    other = text[:last] + text[last:].replace("rdma selected", "sm selected", 1)
    assert transport.read(other, "openmpi").osc is None


def test_the_component_of_messages_is_not_taken_for_the_windows():
    text = report("openmpi-5.0.11.btl_tcp.allocate")
    without = "".join(
        line for line in text.splitlines(keepends=True) if "component sm selected" not in line
    )
    assert transport.read(without, "openmpi") == transport.Transport(None, "ob1", None, None)


def test_shared_memory_of_mpich_is_told_for_ranks_of_one_host_alone():
    text = report("mpich-5.0.2.default.create")
    apart = text.replace('"rank":1,"host":"node"', '"rank":1,"host":"other"')
    assert transport.read(apart, "mpich").netmod is None
    assert transport.read(apart, "mpich").shm is None
    cliques = text.replace("CVAR: ", "CVAR: MPIR_CVAR_NUM_CLIQUES = 2\nCVAR: ", 1)
    assert transport.read(cliques, "mpich").shm is None
    unlisted = "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith("CVAR")
    )
    assert transport.read(unlisted, "mpich").netmod is None


def test_what_differs_and_what_is_not_known_are_told_apart():
    found = {"osc": "sm", "netmod": "ob1", "provider": None, "shm": True}
    assert transport.differences({"osc": "sm", "shm": True}, found) == ([], [])
    differ, unknown = transport.differences({"provider": "tcp", "shm": False}, found)
    assert differ == ["no shared memory asked for, shared memory found"]
    assert unknown == ["provider"]
    assert transport.differences({"osc": "rdma"}, {}) == ([], ["osc"])


def test_a_provider_counts_below_a_utility_provider_too():
    assert transport.differences({"provider": "tcp"}, {"provider": "tcp;ofi_rxm"}) == ([], [])
    differ, _ = transport.differences({"provider": "tcp"}, {"provider": "tcp,sysv"})
    assert differ == ["provider tcp asked for, provider tcp+sysv found"]


def test_a_path_in_a_few_words():
    found = transport.Transport("rdma", "ob1", "tcp", False).document()
    assert transport.short(found) == "osc rdma, netmod ob1, provider tcp, no shared memory"
    assert transport.short(transport.Transport().document()) is None

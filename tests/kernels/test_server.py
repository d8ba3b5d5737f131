"""The server of active messages: each request has its answer, and the answers are counted."""

from __future__ import annotations

import pytest

from .asserting import samples, verified

ELEMENTS = (0, 1, 1024, 1025, 65536)
REQUESTS = 10
MULTIPLE = "--thread-level=multiple"


@pytest.fixture
def answers(kernel_of_tests):
    return kernel_of_tests("answers.c")


def labels_of(result):
    return result["labels"]["where"], result["labels"]["elements"]


@pytest.mark.slow
@pytest.mark.every_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_every_request_is_answered_and_counted(answers, ranks):
    run = answers.launch(MULTIPLE, f"--requests={REQUESTS}", ranks=ranks)
    assert run.code == 0, run.stderr
    assert len(run.results) == 2 * len(ELEMENTS)
    for result in run.results.values():
        where, elements = labels_of(result)
        # a rank's own thread asks, too; twice, because a rank serves again after its release
        asked = 2 * REQUESTS * (ranks if where == "thread" else ranks - 1)
        found = verified(result)
        assert found["elements"] == (asked * (elements + 1), 0)
        assert found["answered"] == (1, 0)
        assert sum(samples(result, "answered")[0 if where == "thread" else ranks - 1]) == asked


@pytest.mark.slow
@pytest.mark.parametrize("environment", ["mpich-5.0.2"], indirect=True)
def test_a_server_is_released_however_little_or_slowly_it_answers(answers):
    few = "--elements=0,1025"
    idle = answers.launch(MULTIPLE, few, "--requests=0")
    assert idle.code == 0, idle.stderr
    assert {verified(result)["answered"] for result in idle.results.values()} == {(1, 0)}
    slow = answers.launch(MULTIPLE, few, "--requests=2", "--slow-ms=20")
    assert slow.code == 0, slow.stderr
    assert all(verified(result)["elements"][1] == 0 for result in slow.results.values())
    # the request differs from the requested one
    wrong = answers.launch(MULTIPLE, few, "--wrong-request=5")
    assert [result["status"] for result in wrong.results.values()] == ["ok", "wrong_data"] * 2
    without = answers.launch("--thread-level=single", few)
    statuses = [(one["status"], one["detail"]) for one in without.results.values()]
    provided = without.lines[0]["thread_level"]["provided"]
    detail = f"a server thread needs MPI_THREAD_MULTIPLE: asked for single, provided {provided}"
    assert statuses == [("unsupported", detail)] * 2 + [("ok", None)] * 2

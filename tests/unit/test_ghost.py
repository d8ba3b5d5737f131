"""A ghost process in the answer: it needs another rank, and a core for this rank."""

from onesided.report.material import Cell
from onesided.studies.stfc.progress.answer import helps
from onesided.studies.stfc.progress.cells import computing, first_group


def cell(state, ranks, setting="default", verdict="with help", oversubscribed=False):
    """Return a cell of one MPI."""
    labels = {
        "operation": "put",
        "flavor": "allocate",
        "synchronisation": "lock_exclusive",
        "data": "contiguous",
        "size_bytes": "8",
        "target_state": state,
        "probe_interval_us": "100",
    }
    return Cell(
        {
            "environment": "one",
            "system": "here",
            "partition": "node",
            "placement": "unbound",
            "labels": labels,
            "verdict": verdict,
            "detail": None,
            "thread_level": "single",
            "ranks": ranks,
            "setting": setting,
            "oversubscribed": oversubscribed,
        }
    )


WAITS = cell("computes", 2, verdict="waits")
GHOST = cell("ghost_process", 3)


def test_a_ghost_process_stands_beside_the_cells_that_have_a_rank_less():
    other = cell("computes", 3, verdict="independent")
    group = first_group([WAITS, other, cell("ghost_process", 3)])
    assert computing(group) == [WAITS]
    (way,) = helps(group, ["one"])
    assert (way.key, way.words) == ("ghost_process", {"one": "with help"})


def test_a_ghost_that_was_declared_first_is_no_place_of_its_own():
    group = first_group([cell("ghost_process", 3), WAITS])
    assert computing(group) == [WAITS]
    assert [way.key for way in helps(group, ["one"])] == ["ghost_process"]


def test_ghosts_alone_speak_for_themselves():
    assert first_group([GHOST, GHOST]) == [GHOST, GHOST]


def test_a_ghost_of_another_setting_is_no_answer():
    group = first_group([WAITS, cell("ghost_process", 3, setting="tcp")])
    assert helps(group, ["one"]) == []


def test_a_ghost_without_a_core_of_its_own_is_left_out_of_the_answer():
    group = first_group([WAITS, cell("ghost_process", 3, oversubscribed=True)])
    assert helps(group, ["one"]) == []

"""The answer at the top of the report uses only cells that can decide."""

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
from made_up import counter
from shown import materials

from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.studies.stfc.shared_counter.answer import (
    WRITTEN,
    _worst_sentences,
    answer_row,
    heard,
    ways,
)
from onesided.studies.stfc.ways import reading

SEVERAL_ANSWERS = WRITTEN.say("several_answers")
KEY = ("atomic and flush", "allocate")


def cell(spread_percent, verdict, case="target_computes"):
    labels = {
        "algorithm": "fetch_and_op_flush",
        "flavor": "allocate",
        "case": case,
        "compute_ms": "10",
        "spread_percent": spread_percent,
    }
    entry = {"environment": "one", "verdict": verdict, "detail": None, "labels": labels}
    place = dict.fromkeys(("system", "partition", "setting", "ranks", "placement", "test"))
    return Cell({**entry, **place, "cell": spread_percent, "thread_level": "single"})


def word_of(*cells):
    material = SimpleNamespace(cells=cells, measure=lambda cell, metric, statistic=None: None)
    return ways(heard(material, [KEY]))[0].words["one"]


def test_cells_with_random_compute_speak_for_those_whose_ranks_fall_into_step():
    assert word_of(cell("0", "partial"), cell("50", "independent")) == "independent"


def test_fixed_compute_speaks_where_there_is_no_random_one():
    assert word_of(cell("0", "waits"), cell("0", "waits")) == "waits"


def test_cells_with_random_compute_that_disagree_are_mixed():
    assert word_of(cell("50", "waits"), cell("50", "independent")) == "mixed"


def test_a_failure_is_the_answer_wherever_it_was():
    assert word_of(cell("0", "independent"), cell("50", "wrong data")) == "wrong data"
    assert word_of(cell("0", "wrong data"), cell("50", "independent")) == "wrong data"


def test_a_cell_with_random_compute_that_is_undecided_leaves_the_answer_open():
    assert word_of(cell("0", "waits"), cell("50", "undecided")) == "undecided"


LONGEST_COMPUTE_S = 22e-3
"""The campaign asks for at most 15 ms, with a spread of 50 %."""


def samples_of(cells):
    """Return both ranks' computes: the target's begin at 5 ms, the other rank's at 1 ms."""
    rows = [
        {"environment": "one", "cell": cell.cell, "metric": "compute", "rank": rank, "value": value}
        for cell in cells
        for rank, value in ((0, 5e-3), (0, LONGEST_COMPUTE_S), (1, 1e-3))
    ]
    return pl.DataFrame(rows)


def times_of(cells):
    """Return the row of an answer in which accesses with a wider spread take longer."""
    times = {"0": 3e-3, "20": 9e-3, "50": 16e-3, "80": 40e-3}

    def measure(one, metric, statistic=None):
        idle = one.labels["case"] == "target_idle"
        value = 20e-6 if idle else times[one.labels["spread_percent"]]
        return Measure(value if metric == "access_mean" else value / 20e-6, 1.0, 2.0, 0.9, "", 6)

    material = SimpleNamespace(cells=cells, measure=measure, samples=samples_of(cells))
    return answer_row(material, "one", heard(material, [KEY]))


def test_the_longest_wait_is_a_time_beside_an_idle_one_and_beside_the_computes_that_were():
    row = times_of([cell("0", "waits"), cell("50", "waits"), cell("0", "reference", "target_idle")])
    assert (row["access"].value, row["idle"].value) == (16e-3, 20e-6)
    (said,) = _worst_sentences([row])
    assert "takes <strong>16.0\u202fms (" in said
    assert "computes for 5.00\u202fms to 22.0\u202fms, and 20.0\u202fµs (" in said
    # no longer than the longest compute
    assert SEVERAL_ANSWERS not in said


def test_an_access_that_is_longer_than_the_longest_compute_waited_for_several():
    row = times_of([cell("80", "waits"), cell("0", "reference", "target_idle")])
    (said,) = _worst_sentences([row])
    assert said.endswith(SEVERAL_ANSWERS)


def row_of(environment, access, low, high, launches=6):
    """Return an answer's row with the interval of the longest mean access, in seconds."""
    idle = Measure(20e-6, 10e-6, 30e-6, 0.9, "", launches)
    own = {"access": Measure(access, low, high, 0.9, "", launches), "idle": idle, "slowdown": idle}
    return {"environment": environment, **own, "computes_s": (5e-3, 22e-3), "where": "there"}


def test_an_mpi_is_the_slowest_only_where_its_interval_is_apart_from_all_others():
    (apart,) = _worst_sentences([row_of("one", 6e-3, 5e-3, 7e-3), row_of("two", 9e-3, 8e-3, 1e-2)])
    assert apart.startswith("The longest wait: with two,")
    (alike,) = _worst_sentences([row_of("one", 6e-3, 5e-3, 8e-3), row_of("two", 9e-3, 8e-3, 1e-2)])
    assert "of each MPI takes <strong>6.00\u202fms to 9.00\u202fms</strong>" in alike
    assert "one," not in alike and "two" not in alike


def test_one_launch_has_no_interval_and_tells_no_slowest_mpi():
    of_one = [row_of(name, time, time, time, 1) for name, time in (("one", 6e-3), ("two", 9e-3))]
    (said,) = _worst_sentences(of_one)
    assert "of each MPI takes <strong>6.00\u202fms to 9.00\u202fms</strong>" in said
    assert "one launch has no interval" in said and "two" not in said
    (alone,) = _worst_sentences(of_one[:1])
    assert "with one, an access takes <strong>6.00\u202fms</strong> on average" in alone


def test_the_longest_of_several_waits_is_named():
    idle = cell("0", "reference", "target_idle")
    row = times_of([cell("50", "waits"), cell("80", "waits"), cell("20", "waits"), idle])
    assert row["access"].value == 40e-3
    assert "±80" in row["where"]


def test_every_row_that_has_a_time_is_among_those_of_the_longest_wait():
    idle = cell("0", "reference", "target_idle")
    row = times_of([cell("50", "waits"), cell("80", "undecided"), idle])
    assert row["access"].value == 40e-3


def test_a_cell_that_failed_is_no_longest_wait():
    row = times_of([cell("50", "wrong data"), cell("0", "reference", "target_idle")])
    assert row["access"] is None
    assert _worst_sentences([row]) == []


def test_one_family_that_does_not_wait_leaves_weak_progress_unsaid():
    flags = [cell("50", "waits"), cell("50", "independent")]
    assert reading([one.verdict for one in flags]) == "independent in part"


def test_the_answer_is_that_of_the_default_setting(tmp_path):
    options = {"environments": counter.ENVIRONMENTS[:1], "levels": ("multiple",)}
    own = materials(counter.campaign, tmp_path, **options)["shared_counter"]
    busy = [one for one in own.cells if one.axis("case") == "target_computes"]
    over_tcp = [Cell({**one.entry, "setting": "tcp", "verdict": "waits"}) for one in busy]
    answers = [
        own.experiment.page.headline(replace(own, cells=cells))
        for cells in (own.cells, [*own.cells, *over_tcp])
    ]
    words = [[str(sentence) for sentence in answer.sentences] for answer in answers]
    assert words[0] == words[1]
    assert list(answers[0].table.rows) == list(answers[1].table.rows)

"""The answer at the top of the report speaks from the cells that can tell."""

from types import SimpleNamespace

from onesided.experiments.shared_counter.page.answer import answer_row
from onesided.report.material import Cell

KEY = ("atomic and flush", "allocate")


def cell(jitter_percent, verdict):
    labels = {
        "algorithm": "fetch_and_op_flush",
        "flavor": "allocate",
        "case": "target_computes",
        "compute_ms": "10",
        "jitter_percent": jitter_percent,
    }
    entry = {"environment": "one", "verdict": verdict, "detail": None, "labels": labels}
    return Cell({**entry, "thread_level": "single"})


def word_of(*cells):
    material = SimpleNamespace(cells=cells, measure=lambda cell, metric: None)
    return answer_row(material, "one", [KEY])[1][KEY]


def test_cells_with_jitter_speak_for_those_whose_ranks_fall_into_step():
    assert word_of(cell("0", "partial"), cell("50", "independent")) == "independent"


def test_equal_computes_speak_where_there_is_no_jitter():
    assert word_of(cell("0", "waits"), cell("0", "waits")) == "waits"


def test_cells_with_jitter_that_disagree_are_mixed():
    assert word_of(cell("50", "waits"), cell("50", "independent")) == "mixed"


def test_a_failure_is_the_answer_wherever_it_was():
    assert word_of(cell("0", "independent"), cell("50", "wrong data")) == "wrong data"
    assert word_of(cell("0", "wrong data"), cell("50", "independent")) == "wrong data"


def test_the_worst_case_is_the_slowest_over_idle_with_where_that_was():
    times = {"0": 3.0, "50": 40.0}
    cells = [cell("0", "waits"), cell("50", "waits")]
    material = SimpleNamespace(
        cells=cells,
        measure=lambda one, metric: SimpleNamespace(value=times[one.labels["jitter_percent"]]),
    )
    row, _ = answer_row(material, "one", [KEY])
    assert row["slowdown"].value == 40.0
    assert "50" in row["where"]

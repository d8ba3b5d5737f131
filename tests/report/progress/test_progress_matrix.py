"""The matrices of the progress page: every verdict, by sign and word."""

from __future__ import annotations

import html
import html.parser

import pytest
from progress_page import rows_of

from onesided.cells import verdicts
from onesided.report import words
from onesided.report.material import Cell
from onesided.report.parts import Mark, Matrix, MatrixRow, Table
from onesided.studies.stfc.progress.truth import FLAVOR, SYNCHRONISATION, OperationOf, TruthMatrix


class _Matrices(html.parser.HTMLParser):
    """The marks of every matrix: name of its CSV, group, row, column's number, sign and word."""

    def __init__(self):
        super().__init__()
        self.marks: dict[str, list[tuple[str, str, int, str, str]]] = {}
        self._table = self._into = None
        self._group = self._row = self._sign = ""
        self._column = -1
        self._heading = False

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        kind = given.get("class", "")
        if "data-table" in given:
            self._table = given["data-table"] if "matrix" in kind else None
        if self._table is None:
            return
        if tag == "tr":
            self._heading = kind == "group"
        if tag == "th" and given.get("scope") in ("rowgroup", "row"):
            self._into = "heading" if self._heading else "row"
            self._column = -1
        elif tag == "td":
            self._column += 1
        elif kind in ("sign", "word"):
            self._into = kind

    def handle_endtag(self, tag):
        if tag in ("th", "span"):
            self._into = None

    def handle_data(self, data):
        if self._into == "heading":
            self._group = data
        elif self._into == "row":
            self._row = data
        elif self._into == "sign":
            self._sign = data
        elif self._into == "word":
            found = (self._group, self._row, self._column, self._sign, data)
            self.marks.setdefault(self._table, []).append(found)


@pytest.fixture(scope="module")
def matrices(text):
    parser = _Matrices()
    parser.feed(text)
    return parser.marks


def test_there_is_a_matrix_for_each_setting_and_target_state(matrices):
    for setting in ("default", "async_thread"):
        for state in ("computes", "computes_probing", "helper_blocked"):
            assert f"truth_{setting}_{state}" in matrices
    assert not any("idle" in name for name in matrices)


def test_every_place_shows_the_verdicts_of_its_csv_by_sign_and_word(matrices, page, material):
    columns = [
        (environment, flavor)
        for environment in material.environments
        for flavor in ("create", "allocate")
    ]
    compared = 0
    for name in ("truth_default_computes", "truth_async_thread_computes"):
        expected = set()
        for row in rows_of(page, name):
            word = row["verdict"]
            column = columns.index((row["environment"], row["axis_flavor"]))
            at = (row["axis_synchronisation"], row["axis_operation"], column)
            expected.add((*at, words.sign_of(word)[0], words.fitting_word(word, False)))
        assert set(matrices[name]) == expected
        compared += len(expected)
    assert compared == 2 * 8 * 12


def shown(labels):
    """Without probes, the target has no probe interval."""
    probes = labels["target_state"] == "computes_probing"
    return labels if probes else {**labels, "probe_interval_us": ""}


def test_the_csv_is_the_long_form_of_the_verdicts(page, material):
    rows = rows_of(page, "truth_default_computes")
    cells = {
        (c.environment, c.thread_level, *(str(v) for v in shown(c.labels).values())): c
        for c in material.cells
        if c.setting == "default"
    }
    assert len(rows) == 4 * 2 * 24
    for row in rows:
        axes = [value for name, value in row.items() if name.startswith("axis_")]
        cell = cells[(row["environment"], row["thread_level"], *axes)]
        assert row["verdict"] == cell.verdict
        assert row["valid_launches"] == str(cell.valid_launches)


def test_levels_that_differ_each_say_whose_verdict_it_is():
    def cell(level, verdict, test="Progress"):
        return Cell(
            {
                "environment": "one", "system": "s", "partition": "p", "setting": "default",
                "ranks": 2, "placement": "x", "launch_model": "native", "thread_level": level,
                "verdict": verdict, "labels": {}, "test": f"{test} %setting=default",
                "early_fractions": [0.0, 0.25], "valid_launches": 6, "launches": 6,
                "detail": None, "tau_s": None, "oversubscribed": False,
            }
        )  # fmt: skip

    axes = SYNCHRONISATION, OperationOf("operation", "operation"), FLAVOR

    def marks(*cells):
        return TruthMatrix("truth", "", *axes).marks(cells, lambda cells: ())

    (one,) = marks(cell("single", "waits"), cell("multiple", "waits"))
    assert one.which is None
    assert "early fraction 0.00 to 0.25" in one.title
    two = marks(cell("single", "independent"), cell("multiple", "waits"))
    assert [(mark.word, mark.which) for mark in two] == [
        ("independent", "single"),
        ("waits", "multiple"),
    ]
    tests = marks(cell("single", "waits"), cell("single", "partial", "ProgressLong"))
    assert [mark.which for mark in tests] == ["Progress", "ProgressLong"]


def test_what_a_setting_changed_and_what_the_scheduler_decided_is_marked(text):
    changed = text[text.index('data-table="truth_async_thread_computes"') :]
    changed = changed[: changed.index("</ul>")]
    assert "delayed</span><sup>Δ</sup>" in changed
    assert "another verdict than the same cell has with the setting default" in changed
    helped = text[text.index('data-table="truth_default_helper_blocked"') :]
    helped = helped[: helped.index("</ul>")]
    assert "<sup>†</sup>" in helped
    assert "measure the scheduler" in helped
    default = text[text.index('data-table="truth_default_computes"') :]
    default = default[: default.index("</table>")]
    assert "<sup>" not in default


@pytest.mark.parametrize(("columns", "shown"), [(8, "independent"), (9, "indep.")])
def test_many_columns_leave_room_for_short_words_only(columns, shown):
    row = MatrixRow("lock", "put", [[Mark("independent", "why")]] * columns)
    table = Table("t", "", [], [])
    found = Matrix("m", "", [("one", ["f"] * columns)], [row], table)
    assert f'<span class="word">{shown}</span>' in row.places[0][0].html(found.dense, "m")
    assert [short for _, short in found.key] == ([""] if columns == 8 else ["indep."])


def test_every_verdict_has_a_short_word_and_a_sign():
    for word in verdicts.WORDS:
        assert len(words.fitting_word(word, True)) <= 7
        assert words.sign_of(word)[0]

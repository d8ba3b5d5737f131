"""Claims about the progress page."""

from __future__ import annotations

import csv
import html
import html.parser
import io
import re
import subprocess
from types import SimpleNamespace

import markupsafe
import polars as pl
import pytest
import synthetic_progress as synthetic
from test_browser import network, opened
from test_report import _Tables
from unpacked import whole

from onesided import report
from onesided.analysis import verdicts
from onesided.analysis.analyse import analyse
from onesided.experiments.progress.advice import file as advice_file
from onesided.experiments.progress.page import latency, probe, truth, waiting, ways
from onesided.report import answers, badges
from onesided.report.material import Baselines, Cell, load
from onesided.report.parts import Mark, Matrix, MatrixRow, Table

WIDTHS = (1280, 400)


def made(folder, *arguments, **options):
    """Return the page of a synthetic campaign."""
    synthetic.campaign(folder, *arguments, **options)
    analyse(folder)
    return report.build(folder, single_file=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return made(tmp_path_factory.mktemp("progress"))


@pytest.fixture(scope="module")
def text(page):
    return page.read_text("utf-8")


@pytest.fixture(scope="module")
def material(page):
    (found,) = load(page.parents[1]).materials()
    return found


def rows_of(page, name):
    return list(csv.DictReader(io.StringIO((page.parent / f"{name}.csv").read_text("utf-8"))))


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


# ------------------------------------------------------------------------------ the headline


def test_the_answer_says_what_to_use_and_what_it_was_tested_with(text):
    ledes = [re.sub("<[^>]+>", "", one) for one in re.findall(r'<p class="lede">(.*?)</p>', text)]
    assert ledes[:3] == [
        "Use MPI_Win_allocate with lock_all and flush: an access completes while the target "
        "computes in all 3 MPIs.",
        "MPI_Win_allocate with an exclusive lock or lock_all and flush_local: in openmpi-5.0.11 "
        "only.",
        "MPI_Win_create with each of the 3 synchronisations tested: in none.",
    ]
    assert ledes[3] == (
        "If the target calls MPI_Iprobe every 100\u202fµs (tested with an exclusive lock and "
        "lock_all and flush), an access completes after a delay in mpich-5.0.2 and impi-2021.18.1; "
        "only in some cells in openmpi-5.0.11."
    )
    assert ledes[4].startswith(
        "Code that stays as it is: MPIR_CVAR_ASYNC_PROGRESS=1 helps mpich-5.0.2"
    )
    assert ledes[5] == "Nothing was measured with &lt;b&gt;none&lt;/b&gt;."
    assert ledes[6] == (
        "Tested with 2 of 4 window flavors, 3 of 8 synchronisations, 4 operations of 8\u202fbytes "
        "and 64\u202fKiB, thread levels single and multiple."
    )


def test_the_matrix_has_a_word_for_each_mpi_and_way_and_its_csv_counts_cells(page):
    row = rows_of(page, "progress_answer")[0]
    assert (row["environment"], row["judged"]) == ("mpich-5.0.2", "40")
    assert (row["independent"], row["waits"]) == ("10", "30")
    assert row["allocate_lock_all_flush"] == "independent"
    assert row["reading"] == "independent in part"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["independent"] * 3, answers.STRONG),
        (["independent", "delayed"], answers.STRONG),
        (["waits", "waits", "undecided", "reference"], answers.WEAK),
        (["waits", "independent"], "independent in part"),
        (["waits", "partial"], "independent in part"),
        (["crash", "undecided"], "nothing decided"),
        (["undecided"] * 3, "nothing decided"),
        (["crash", "not run", "unavailable"], "nothing measured"),
    ],
)
def test_strong_or_weak_is_said_only_where_all_observed_cells_agree(words, said):
    assert answers.reading(words) == said


def test_ways_are_named_in_few_words():
    every = [(f, s) for f in ("create", "allocate", "shared") for s in ("pscw", "lock_shared")]
    assert ways.title(every[:4], every) == (
        "MPI_Win_create or MPI_Win_allocate with each of the 2 synchronisations tested"
    )
    assert ways.title([("create", "pscw"), ("allocate", "lock_shared")], every) == (
        "MPI_Win_create with post, start, complete and wait; MPI_Win_allocate with a shared lock"
    )


def test_a_cell_that_is_undecided_is_counted_out_in_the_matrix():
    def cell(verdict):
        return Cell({"verdict": verdict, "labels": {}, "detail": None})

    assert answers.together([cell("independent")] * 2) == answers.Together("independent")
    assert answers.together([cell("independent"), cell("undecided")]) == answers.Together(
        "independent", "1 of 2 cells decided"
    )
    # a cell that can tell nothing, or was not measured, is no undecided one
    assert answers.together([cell("waits"), cell("local completion only")]).note is None
    assert answers.together([cell("waits"), cell("unsupported")]).note is None
    assert answers.together([cell("unsupported")]).word == "unsupported"
    assert answers.together([cell("waits"), cell("crash")]).word == "crash"
    assert answers.together([cell("with help"), cell("delayed")]).word == "delayed"
    assert answers.together([cell("waits"), cell("delayed")]).word == "mixed"


# ------------------------------------------------------------------------------ the matrix


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
            expected.add((*at, badges.sign_of(word)[0], badges.fitting_word(word, False)))
        assert set(matrices[name]) == expected
        compared += len(expected)
    assert compared == 2 * 8 * 12


def test_the_csv_is_the_long_form_of_the_verdicts(page, material):
    rows = rows_of(page, "truth_default_computes")
    cells = {
        (c.environment, c.thread_level, *(str(v) for v in c.labels.values())): c
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

    (one,) = truth.marks([cell("single", "waits"), cell("multiple", "waits")], {})
    assert one.which is None
    assert "early fraction 0.00 to 0.25" in one.title
    two = truth.marks([cell("single", "independent"), cell("multiple", "waits")], {})
    assert [(mark.word, mark.which) for mark in two] == [
        ("independent", "single"),
        ("waits", "multiple"),
    ]
    tests = truth.marks([cell("single", "waits"), cell("single", "partial", "ProgressLong")], {})
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
        assert len(badges.fitting_word(word, True)) <= 7
        assert badges.sign_of(word)[0]


# ------------------------------------------------------------------------------ waits and latency


def test_the_part_in_which_an_access_waits_is_told(page):
    rows = rows_of(page, "progress_where_it_waits")
    assert rows and {row["verdict"] for row in rows} == {"waits"}
    for row in rows:
        shares = {part: float(row[f"{part}_share"]) for part in ("begin", "issue", "complete")}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert shares[synthetic.WAITING_PART] > 0.99
        assert float(row["slope"]) == pytest.approx(1.0, abs=0.01)


def test_shares_are_of_the_parts_only(material):
    cell = next(c for c in material.cells if c.verdict == "waits")
    only = SimpleNamespace(measure=lambda *at: None)
    assert waiting.shares(only, cell) is None
    assert sum(waiting.shares(material, cell).values()) == pytest.approx(1.0)


def test_a_fence_shows_what_is_left_after_the_targets_return(page):
    rows = rows_of(page, "progress_synchronising")
    assert {row["synchronisation"] for row in rows} == {"fence"}
    waited = [row for row in rows if row["environment"] == "mpich-5.0.2"]
    for row in waited:
        assert 0 < float(row["after_return_s"]) < 5e-6


def test_latencies_stand_by_level_with_their_ratio(page):
    for row in rows_of(page, "progress_latency"):
        single, multiple = float(row["latency_single_s"]), float(row["latency_multiple_s"])
        assert float(row["lock_tax"]) == pytest.approx(multiple / single)
        assert float(row["latency_single_s_low"]) <= single <= float(row["latency_single_s_high"])
        expected = 5e-8 if row["synchronisation"] == "lock_all_flush" else 4e-7
        assert single == pytest.approx(expected, rel=0.1)


def test_the_latencies_say_how_many_launches_met_cores_that_others_used(tmp_path, text):
    folder = tmp_path / "shared"
    one = [synthetic.labels(target_state="idle"), synthetic.labels()]
    synthetic.campaign(folder, synthetic.ENVIRONMENTS[:1], one, ["default"], ["single"])
    synthetic.use_cores(folder, [5, 6])
    analyse(folder)
    said = report.build(folder, single_file=True).read_text("utf-8")
    assert "Of 12 latencies, one a launch, 0 are left out that met the cores far apart" in said
    assert "and 4 on a core that another program" in said
    # where all count nothing is said
    assert "left out that met the cores" not in text


def test_the_targets_own_computing_and_its_visits_are_shown(page):
    rows = rows_of(page, "progress_target")
    for row in rows:
        assert 1.0 < float(row["computes_probing"]) < 1.02
        assert row["visits"]
    assert {row["helper_blocked"] != "" for row in rows} == {True, False}


def baselines_of(material):
    """Return baselines as a campaign with the kernel `baseline` would have them."""
    template = next(c for c in material.cells if c.environment == "mpich-5.0.2").entry
    wanted = {("atomic_add", 8): 5e-9, ("compare_and_swap", 8): 6e-9, ("copy", 8): 1e-9}
    wanted |= {("copy", 65536): 8e-6}
    cells, rows = [], []
    for (baseline, size), value in wanted.items():
        labels = {"baseline": baseline, "size_bytes": str(size)}
        cell = {**template, "kernel": "baseline", "cell": f"{baseline}-{size}", "labels": labels}
        cells.append(Cell(cell))
        names = ("system", "partition", "environment", "test", "cell", "kernel")
        measured = {"value": value, "low": value, "high": value, "coverage": 0.97}
        rows.append(
            {
                **{name: cell[name] for name in names},
                "metric": "time",
                "statistic": "median",
                **measured,
                "kind": "interval",
                "launches": 6,
            }
        )
    return Baselines.of(cells, pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("operation", "size", "baseline", "value"),
    [
        ("put", 8, "copy", 1e-9),
        ("get", 65536, "copy", 8e-6),
        ("put", 1048576, "copy", 8e-6),
        ("accumulate", 8, "atomic_add", 5e-9),
        ("fetch_and_op", 8, "atomic_add", 5e-9),
        ("compare_and_swap", 8, "compare_and_swap", 6e-9),
        ("accumulate", 1024, None, None),
    ],
)
def test_an_operation_has_the_baseline_of_its_kind_and_size(
    material, operation, size, baseline, value
):
    template = next(c for c in material.cells if c.environment == "mpich-5.0.2").entry
    labels = synthetic.labels(operation, size_bytes=size)
    with_baseline = SimpleNamespace(baselines=baselines_of(material))
    found = latency.baseline_of(with_baseline, Cell({**template, "labels": labels}))
    assert (found and (found[0], found[1].value)) == (baseline and (baseline, value))


def test_latencies_are_multiples_of_the_baseline_where_it_was_measured(material, page):
    assert not any("over_baseline" in row for row in rows_of(page, "progress_latency"))
    with_baseline = type(material)(
        material.campaign, material.experiment, material.cells, material.summary,
        baselines_of(material),
    )  # fmt: skip
    table = latency.section(with_baseline).parts[0]
    rows = list(csv.DictReader(io.StringIO(table.csv_text())))
    row = next(
        r
        for r in rows
        if (r["environment"], r["operation"], r["flavor"], r["synchronisation"])
        == ("mpich-5.0.2", "fetch_and_op", "allocate", "lock_all_flush")
    )
    assert row["baseline"] == "atomic_add"
    assert float(row["over_baseline"]) == pytest.approx(float(row["latency_single_s"]) / 5e-9)
    other = next(r for r in rows if r["environment"] == "openmpi-5.0.11")
    assert other["over_baseline"] == ""


# ------------------------------------------------------------------------------ the probe


def test_the_figure_draws_valid_accesses_only(page, material):
    rows = rows_of(page, probe.NAME)
    assert len(rows) > 100
    assert all(float(row["remaining_s"]) >= verdicts.MINIMUM_REMAINING_S for row in rows)
    assert {row["operation"] for row in rows} == set(synthetic.OPERATIONS)


def test_any_cell_that_met_a_computing_target_can_be_explored(material):
    explored = probe._explored_rows(material, probe._explored_cells(material))
    met = {
        (c.environment, c.setting, c.thread_level, *map(str, c.labels.values()))
        for c in material.cells
        if c.valid_launches
        and c.labels["target_state"] != "idle"
        # a failed launch's samples are kept apart
        and c.verdict not in verdicts.NOT_MEASURED
    }
    assert len(explored) == len(met)
    assert sum(len(row["x"]) for row in explored) < 3 * probe.EXPLORED_POINTS


# ------------------------------------------------------------------------------ what to use


def test_each_environment_has_a_file_that_a_shell_takes(page, text):
    files = sorted(path.name for path in (page.parent / "advice").iterdir())
    assert files == [
        "b_none_b-bee3ede2.txt",
        "impi-2021.18.1.txt",
        "mpich-5.0.2.sh",
        "openmpi-5.0.11.txt",
    ]
    for name in files:
        path = page.parent / "advice" / name
        subprocess.run(["sh", "-n", path], check=True)
        subprocess.run(["sh", "-c", 'set -eu; . "$1"', "sh", path], check=True)
        assert f'href="advice/{name}"' in text


def exports(page, name):
    lines = (page.parent / "advice" / name).read_text("utf-8").splitlines()
    assert all(line.startswith(("#", "export ")) for line in lines)
    return [line for line in lines if line.startswith("export ")]


def test_only_what_helps_without_failures_is_exported(page):
    assert exports(page, "mpich-5.0.2.sh") == ["export MPIR_CVAR_ASYNC_PROGRESS=1"]
    for name in ("openmpi-5.0.11.txt", "impi-2021.18.1.txt", "b_none_b-bee3ede2.txt"):
        assert exports(page, name) == []


def test_what_is_claimed_is_in_the_verdicts(page, material):
    known = {(c.environment, c.test, c.cell): c.verdict for c in material.cells}
    found = advice_file.claims((page.parent / "advice" / "mpich-5.0.2.sh").read_text("utf-8"))
    assert len(found) > 10
    for claim in found:
        assert known[claim.environment, claim.test, claim.cell] == claim.verdict


def test_the_page_says_what_the_shell_files_say(text, page):
    for path in (page.parent / "advice").iterdir():
        assert markupsafe.escape(path.read_text("utf-8")) in text
    assert "No variable helps: async_thread turns 0 of 20 cells" in text
    assert "22 cells failed with it (crash)" in text


def test_a_shell_file_of_an_earlier_report_does_not_stay(page):
    stale = page.parent / "advice" / "gone.sh"
    stale.write_text("export OLD=1\n")
    report.build(page.parents[1], single_file=True)
    assert not stale.exists()
    assert (page.parent / "advice" / "mpich-5.0.2.sh").exists()


def test_without_other_settings_nothing_is_said_to_help(tmp_path):
    environments = synthetic.ENVIRONMENTS[:1]
    found = made(tmp_path, environments, synthetic.grid(), settings=("default",))
    text = found.read_text("utf-8")
    assert "Not tried in this campaign." in text
    assert exports(found, "mpich-5.0.2.txt") == []


def test_too_few_launches_recommend_nothing(tmp_path):
    found = made(tmp_path, synthetic.ENVIRONMENTS[:1], synthetic.grid(), rounds=2)
    assert exports(found, "mpich-5.0.2.txt") == []
    assert advice_file.claims((found.parent / "advice" / "mpich-5.0.2.txt").read_text()) == []


def test_nothing_measured_at_all_still_makes_a_page(tmp_path):
    found = made(tmp_path, synthetic.ENVIRONMENTS[3:], synthetic.grid(), rounds=1)
    reason = "Nothing was decided at the default setting (unavailable: in 1 of 1 launches: wheel"
    assert reason in found.read_text("utf-8")
    assert "No cell was measured whose target computes." in report.terminal_summary(tmp_path)


def test_cells_that_lack_rounds_are_not_called_unmeasured(tmp_path):
    made(tmp_path, synthetic.ENVIRONMENTS[:1], synthetic.grid(), rounds=1)
    said = report.terminal_summary(tmp_path)
    assert "No cell was measured" not in said
    assert "is decided: 32 cells undecided (1 launch, 5 needed: 4 more rounds)." in said
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "No cell whose target computes is decided" in page


# ------------------------------------------------------------------------------ the whole page


def test_every_table_has_a_csv_with_the_same_numbers(text, page):
    parser = _Tables()
    parser.feed(whole(text))
    compared = 0
    for name, shown in parser.numbers.items():
        held = iter([value for row in rows_of(page, name) for value in row.values()])
        for value in shown:
            assert any(value == other for other in held), f"{name}: {value} is not in the CSV"
            compared += 1
    assert compared > 1000


def test_hostile_names_are_text(text):
    assert "<b>none</b>" not in text
    assert "<i>not</i>" not in text
    assert "&lt;b&gt;none&lt;/b&gt;" in text


def test_the_same_campaign_gives_the_same_bytes(page):
    def content():
        return {p: p.read_bytes() for p in page.parent.rglob("*") if p.is_file()}

    before = content()
    report.build(page.parents[1], single_file=True)
    assert content() == before


def test_the_legend_explains_every_verdict_that_can_occur():
    assert {
        verdicts.LOCAL_COMPLETION,
        verdicts.SYNCHRONISING,
        verdicts.NO_EFFECT,
        verdicts.HELPER_RETURNED,
        *verdicts.OBSERVED,
    } <= badges.MEANINGS.keys()


def test_the_terminal_says_what_the_page_says_and_where_the_advice_is(page, text):
    said = report.terminal_summary(page.parents[1])
    for lede in re.findall(r'<p class="lede">(.*?)</p>', text):
        plain = html.unescape(re.sub("<[^>]+>", "", lede)).replace("\u202f", " ")
        assert plain.replace("µ", "?") in said.replace("µ", "?")
    assert f"what to use, a file per MPI: {page.parent / 'advice'}" in said
    assert "interval" not in said


# ------------------------------------------------------------------------------ in a browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_with_everything_unfolded(browser, page, width, scheme):
    with opened(browser, page, width, color_scheme=scheme) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        shown.wait_for_timeout(200)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.said == []
        assert network(shown) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_matrix_needs_no_scrolling(browser, page, width):
    with opened(browser, page, width) as shown:
        region = shown.locator('[data-table="truth_default_computes"] .region')
        assert region.evaluate("r => r.scrollWidth - r.clientWidth") <= 0


def test_a_narrow_matrix_shows_signs_and_keeps_the_words_for_who_listens(browser, page):
    with opened(browser, page, 400) as shown:
        mark = shown.locator('[data-table="truth_default_computes"] td .verdict').first
        assert mark.bounding_box()["width"] < 40
        assert mark.locator(".sign").is_visible()
        assert mark.locator(".word").bounding_box()["width"] <= 1
        assert mark.locator(".word").text_content() == "waits"
        assert shown.locator('[data-table="truth_default_computes"] .key .waits').is_visible()


@pytest.mark.parametrize("how", ["click", "keyboard", "tap", "no scripts"])
def test_a_symbol_opens_what_it_is_based_on(browser, page, how):
    options = {"has_touch": how == "tap", "java_script_enabled": how != "no scripts"}
    with opened(browser, page, 400 if how == "tap" else 1280, **options) as shown:
        mark = shown.locator('[data-table="truth_default_computes"] td button.verdict').first
        behind = mark.locator("xpath=following-sibling::*[@popover]")
        assert not behind.is_visible()
        if how == "keyboard":
            mark.press("Enter")
        elif how == "tap":
            mark.tap()
        else:
            mark.click()
        behind.wait_for()
        said = behind.inner_text()
        assert said.startswith("mpich-5.0.2: put, create, lock_exclusive")
        assert (
            "6 of 6 launches valid; it waits in the call that begins the epoch (100\u202f%" in said
        )
        box = behind.locator("svg.sketch path.dots").bounding_box()
        assert box["width"] > 50
        assert behind.bounding_box()["width"] <= (400 if how == "tap" else 1280)
        shown.keyboard.press("Escape")
        behind.wait_for(state="hidden")


def test_the_truth_table_is_there_without_scripts(browser, page):
    with opened(browser, page, java_script_enabled=False) as shown:
        table = shown.locator('[data-table="truth_default_computes"]')
        assert table.locator("td .verdict").count() == 8 * 12
        assert table.locator("td .verdict .word").first.is_visible()
        assert shown.locator("figure .static.wide svg").count() == 2


def test_any_cell_can_be_chosen_and_one_that_is_not_there_says_so(browser, page):
    with opened(browser, page) as shown:
        figure = shown.locator("figure#progress_against_remaining")
        figure.locator("button.explore").click()
        figure.locator(".live svg").wait_for(timeout=15_000)
        marks = figure.locator(".live svg .mark-symbol path")
        choose = {
            name: figure.locator(f"select[name=chosen_{name}]") for name in ("flavor", "target")
        }
        figure.get_by_text("waits", exact=True).wait_for()
        assert marks.count() > 4
        choose["flavor"].select_option("allocate")
        figure.locator("select[name=chosen_synchronisation]").select_option("lock_all_flush")
        figure.get_by_text("independent", exact=True).wait_for()
        choose["target"].select_option("helper_blocked")
        figure.get_by_text("no such cell was measured").wait_for()
        assert marks.count() == 0
        assert shown.said == []

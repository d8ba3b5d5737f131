"""The pages of the five patterns: published and today's tables, ratios, claims, who waits."""

import csv
import io
from dataclasses import replace

import pytest
from made_up import patterns as made
from shown import materials, parts

from onesided import report
from onesided.cells import verdicts
from onesided.measure.analyse import analyse
from onesided.report import numbers
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, Cells
from onesided.report.parts import Measure
from onesided.report.published import PublishedTable
from onesided.studies import find
from onesided.studies.luecke.analysis import FILTERED_MEAN, MEDIAN
from onesided.studies.luecke.claims import LAWS, grows
from onesided.studies.luecke.pattern import TimeByRanks, TimeBySize
from onesided.studies.luecke.ratios import Ratios
from onesided.studies.luecke.tables import TodayByRanks, TodayBySize
from onesided.studies.parts.waits import Waits

MPICH, OPENMPI, IMPI, SHMEM = (environment.name for environment in made.ENVIRONMENTS)
TABLES = {kernel: number for number, kernel in enumerate(made.KERNELS, 1)}


def today(material):
    found, _ = parts(material, TodayByRanks, TodayBySize)
    return found


def said(material):
    (found,) = parts(material, Ratios)
    return [sentence.replace(numbers.TIMES, "x") for sentence in found.sentences]


def claims(material):
    (found,) = parts(material, Claims)
    return found.rows


def waits(material):
    return parts(material, Waits)


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_the_published_table_stands_right_above_todays(two_cores, kernel):
    first, second, *_ = two_cores[kernel].experiment.page.contents
    number = TABLES[kernel]
    names = [one.parts(two_cores[kernel])[0].name for one in (first, second)]
    assert names == [f"luecke_table{number}_published", f"luecke_table{number}_measured"]


def test_digits_of_the_source_are_as_printed_and_what_is_doubtful_has_a_note():
    rows = {row["series"]: row for row in PublishedTable("luecke_table3").rows}
    assert rows["Origin MPI-2"]["pe32_us"] == "5.96"
    assert rows["Origin MPI-2"]["suspect"] == "pe32_us"
    assert rows["T3E SHMEM"]["pe32_us"] == "3.2"
    assert "says milliseconds" in PublishedTable("luecke_table3").caption
    assert PublishedTable("luecke_table4").rows[1]["pe16_ms"] == "0.59"
    first = PublishedTable("luecke_table1").rows
    assert [row["suspect"] for row in first] == ["origin_mpi2_ms"] * 3
    assert [row["size_bytes"] for row in first] == ["8", "10000", "1000000"]


def test_a_row_is_an_interface_of_an_mpi_and_a_column_a_number_of_ranks(two_cores):
    material = two_cores["right_shift"]
    found = today(material)
    titles = [column.title for column in found.columns]
    assert titles == [
        "interface", "2 ranks", "4 ranks, more ranks than cores", "8 ranks, more ranks than cores",
    ]  # fmt: skip
    assert found.rows[0]["environment"] == SHMEM
    ways = [row["way"] for row in found.rows if row["environment"] == MPICH]
    assert ways == [
        "MPI-2, fence, create", "MPI-3, flush, create", "MPI-3, flush, allocate", "MPI, two-sided",
    ]  # fmt: skip
    assert len(found.rows) == 3 * 4 + 1
    _, folded = parts(material, TodayByRanks)
    assert {row["way"] for row in folded.part.rows} == {"MPI-2, fence, allocate"}
    row = found.rows[1]
    assert row["mean_2"].value == pytest.approx(6 * made.SHMEM_S, rel=0.02)
    assert row["removed_2"].value == pytest.approx(0.02)
    # one spike in 50 trials: neither the project's median nor the filtered mean sees it
    assert row["median_2"].value == pytest.approx(row["mean_2"].value, rel=0.01)
    assert row["note_2"].startswith("median 6.0") and "2\u202f% removed" in row["note_2"]


@pytest.mark.slow
def test_table_1_is_the_mean_over_all_ranks_that_a_message_comes_from(eight_cores):
    material = eight_cores["distant_messages"]
    found = today(material)
    (row,) = [
        row for row in found.rows
        if (row["block"], row["size_bytes"]) == ("MPI-2, fence, create, 8 ranks", 8)
    ]  # fmt: skip
    targets = [
        material.measure(cell, "time", FILTERED_MEAN)
        for cell in material.cells
        if (cell.environment, cell.ranks) == (MPICH, 8)
        and {"interface": "mpi2", "flavor": "create", "size_bytes": "8",
             "target_state": "takes_part"}.items() <= cell.labels.items()
    ]  # fmt: skip
    assert len(targets) == 7
    mean = sum(one.value for one in targets) / 7
    assert row[f"mean_{MPICH}"].value == pytest.approx(mean, rel=0.01)
    # SHMEM is beside it, as in the source, and again in the block of each interface
    assert row[f"mean_{SHMEM}"].value == pytest.approx(made.SHMEM_S, rel=0.02)
    assert {row["message"] for row in found.rows} == {"8 bytes", "1 Kbyte", "10 Kbytes", "1 Mbyte"}
    assert all(isinstance(row[f"mean_{SHMEM}"], Measure) for row in found.rows)


def test_what_is_said_of_table_1_comes_from_the_cells(two_cores):
    material = two_cores["distant_messages"]
    caption = today(material).caption
    assert (
        "with 2 ranks: rank 1; with 4 ranks: ranks 1, 2 and 3; with 8 ranks: ranks 1, 2" in caption
    )
    assert "not in the paper: 1 Kbyte." in caption
    ends = [
        cell
        for cell in material.cells
        if (cell.ranks, cell.labels["target"]) in ((2, "1"), (8, "1"), (8, "7"))
        and cell.labels["size_bytes"] != "1000"
    ]
    caption = today(replace(material, cells=ends)).caption
    assert "message from (with 2 ranks: rank 1; with 8 ranks: ranks 1 and 7)." in caption
    assert "not in the paper" not in caption


def test_the_csv_of_today_has_both_statistics_and_the_share_removed(two_cores):
    rows = list(csv.DictReader(io.StringIO(today(two_cores["tree_broadcast"]).csv_text())))
    for name in ("mean_2_s", "mean_2_s_low", "median_2_s", "removed_2", "mean_8_crowded_s"):
        assert float(rows[0][name]) > 0


def test_a_ratio_is_of_the_same_machine_and_ranks_then_and_now(two_cores):
    first, caveat = said(two_cores["right_shift"])
    # 45.1 / 3.12 and 182.4 / 4.51; 37.2 / 3.84 and 115.7 / 4.02
    assert "14.5x to 40.4x on the Origin 2000 and 9.69x to 28.8x on the T3E-600" in first
    assert "Today (2 ranks): MPI-2, fence (create) over SHMEM is" in first
    for interface, factor in (("MPI-2", 6.0), ("MPI-3", 2.0)):
        after = first.partition(f"{interface}, f")[2]
        number = float(after.partition("SHMEM is ")[2].partition("x")[0])
        assert number == pytest.approx(factor, rel=0.03)
    assert "smaller than it was" in first
    assert "Other machines" in caveat


def test_a_suspect_number_is_in_no_ratio(two_cores):
    naive, *_ = said(two_cores["naive_broadcast"])
    # 5.96 / 7.49 would be 0.80
    assert "7.02x to 9.90x on the Origin 2000" in naive
    left_out = "The numbers that the notes of the table doubt are left out."
    assert left_out in naive
    assert not [one for one in said(two_cores["right_shift"]) if left_out in one]
    sizes = said(two_cores["distant_messages"])
    assert len(sizes) == 4
    assert "25.9x on the T3E-600. The paper doubts its numbers of the Origin 2000." in sizes[0]
    assert "1 Mbyte): MPI-2 over SHMEM is 1.06x" in sizes[2]


def test_a_tree_has_a_ratio_for_gets_and_one_for_puts(two_cores):
    gets, puts, _ = said(two_cores["tree_broadcast"])
    assert "MPI2 GET over SHMEM" in gets and "MPI2 PUT over SHMEM" in puts
    # 40.8 / 0.179 and 33 / 0.033 on the Origin 2000
    assert f"228x to 1{numbers.THIN_SPACE}000x on the Origin 2000" in puts


@pytest.mark.slow
def test_where_shmem_or_mpi_is_missing_the_sentence_says_so(tmp_path):
    alone = materials(
        made.campaign,
        tmp_path / "mpi",
        environments=made.ENVIRONMENTS[:1],
        kernels=["right_shift"],
        ranks=[2],
    )
    text = said(alone["right_shift"])[0]
    assert "SHMEM was not measured with a core for each rank" in text
    assert "So the ratio" not in text
    word = {row[MPICH] for row in claims(alone["right_shift"])[:2]}
    assert word == {NOT_MEASURED}
    shmem = materials(
        made.campaign,
        tmp_path / "shmem",
        environments=made.ENVIRONMENTS[3:],
        kernels=["right_shift"],
        ranks=[2],
    )
    text = said(shmem["right_shift"])[0]
    words = "MPI-2, fence (create) was not measured; MPI-3, flush (allocate) was not measured."
    assert words in text


@pytest.mark.slow
def test_at_least_eight_claims_are_decided_by_the_values(eight_cores):
    every = {
        (kernel, row["claim"]): row
        for kernel, found in eight_cores.items()
        for row in claims(found)
    }
    assert len(every) >= 8
    words = {key: row[MPICH] for key, row in every.items()}
    of_noise = ("vary less", "more stable", "scales better")  # noise and growth have the same size
    decided = {word for (_, claim), word in words.items() if not any(n in claim for n in of_noise)}
    assert decided == {HOLDS, DOES_NOT_HOLD}

    def word(kernel, start):
        (found,) = [w for (k, claim), w in words.items() if k == kernel and claim.startswith(start)]
        return found

    # six times, not eight
    assert word("distant_messages", "A message of 8 bytes takes at least") == DOES_NOT_HOLD
    assert word("right_shift", "A shift of 8 bytes takes at least five") == HOLDS
    assert word("right_shift", "For 1 Mbyte") == HOLDS
    assert word("right_shift", "The time does not depend") == HOLDS
    assert word("naive_broadcast", "For 10 Kbytes") == DOES_NOT_HOLD
    assert word("naive_broadcast", "The time grows linearly") == HOLDS
    assert word("tree_broadcast", "The time grows logarithmically") == HOLDS
    assert word("tree_broadcast", "For 8 bytes, the put version") == HOLDS
    assert word("all_to_all", "Where all ranks begin") == HOLDS
    assert word("distant_messages", "A message from a distant rank") == HOLDS


@pytest.mark.slow
def test_a_law_that_a_time_does_not_follow_does_not_hold(eight_cores):
    found = eight_cores["right_shift"]
    cells = Cells.of(found, MPICH)
    words = {law: grows(cells, {"law": law}).word for law in LAWS}
    assert words == {"constant": HOLDS, "logarithmic": DOES_NOT_HOLD, "linear": DOES_NOT_HOLD}


@pytest.mark.slow
def test_a_claim_about_mpi_says_nothing_of_openshmem_and_one_of_growth_does(eight_cores):
    rows = claims(eight_cores["right_shift"])
    assert [row[SHMEM] for row in rows] == ["", "", "", "", HOLDS]


def test_no_claim_rests_on_more_ranks_than_cores(two_cores):
    for kernel, start in (("right_shift", "The time"), ("distant_messages", "A message from a")):
        (row,) = [row for row in claims(two_cores[kernel]) if row["claim"].startswith(start)]
        assert row[MPICH] == NOT_MEASURED
        assert "no core for each" in row[f"why_{MPICH}"]


def test_where_one_rank_computes_a_table_says_who_waits(two_cores):
    table, prose = waits(two_cores["right_shift"])
    rows = {(row["way"], row["ranks"]): row for row in table.rows}
    assert len(rows) == 3 * (4 + 1 + 1)
    allocate, create = (rows[f"MPI-3, flush, {one}", 2] for one in ("allocate", "create"))
    assert [allocate[name] for name in (MPICH, OPENMPI, IMPI)] == [
        verdicts.INDEPENDENT, verdicts.INDEPENDENT, verdicts.WAITS,
    ]  # fmt: skip
    assert create[MPICH] == verdicts.WAITS
    assert create[f"wait_{MPICH}"].value == pytest.approx(1.0, abs=0.01)
    assert allocate[f"wait_{MPICH}"].value < 0.01
    assert rows["MPI-2, fence, create", 2][MPICH] == verdicts.SYNCHRONISING
    assert rows["OpenSHMEM", 2][SHMEM] == verdicts.INDEPENDENT
    assert MPICH not in rows["OpenSHMEM", 2]
    assert rows["OpenSHMEM", 4]["cores"] == "more ranks than cores"
    text = " ".join(prose.sentences)
    assert f"MPI-3, flush, create: accesses complete in {OPENMPI} only." in text
    assert "every other rank needs a call of the rank that computes." in text


def test_in_a_tree_the_ranks_below_the_computing_one_are_named(two_cores):
    table, _ = waits(two_cores["tree_broadcast"])
    rows = {(row["way"], row["ranks"]): row for row in table.rows}
    row = rows["MPI-3, flush, allocate, put", 8]
    assert row[MPICH] == verdicts.INDEPENDENT
    assert row[f"note_{MPICH}"].endswith("its call is needed by ranks 5, 6 and 7")


def test_published_and_measured_are_figures_of_their_own(two_cores):
    for kernel, axis in (("right_shift", "ranks"), ("distant_messages", "sizes")):
        found = parts(two_cores[kernel], TimeByRanks, TimeBySize)
        pair = [f"{kernel}_{axis}_published", f"{kernel}_{axis}_measured"]
        assert [figure.name for figure in found[:2]] == pair
    figures = {
        figure.name: figure for figure in parts(two_cores["right_shift"], TimeByRanks, TimeBySize)
    }
    shown = figures["right_shift_ranks_measured"].table.rows
    series = {row["series"] for row in shown if row["x"] > 2}
    assert series and all("crowded" in name for name in series)
    assert not any("crowded" in row["series"] for row in shown if row["x"] == 2)
    published = figures["right_shift_ranks_published"].table.rows
    assert [row["x"] for row in published[:5]] == [16, 32, 64, 128, 256]
    assert published[0]["value"] == pytest.approx(3.12e-6)
    assert "right_shift_sizes_measured" in figures


@pytest.mark.slow
def test_a_failure_at_the_end_keeps_its_samples_and_a_crash_has_its_word(tmp_path):
    def status(cell):
        if cell.at["interface"] == "mpi2":
            return "crash", "rank 1: signal 11"
        last = cell.at["interface"] == "mpi3" and cell.at["size_bytes"] == "8"
        return ("teardown_failure", "MPI_Finalize") if last else ("ok", None)

    broken = made.Environment("broken-1", "other", statuses=status)
    absent = made.Environment("absent-1", "other", unavailable="not there")
    found = materials(
        made.campaign, tmp_path, environments=(broken, absent), kernels=["all_to_all"], ranks=[2, 4]
    )["all_to_all"]
    rows = {(row["environment"], row["way"]): row for row in today(found).rows}
    assert rows["broken-1", "MPI-2, fence, create, rotated"]["mean_2"] == verdicts.CRASH
    kept = rows["broken-1", "MPI-3, flush, create, rotated"]
    assert isinstance(kept["mean_2"], Measure)
    assert kept["mean_2"].remark == verdicts.TEARDOWN_FAILURE
    assert rows["absent-1", "MPI, collective"]["mean_2"] == verdicts.UNAVAILABLE
    # cells that were not run do not say how many cores they would have had; the others do
    assert rows["absent-1", "MPI, collective"]["mean_4_crowded"] == verdicts.UNAVAILABLE
    assert "mean_4" not in rows["absent-1", "MPI, collective"]


def test_the_median_is_the_figure_that_campaigns_are_compared_by(two_cores):
    merit = two_cores["right_shift"].experiment.merit
    assert (merit.metric, merit.statistic) == ("time", MEDIAN)


def test_the_study_has_a_page_with_everything(tmp_path):
    folder = made.campaign(tmp_path, kernels=["naive_broadcast"], ranks=[2, 4])
    analyse(folder, find())
    beside = report.build(report.load(folder, find())).parent
    text = (beside / "luecke.html").read_text("utf-8")
    for told in ("Five patterns, three interfaces", "Naive broadcast", "says milliseconds", "5.96"):
        assert told in text
    for name in ("luecke_table3_published", "luecke_table3_measured", "naive_broadcast_claims",
                 "naive_broadcast_target_computes", "naive_broadcast_ranks_published"):  # fmt: skip
        assert (beside / f"{name}.csv").is_file()

"""The page of the three exchanges: the answer, today's rows, every number of the source."""

import csv
import io
import re
from collections import Counter

import pytest
from llnl_tables import GIVEN, ROWS_AND_NUMBERS
from made_up import exchanges as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts

from onesided import report
from onesided.report.by_cores import ByRanks, Growth
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.numbers import DASH
from onesided.report.parts import Folded
from onesided.report.published import PublishedTable
from onesided.report.ratios import Ratios
from onesided.studies import find
from onesided.studies.llnl.curve import Curve, published_points, spread
from onesided.studies.llnl.exchange import PerNode, Summary
from onesided.studies.llnl.some_to_some import Maps
from onesided.studies.parts.exchanges import BANDWIDTH
from onesided.studies.parts.faster import NOTHING, ONE, TWO, Faster
from onesided.studies.parts.today import Today


@pytest.mark.parametrize("kernel", ["latency_bandwidth", "swapped_all_to_all"])
def test_the_answer_names_the_faster_side_the_factor_and_the_crossover(two_cores, kernel):
    prose, table = parts(two_cores[kernel], Faster)
    assert len(prose.sentences) == 2
    for name, sentence in zip((MPICH, OPENMPI), prose.sentences, strict=True):
        said = re.match(
            rf"{name}: two-sided is faster up to ([\d.]+)\skB "
            rf"\(interval ([\d.]+)\skB {DASH} ([\d.]+)\skB\), one-sided above; ",
            sentence,
        )
        middle, low, high = (1000 * float(number) for number in said.groups())
        assert low <= middle <= high
        assert middle == pytest.approx(made.CROSSOVER_BYTES, rel=0.1)
        assert "one-sided is at best" in sentence
        assert "two-sided is at best" in sentence
    first, last = table.rows[0], table.rows[-1]
    assert (first["size"], first[MPICH], last[MPICH]) == (8, TWO, ONE)
    assert first[f"ratio_{MPICH}"].value == pytest.approx(4, rel=0.02)
    assert last[f"ratio_{MPICH}"].value == pytest.approx(0.5, rel=0.02)


def test_a_crossover_of_one_launch_has_no_range(tmp_path):
    own = materials(made.campaign, tmp_path, kernels=["latency_bandwidth"], ranks=[2], rounds=1)
    prose, _ = parts(own["latency_bandwidth"], Faster)
    for sentence in prose.sentences:
        words = r"two-sided is faster up to about [\d.]+\skB, one-sided above \(one launch\); "
        assert re.search(words, sentence)


def test_a_side_that_is_always_faster_is_named_without_a_crossover(tmp_path):
    own = materials(
        made.campaign, tmp_path, times=made.always_faster, kernels=["some_to_some"], ranks=[2]
    )
    prose, _ = parts(own["some_to_some"], Faster)
    for sentence in prose.sentences:
        assert "one-sided is faster from 8\u202fB to 20\u202fMB; " in sentence


def test_no_answer_rests_on_more_ranks_than_cores(two_cores, tmp_path):
    for material in two_cores.values():
        _, table = parts(material, Faster)
        assert {row["where"].split(", ")[1] for row in table.rows} == {"2 ranks"}
    crowded = materials(made.campaign, tmp_path, cores=1, kernels=["latency_bandwidth"], ranks=[2])
    (prose,) = parts(crowded["latency_bandwidth"], Faster)
    assert prose.sentences == [NOTHING]


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_cells_with_more_ranks_than_cores_are_in_a_table_of_their_own(two_cores, kernel):
    opening, every, crowd = parts(two_cores[kernel], Today)
    assert isinstance(every, Folded)
    assert {row["ranks"] for row in (*opening.rows, *every.part.rows)} == {2}
    assert crowd.summary == "More ranks than cores"
    assert {row["ranks"] for row in crowd.part.rows} == {4, 8}
    assert "no claim and no ratio rests on it" in crowd.part.caption


@pytest.mark.parametrize(
    ("kernel", "ranks", "size", "sent"),
    [
        ("latency_bandwidth", 2, 1000000, 1000000),
        ("swapped_all_to_all", 8, 1000000, 7 * 1000000),
        ("some_to_some", 4, 262144, 262144),
    ],
)
def test_the_bandwidth_is_what_a_process_sends_over_the_time_of_the_slowest(
    two_cores, kernel, ranks, size, sent
):
    material = two_cores[kernel]
    for cell in material.cells:
        at = cell.labels
        if cell.ranks == ranks and made.size_of(at) == size and at.get("sides") != "double":
            factor = {MPICH: 1.0, OPENMPI: 2.0}[cell.environment]
            expected = sent / factor / made.time_s(kernel, ranks, at)
            found = material.measure(cell, BANDWIDTH, "median")
            assert found.value == pytest.approx(expected, rel=0.03)


def test_claims_are_computed_and_need_a_core_for_each_rank(two_cores, tmp_path):
    (claims,) = parts(two_cores["some_to_some"], Claims)
    assert [row[MPICH] for row in claims.rows] == [HOLDS, *[NOT_MEASURED] * 3]
    enough = materials(made.campaign, tmp_path, cores=8, kernels=["some_to_some"], ranks=[2, 4])
    (claims,) = parts(enough["some_to_some"], Claims)
    assert [row[MPICH] for row in claims.rows] == [HOLDS, HOLDS, NOT_MEASURED, NOT_MEASURED]


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_what_the_same_buffers_change_is_a_ratio_and_no_side_of_the_answer(two_cores, kernel):
    material = two_cores[kernel]
    (table,) = parts(material, Ratios)
    names = made.TWO_SIDED[kernel]
    sides = 2 if kernel == "some_to_some" else 1
    assert len(table.rows) == len(made.SIZES) * sides
    own = 1 + names.index({"some_to_some": "asynchronous"}.get(kernel, names[0]))
    for row in table.rows:
        assert row["ranks"] == 2
        assert row[MPICH].value == pytest.approx(3 / own, rel=0.03)
    _, answer = parts(material, Faster)
    assert not [row for row in answer.rows if "same buffers" in str(row)]


def placed(folder, kernel, slower, **options):
    """Return the material of a kernel with a partition for each number of ranks per node."""
    options = {"ranks": [8], **options}
    return materials(made.placed, folder, slower=slower, kernels=[kernel], **options)[kernel]


def claimed(material):
    """Return the rows of the claims about ranks per node."""
    (claims,) = parts(material, Claims)
    return [row for row in claims.rows if " by processes per node" in row["source"]]


#: The factors of all times by ranks per node, and the outcomes of each kernel's two claims.
PLACED = [
    ("swapped_all_to_all", {1: 1, 2: 1.5, 4: 2, 8: 1}, [HOLDS, HOLDS]),
    ("swapped_all_to_all", {1: 2, 2: 1.5, 4: 1, 8: 1}, [HOLDS, DOES_NOT_HOLD]),
    ("swapped_all_to_all", {1: 1, 2: 1.1, 4: 1.2, 8: 1}, [DOES_NOT_HOLD, HOLDS]),
    ("some_to_some", {1: 2, 4: 2, 8: 1}, [HOLDS, HOLDS]),
    ("some_to_some", {1: 1, 4: 2, 8: 2}, [HOLDS, DOES_NOT_HOLD]),
    ("some_to_some", {1: 1, 4: 1, 8: 0.95}, [DOES_NOT_HOLD, HOLDS]),
]


@pytest.mark.one_case("slower", "expected")
@pytest.mark.parametrize(("kernel", "slower", "expected"), PLACED)
def test_a_claim_on_ranks_a_node_is_decided_across_partitions(tmp_path, kernel, slower, expected):
    rows = claimed(placed(tmp_path, kernel, slower))
    for name in (MPICH, OPENMPI):
        for per_node in slower:
            assert [row[f"{name} (by_{per_node})"] for row in rows] == expected
    assert "8 ranks, " in rows[0][f"why_{MPICH} (by_1)"]


def test_ranks_a_node_have_a_table_with_values_and_ratios_beside_the_published(tmp_path):
    slower = {1: 1, 2: 1.5, 4: 2, 8: 0.5}
    material = placed(tmp_path, "swapped_all_to_all", slower, ranks=[4, 8])
    own, ratios, others = parts(material, PerNode)
    rows = {(r["ranks"], r["size"], r["per_node"].number): r for r in own.rows}
    assert {key[2] for key in rows if key[0] == 8} == set(slower)
    assert {key[2] for key in rows if key[0] == 4} == {1, 2, 4}
    for name, factor in ((MPICH, 1), (OPENMPI, 2)):
        for many, slowness in slower.items():
            at = {"interface": "alltoall", "flavor": "none", "size_bytes": "1000000"}
            time = factor * slowness * made.time_s("swapped_all_to_all", 8, at)
            assert rows[8, 1000000, many][name].value == pytest.approx(7e6 / time, rel=0.03)
    assert others.part.rows and all(row["way"] != "MPI_Alltoall" for row in others.part.rows)
    beside = {row["per_node"].number: row for row in ratios.rows}
    assert sorted(beside) == [1, 2, 4, 8, 16]
    assert beside[4][MPICH].value == pytest.approx(0.5, rel=0.03)
    assert beside[8][OPENMPI].value == pytest.approx(2, rel=0.03)
    assert beside[4]["Thunder"] == pytest.approx(115 / 361)
    assert beside[16]["Frost"] == pytest.approx(121 / 156)
    assert beside[16][MPICH] is None and beside[8]["Thunder"] is None


def test_growth_over_ranks_names_the_nodes_of_the_launches(tmp_path):
    material = placed(tmp_path, "swapped_all_to_all", {4: 1}, ranks=[2, 4, 8, 16])
    found = {folded.part.name: folded.part for folded in parts(material, Growth)}
    assert found.keys() == {
        f"swapped_all_to_all_{metric}_growth{where}"
        for metric in ("time", "bandwidth")
        for where in ("", "_published")
    }
    for row in found["swapped_all_to_all_time_growth"].rows:
        assert row[MPICH] == "linear"
        nodes = " with 2 and 4 ranks on one node, 8 on 2 nodes, 16 on 4 nodes; excluded: "
        assert nodes in row[f"growth_{MPICH}"]
    for row in found["swapped_all_to_all_bandwidth_growth"].rows:
        assert row[MPICH] == "constant"


@pytest.mark.parametrize(
    ("kernel", "size"), [("swapped_all_to_all", "1000000"), ("some_to_some", "262144")]
)
def test_the_bandwidth_over_ranks_is_below_the_curves_of_the_sources_machines(
    two_cores, kernel, size
):
    then, now = parts(two_cores[kernel], ByRanks)
    assert (then.name, now.name) == (f"{kernel}_ranks_published", f"{kernel}_ranks_measured")
    drawn = {(row["series"], str(row["ranks"])): row["shown"] for row in then.table.rows}
    own = {"swapped_all_to_all": 2155e6, "some_to_some": 1290e6}
    assert drawn["Purple", "4"] == pytest.approx(own[kernel])
    assert "2006" in then.caption and "compare shapes, not heights" in then.caption
    assert {row["panel"] for row in now.table.rows} == {MPICH, OPENMPI}
    assert size in now.caption
    assert {(str(row["ranks"]), row["series"]) for row in now.table.rows} == {
        ("2", "a core for each rank"), ("4", "crowded"), ("8", "crowded"),
    }  # fmt: skip


def test_with_one_placement_the_page_says_which_from_the_data(tmp_path):
    material = placed(tmp_path / "one", "swapped_all_to_all", {4: 1}, ranks=[4, 8], rounds=2)
    (prose,) = parts(material, PerNode)
    assert prose.sentences[0].startswith(
        "Measured on laptop:by_4: 4 ranks with 4 a node, 8 ranks with 4 a node. No number of ranks"
    )
    for row in claimed(material):
        assert row[MPICH] == NOT_MEASURED
        why = "measured were 4 ranks with 4 a node, 8 ranks with 4 a node"
        assert row[f"why_{MPICH}"] == why
    crowd = placed(
        tmp_path / "two", "swapped_all_to_all", {1: 1, 8: 1}, ranks=[8], rounds=2, cores=2
    )
    (prose,) = parts(crowd, PerNode)
    assert (
        "laptop:by_1 and laptop:by_8: 8 ranks with 1 a node. "
        "With more ranks than cores: 8 ranks with 8 a node." in prose.sentences[0]
    )


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("kernel", "ranks", "way"),
    [("swapped_all_to_all", 4, "MPI_Alltoall"), ("some_to_some", 16, "posted receives")],
)
def test_the_summary_has_todays_values_at_its_number_of_ranks(tmp_path, kernel, ranks, way):
    options = {"kernels": [kernel], "rounds": 2}
    found = materials(made.campaign, tmp_path / "with", ranks=[2, ranks], **options)[kernel]
    (table,) = parts(found, Summary)
    assert {(row["ranks"], row["way"]) for row in table.rows} == {(ranks, way)}
    assert max(row["size"] for row in table.rows) == made.SIZES[-1]
    assert f"More ranks than cores: {MPICH} and {OPENMPI}. " in table.caption
    without = materials(made.campaign, tmp_path / "without", ranks=[2, 8], **options)[kernel]
    (prose,) = parts(without, Summary)
    assert prose.title == f"With {ranks} ranks, as in LLNL's summary"
    assert prose.sentences == ["Not measured; measured with 2 and 8 ranks."]


def test_one_map_under_every_mpi_is_said_and_two_are(two_cores, tmp_path):
    (prose,) = parts(two_cores["some_to_some"], Maps)
    assert len(prose.sentences) == 3 * 2 * len(made.SIZES)  # ranks, sides, sizes
    for said in prose.sentences:
        assert said.endswith(f"checksum 1234abcd in every launch of {MPICH} and {OPENMPI}.")
    other = materials(
        made.campaign,
        tmp_path,
        checksum=lambda environment: made.CHECKSUM + (environment == OPENMPI),
        kernels=["some_to_some"],
        ranks=[2],
    )
    (prose,) = parts(other["some_to_some"], Maps)
    differing = f"the maps differ: 1234abcd ({MPICH}) and 1234abce ({OPENMPI})."
    assert all(said.endswith(differing) for said in prose.sentences)


def test_the_curve_has_every_number_of_the_source_and_todays_apart(two_cores):
    (curve,) = [
        one
        for one in two_cores["latency_bandwidth"].experiment.page.contents
        if isinstance(one, Curve)
    ]
    then = published_points(curve.published)
    assert len(then) == ROWS_AND_NUMBERS["lbw_sizes"][1]
    (figure,) = curve.parts(two_cores["latency_bandwidth"])
    rows = list(csv.DictReader(io.StringIO(figure.table.csv_text())))
    assert len(rows) == len(then) + 2 * len(curve.interfaces) * len(made.SIZES)
    for drawing in (figure.wide, figure.narrow):
        for name in ("Purple", "BG/L", MPICH, OPENMPI):
            assert name in drawing


def test_labels_at_the_ends_of_lines_do_not_meet():
    found = spread({"a": 1.0, "b": 1.01, "c": 3.0, "d": 1.02}, 0.1)
    assert found == pytest.approx({"a": 1.0, "b": 1.1, "d": 1.2, "c": 3.0})


def test_every_number_of_the_source_is_in_the_report(two_cores, two_cores_folder):
    """As printed: in the page's own tables, and in the HTML of these tables."""
    report.build(report.load(two_cores_folder, find()))
    html = (two_cores_folder / "report" / "llnl.html").read_text("utf-8")
    every = (part for one in two_cores.values() for part in parts(one, PublishedTable))
    tables = [part.part if isinstance(part, Folded) else part for part in every]
    shown = {table.name: table for table in tables}
    machines = shown.pop("llnl_machines_published")
    assert len(machines.rows) == 8
    assert shown.keys() == {f"llnl_{name}_published" for name in ROWS_AND_NUMBERS}
    total = 0
    for name, (rows, numbers) in ROWS_AND_NUMBERS.items():
        table = shown[f"llnl_{name}_published"]
        columns = [column for column in table.columns if column.key not in GIVEN]
        cells = [(row[one.key], str(one.html(row))) for row in table.rows for one in columns]
        printed = [(digits, text) for digits, text in cells if re.match(r"\d", digits)]
        assert (len(table.rows), len(printed)) == (rows, numbers)
        (own,) = re.findall(rf'data-table="{table.name}"(.*?)</table>', html, re.DOTALL)
        found = Counter(re.findall(r"<td[^>]*>(.*?)</td>", own, re.DOTALL))
        for text, times in Counter(text for _, text in printed).items():
            assert found[text] >= times, (name, text)
        total += numbers
    assert total == 791

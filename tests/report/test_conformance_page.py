"""The page of conformance: counts, what failed cells have in common, and known defects."""

from dataclasses import replace

import pytest
from made_up import conformance as made
from made_up.conformance import environment, where
from made_up.generator import MPICH, OPENMPI
from opened import WIDTHS, opened
from shown import materials, parts

from onesided import report
from onesided.report import numbers
from onesided.report.material import Cell
from onesided.studies import find
from onesided.studies.data import upstream
from onesided.studies.data.counts import Counts, Cross
from onesided.studies.data.failures import Failures
from onesided.studies.data.upstream import Defects, UpstreamDefect, known_of

PUTS = sum(at["call"] == "put" for at in made.CELLS)
SWAP = {"call": "compare_and_swap", "window": "exact"}
DEFECT = UpstreamDefect(
    id="open-mpi/ompi#1",
    what="compare_and_swap of the last bytes of a window is refused",
    family="openmpi",
    since=None,
    until=None,
    fixed=None,
    shows_as=("crash",),
    facts={},
    probe={axis: (value,) for axis, value in SWAP.items()},
)


@pytest.fixture
def made_of(tmp_path):
    """Return a function that gives the material of a campaign with such environments."""
    return lambda *own: materials(made.campaign, tmp_path, environments=own)["conformance"]


@pytest.fixture
def known(monkeypatch):
    """Return a function that replaces upstream's defects by such defects."""
    return lambda *own: monkeypatch.setattr(upstream, "known", lambda: own)


def counted(material, axis, value):
    (table,) = parts(material, Counts)
    (row,) = [row for row in table.rows if (row["axis"], row["value"]) == (axis, value)]
    return row


def failures(material):
    return [row for table in parts(material, Failures) for row in table.rows]


def word(material, name=OPENMPI):
    (table,) = parts(material, Defects)
    (row,) = table.rows
    return row.get(name)


def changed(material, verdict, **axes):
    """Return the same material with another verdict for the cells with such labels."""

    def is_meant(cell):
        return all(cell.labels[axis] == value for axis, value in axes.items())

    cells = [
        Cell({**cell.entry, "verdict": verdict}) if is_meant(cell) else cell
        for cell in material.cells
    ]
    return replace(material, cells=cells)


def test_cells_are_counted_by_each_value_of_each_axis_and_mpi(made_of):
    material = made_of(environment(MPICH), environment(OPENMPI, where("crash", flavor="create")))
    row = counted(material, "flavor", "create")
    assert (row[MPICH], row[OPENMPI]) == ("✓ 1", "✗ 1 of 1")
    assert (row[f"{OPENMPI} run"], row[f"{OPENMPI} failed"]) == (1, 1)
    puts = counted(material, "call", "put")
    assert (puts[MPICH], puts[OPENMPI]) == (f"✓ {PUTS}", f"✗ 1 of {PUTS}")
    assert not [row for row in parts(material, Counts)[0].rows if row["value"] == "none"]


@pytest.mark.parametrize("verdict", ["unavailable", "unsupported", "not run", "no effect"])
def test_cells_that_say_nothing_of_the_data_do_not_count(made_of, known, verdict):
    known(DEFECT)
    material = changed(made_of(environment(OPENMPI)), verdict, call="put", count="255")
    assert counted(material, "call", "put")[OPENMPI] == f"✓ {PUTS - 1}"
    assert counted(material, "count", "255")[OPENMPI] is None
    assert failures(material) == []
    assert parts(changed(material, verdict, **SWAP), Defects) == []


def test_nothing_is_counted_where_nothing_was_run(made_of):
    material = made_of(environment(MPICH, where("unavailable")))
    assert parts(material, Counts, Cross, Defects) == []


def test_two_axes_are_counted_together_for_each_mpi(made_of):
    bad = where("wrong_data", element="double", operator="max")
    (table,) = parts(made_of(environment(MPICH, bad), environment(OPENMPI)), Cross)
    found = {(row["environment"], row["value"]): row.get("accumulate") for row in table.rows}
    assert found == {
        (MPICH, "int32"): "✓ 2",
        (MPICH, "double"): "✗ 1 of 2",
        (OPENMPI, "int32"): "✓ 2",
        (OPENMPI, "double"): "✓ 2",
    }


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"layout_target": "vector"}, "layout target vector"),
        ({"layout_target": "vector", "layout_origin": "plain"},
         "layout target vector; layout origin plain"),
        ({"outstanding": "255"}, "outstanding 255"),
        ({"call": "put"}, numbers.DASH),
    ],
)  # fmt: skip
def test_failures_have_in_common_what_tells_them_from_the_others_and_nothing_else(
    made_of, axes, told
):
    bad = where("wrong_data", **{"call": "put", **axes})
    (row,) = failures(made_of(environment(MPICH), environment(OPENMPI, bad)))
    assert (row["environment"], row["verdict"], row["call"]) == (OPENMPI, "wrong data", "put")
    many = sum(bad(at) is not None for at in made.CELLS)
    assert (row["cells"], row["common"]) == (f"{many} of {PUTS}", told)
    assert "wrong_data at" in row["detail"]


def test_the_setting_is_told_like_an_axis_and_each_verdict_has_its_row(made_of):
    bad, worse = where("crash", call="put"), where("hang", call="accumulate", element="double")
    material = made_of(environment(OPENMPI, worse), environment(OPENMPI, bad, setting="osc_ucx"))
    rows = {(row["verdict"], row["call"]): row for row in failures(material)}
    program = {key: row["reproduce"].partition("' ")[2] for key, row in rows.items()}
    assert program == {("crash", "put"): "--setting osc_ucx", ("hang", "accumulate"): ""}
    found = {key: row["common"] for key, row in rows.items()}
    assert found == {
        ("crash", "put"): "setting osc_ucx",
        ("hang", "accumulate"): "setting default; element double",
    }


@pytest.mark.parametrize("width", WIDTHS)
def test_a_failure_has_the_whole_of_its_command_and_the_table_fits(
    browser, made_of, tmp_path, width
):
    made_of(environment(MPICH), environment(OPENMPI, where("crash", call="put")))
    report.build(report.load(tmp_path, find()))
    with opened(browser, tmp_path / "report" / "data.html", width) as page:
        region = page.locator("[data-table=data_failures] .region")
        assert region.evaluate("one => one.scrollWidth <= one.clientWidth")
        command = region.locator("code.command")
        assert command.inner_text().startswith(f"onesided reproduce {OPENMPI} 'call=put,")
        assert command.evaluate("one => one.scrollWidth <= one.clientWidth")
        assert command.evaluate("one => getComputedStyle(one).userSelect") == "all"


def test_a_known_defect_is_beside_the_failures_that_it_accounts_for(made_of, known):
    material = made_of(environment(OPENMPI, where("crash", call="compare_and_swap")))
    assert failures(material)[0]["known"] == "not known upstream"
    known(DEFECT, replace(DEFECT, id="open-mpi/ompi#2", family="mpich"))
    assert failures(material)[0]["known"] == "known: open-mpi/ompi#1 (1 of 2)"
    known(replace(DEFECT, fixed="main, pull 3"))
    assert failures(material)[0]["known"] == "known: open-mpi/ompi#1 (1 of 2, said to be fixed)"


@pytest.mark.parametrize(
    ("change", "accounts"),
    [
        ({}, True),
        ({"shows_as": ("hang", "wrong data")}, False),
        ({"family": "mpich"}, False),
        ({"since": "5.0.12"}, False),
        ({"until": "5.0.11"}, False),
        ({"since": "5.0.2", "until": "5.0.12"}, True),
        ({"probe": {"setting": ("default", "tcp")}}, True),
        ({"probe": {"setting": ("tcp",)}}, False),
        ({"probe": {"window": ("roomy",)}}, False),
        ({"probe": {"window": ("roomy", "exact"), "outstanding": ("4",)}}, True),
    ],
)
def test_a_defect_accounts_for_a_cell_of_its_versions_and_its_probe(known, change, accounts):
    known(replace(DEFECT, **change))
    labels = {**SWAP, "outstanding": 4}
    cell = Cell({"verdict": "crash", "setting": "default", "labels": labels})
    assert bool(known_of(cell, ("openmpi", "5.0.11"))) == accounts


@pytest.mark.parametrize(
    ("status", "since", "until", "said"),
    [
        ("crash", None, None, "shows: 1 of 1"),
        ("crash", "5.0.2", None, "shows: 1 of 1"),
        ("crash", "4.1", "5.0.2", "shows: 1 of 1, not as said"),
        ("crash", "5.0.12", None, "shows: 1 of 1, not as said"),
        (None, None, None, "does not show: 1 right"),
        (None, "4.1", None, "does not show: 1 right"),
        (None, "4.1", "5.0.2", "does not show: 1 right"),
        (None, "5.0.11", None, "does not show: 1 right, not as said"),
        (None, "4.1", "6.0", "does not show: 1 right, not as said"),
        ("hang", "4.1", "6.0", "1 failed otherwise"),
    ],
)
def test_it_is_said_whether_an_mpi_shows_a_defect_as_its_version_is_said_to(
    made_of, known, status, since, until, said
):
    known(replace(DEFECT, since=since, until=until))
    material = made_of(environment(MPICH), environment(OPENMPI, where(status, **SWAP)))
    assert word(material) == said
    assert word(material, MPICH) is None


@pytest.mark.parametrize(
    ("change", "seen", "fixed"),
    [
        ({}, "not said", "not said"),
        ({"since": "4.1", "fixed": "main, pull 3"}, "4.1", "main, pull 3"),
        ({"until": "5.0.2", "fixed": "main, pull 3"}, "not said", "5.0.2"),
    ],
)
def test_it_is_told_where_a_defect_was_seen_and_where_it_was_fixed(
    made_of, known, change, seen, fixed
):
    known(replace(DEFECT, **change))
    ((row,),) = [table.rows for table in parts(made_of(environment(OPENMPI)), Defects)]
    assert (row["id"], row["what"]) == (DEFECT.id, DEFECT.what)
    assert (row["since"], row["fixed"]) == (seen, fixed)


def test_of_many_cells_the_right_ones_say_that_a_defect_does_not_show(made_of, known):
    known(replace(DEFECT, probe={"call": ("put",)}))
    material = made_of(environment(OPENMPI, where("hang", call="put", count="255")))
    assert word(material) == f"does not show: {PUTS - 1} right, 1 failed otherwise"


def test_a_defect_that_no_cell_probes_has_no_row_and_is_counted(made_of, known):
    left = replace(DEFECT, id="open-mpi/ompi#2", probe={"setting": ("osc_ucx",)})
    material = made_of(environment(OPENMPI))
    known(left)
    assert parts(material, Defects) == []
    known(DEFECT, left, replace(left, id="pmodels/mpich#1", family="mpich"))
    (table,) = parts(material, Defects)
    assert [row["id"] for row in table.rows] == [DEFECT.id]
    assert table.caption.endswith("1 more needs a cell that this campaign does not run.")


def test_a_defect_that_no_cell_can_probe_says_so_and_why(made_of, known):
    reason = "the program needs InfiniBand"
    known(replace(DEFECT, probe={}, not_probed=reason))
    assert word(made_of(environment(MPICH), environment(OPENMPI))) == f"not probed: {reason}"
    broken = made_of(environment(OPENMPI, where("crash", call="put")))
    assert word(broken) == f"not probed: {reason}"
    assert {row["known"] for row in failures(broken)} == {"not known upstream"}


def test_a_defect_that_comes_now_and_then_is_not_said_to_be_gone(made_of, known):
    known(replace(DEFECT, now_and_then=True, since="5.0.11"))
    assert word(made_of(environment(OPENMPI))) == "not seen, comes now and then: 1 right"
    assert word(made_of(environment(OPENMPI, where("crash", **SWAP)))) == "shows: 1 of 1"

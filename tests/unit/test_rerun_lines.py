"""Claims about the command of each report row: it names one cell; a bad command names one fault."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import defaultdict

import pytest
from made_up import (
    active,
    collectives,
    conformance,
    counter,
    dinan,
    exchanges,
    files,
    messages,
    overlap,
    patterns,
    progress,
    sharing,
    threads,
    windows,
)

from onesided import cli, studies
from onesided.campaign.tables import IDENTITY, read_campaign
from onesided.environments import declarations, provision
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import verdicts
from onesided.report import grid
from onesided.report.material import Cell, load
from onesided.rerun import cell_line
from onesided.rerun.cell_line import Lines, is_named_by, telling, words

MPI = "mpich-5.0.2"


STUDIES = [
    active, collectives, conformance, counter, dinan, exchanges, files, messages, overlap, patterns,
    progress, sharing, threads, windows,
]  # fmt: skip
LARGE = (exchanges, patterns, progress)
"""Studies whose made-up campaigns have many rows: `make test` has the commands of the others."""
SPREAD = 4
"""Rows of each table whose command is looked up as `onesided rerun` does."""
PARSER = cli.build_parser(["rerun"])


def asked_by(line):
    """Return what the command understands of a line, as a shell passes it."""
    program, *arguments = shlex.split(line)
    assert program == "onesided"
    options = PARSER.parse_args(arguments)
    asked = cell_line.Asked(options.environment, options.cell, options.test, options.partition)
    return asked, options.results


@pytest.mark.parametrize(
    "study",
    [pytest.param(one, marks=pytest.mark.slow) if one in LARGE else one for one in STUDIES],
    ids=lambda study: study.__name__,
)
def test_the_line_of_each_row_names_its_cell_and_no_other(study, tmp_path, monkeypatch):
    monkeypatch.setenv("ONESIDED_RESULTS", str(tmp_path))
    folder = tmp_path / "synthetic"
    study.campaign(folder, rounds=1)
    analyse(folder, studies.find())
    loaded = load(folder, studies.find())
    alike = defaultdict(list)
    for one in loaded.cells:
        alike[one.cell].append(one.entry)
    declared = declarations.declared(in_containers=True)
    for material in loaded.materials():
        rows = list(csv.DictReader(io.StringIO(grid.cells_table(material).csv_text())))
        assert len(rows) == len(material.cells)
        for row in rows:
            asked, results = asked_by(row["again"])
            assert results == "synthetic"
            own = [entry for entry in alike[row["cell"]] if asked.is_entry(entry)]
            assert {(one["environment"], one["test"]) for one in own} == {
                (row["environment"], row["test"])
            }
        known = [row for row in rows if row["environment"] in declared]
        for row in known[:: len(known) // SPREAD + 1]:
            asked, results = asked_by(row["again"])
            found = cell_line.find(asked, results).entry
            assert [found[name] for name in ("environment", "test", "cell")] == [
                row[name] for name in ("environment", "test", "cell")
            ]


def cell(test, **changes):
    entry = {
        **dict.fromkeys(IDENTITY, "x"),
        "system": "laptop",
        "partition": "node",
        "environment": MPI,
        "test": test,
        "cell": "a=1",
        "labels": {"a": "1"},
        "verdict": "waits",
        "launches": 6,
    }
    return Cell({**entry, **changes})


@pytest.mark.parametrize(
    ("tests", "named"),
    [
        (["A %ranks=2"], [None]),
        (["A %s=tcp %ranks=2", "A %s=tcp %ranks=4"], ["ranks=2", "ranks=4"]),
        (["A %ranks=2", "B %ranks=2"], ["A", "B"]),
        (
            ["A %s=x %ranks=2", "A %s=y %ranks=2", "A %s=x %ranks=4"],
            ["s=x ranks=2", "s=y ranks=2", "s=x ranks=4"],
        ),
        (["A %ranks=2", "A %ranks=2 %size=8"], ["A %ranks=2", "size=8"]),
        (["A b %ranks=2", "A c %ranks=2"], ["A b %ranks=2", "A c %ranks=2"]),
    ],
)
def test_a_test_is_named_by_the_words_that_tell_it_from_others(tests, named):
    lines = Lines.of("quick", [cell(test) for test in tests])
    for test, expected in zip(tests, named, strict=True):
        assert telling(test, tests) == expected
        asked, results = asked_by(lines.line(cell(test)))
        assert (asked.test, results) == (expected, None)
        if expected:
            assert [one for one in tests if is_named_by(one, expected)] == [test]


def test_cells_of_several_partitions_and_of_another_campaign_are_named_by_these():
    cells = [cell("A"), cell("A", partition="gpu")]
    lines = Lines.of("papers", cells)
    assert lines.line(cells[1]) == (
        f"onesided rerun {MPI} 'a=1' --partition laptop:gpu --results papers"
    )


def test_a_name_that_a_shell_would_take_for_something_else_is_quoted():
    odd = cell("A", cell="a='$(x)'", environment="e; rm", labels={"a": "'$(x)'"})
    asked, _ = asked_by(Lines.of("quick", [odd]).line(odd))
    assert (asked.environment, asked.cell) == ("e; rm", "a='$(x)'")
    assert words("A %b=c d") == ("A", "b=c d")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Two campaigns of results; quick is the older one; nothing may be installed."""

    def refuse(*names, **options):
        pytest.fail("something was provided")

    monkeypatch.setenv("ONESIDED_RESULTS", str(tmp_path))
    monkeypatch.setattr(provision, "provide_all", refuse)
    for name, levels in (("quick", ("single",)), ("later", ("single", "multiple"))):
        folder = tmp_path / name
        counter.campaign(folder, rounds=1, levels=levels, algorithms=("fetch_and_op",))
        analyse(folder, studies.find())
    return tmp_path


def of(folder, **labels):
    cells = json.loads((folder / "verdicts.json").read_text())["cells"]
    return next(one for one in cells if labels.items() <= {**one, **one["labels"]}.items())


def test_quick_is_looked_at_first_and_then_the_newest_results(results):
    in_both = of(results / "quick", environment=MPI)
    assert cell_line.find(cell_line.Asked(MPI, in_both["cell"])).folder == results / "quick"
    later = of(results / "later", environment=MPI, case="helper_blocked")
    assert cell_line.find(cell_line.Asked(MPI, later["cell"])).folder == results / "later"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nompi-1", "CELL"], "environments: found no nompi-1"),
        ([MPI, "put"], "cell: found 'put'; expected axis=value,axis=value"),
        ([MPI, "a=b"], f"found no results with {MPI} a=b"),
        ([MPI, "CELL", "--results", "nosuch"], "one of: later, quick"),
        ([MPI, "a=b", "--results", "quick"], "quick: cell: found a=b; expected a cell of"),
        (["openmpi-4.1.8", "CELL", "--results", "quick"], "an environment with this cell: mpich"),
        ([MPI, "CELL", "--results", "later"], "--test: found 2 tests with the cell; expected one"),
        ([MPI, "CELL", "--results", "quick", "--test", "ranks=9"], "--test: found 'ranks=9'"),
        ([MPI, "CELL", "--results", "quick", "--partition", "a:b"], "--partition: found 'a:b'"),
        ([MPI, "CELL", "--results", "quick"], "campaign.json: declared: found nothing"),
    ],
)
def test_bad_input_is_one_line_with_code_2_before_anything_is_installed(
    results, capsys, arguments, said
):
    real = of(results / "quick", environment=MPI, case="target_computes")["cell"]
    status = cli.main(["rerun", *(real if word == "CELL" else word for word in arguments)])
    told = capsys.readouterr().err
    assert status == 2
    assert told.count("\n") == 1
    assert said in told


def test_reproduce_of_a_cell_of_another_kernel_says_what_to_use(results, capsys):
    assert cli.main(["reproduce", MPI, "algorithm=fetch_and_op,flavor=create"]) == 2
    told = capsys.readouterr().err
    assert f"`onesided rerun {MPI} '...'` runs a cell of any kernel again" in told
    assert told.count("\n") == 1


def test_a_verdict_of_one_launch_is_the_one_that_launches_like_it_would_lead_to(tmp_path):
    counter.campaign(tmp_path, rounds=1, spreads=(50,), compute_ms=(10,))
    campaign = read_campaign(tmp_path)
    of_six = {
        one["cell"]: one["verdict"]
        for one in verdicts(campaign, studies.find())
        if one["environment"] == MPI
    }
    of_one = {
        one["cell"]: one["verdict"]
        for one in verdicts(campaign, studies.find(), of_one=True)
        if one["environment"] == MPI
    }
    computing = [cell for cell in of_six if "target_computes" in cell]
    assert {of_six[cell] for cell in computing} == {"undecided"}
    for cell in computing:
        waits = "flavor=create" in cell or "mpi2" in cell
        assert of_one[cell] == ("waits" if waits else "independent")

"""Claims about campaigns with many cells: parts and several processes give the same results."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from made_up import counter

from onesided.campaign import parquet
from onesided.campaign.tables import place_of
from onesided.cells import verdicts
from onesided.measure import analyse, cell_verdicts
from onesided.report.parts import Column, RowsOf, Table
from onesided.studies import find
from onesided.system import cores, documents, writing
from onesided.system.errors import InputError, OnesidedError

RESULTS = ("values.parquet", "summary.parquet", "verdicts.json")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = counter.campaign(tmp_path_factory.mktemp("campaign"))
    analyse.analyse(folder, find())
    return folder


def in_lots(monkeypatch, folder, most_cells):
    monkeypatch.setattr(analyse, "MOST_CELLS", most_cells)
    return analyse.batches_of(pl.scan_parquet(folder / "cells.parquet"))


def test_a_campaign_that_is_judged_in_lots_has_the_same_verdicts_and_values(campaign, monkeypatch):
    verdicts = (campaign / "verdicts.json").read_bytes()
    summary = pl.read_parquet(campaign / "summary.parquet")
    assert len(in_lots(monkeypatch, campaign, 500)) > 4
    counts = analyse.analyse(campaign, find())
    assert (campaign / "verdicts.json").read_bytes() == verdicts
    assert (
        pl.read_parquet(campaign / "summary.parquet").sort(pl.all()).equals(summary.sort(pl.all()))
    )
    assert counts == (summary.height, len(cell_verdicts.read_verdicts(campaign / "verdicts.json")))
    assert not list(campaign.glob(".*"))


def test_so_has_one_that_is_judged_by_several_processes(campaign, monkeypatch):
    before = [(campaign / name).read_bytes() for name in RESULTS]
    assert len(in_lots(monkeypatch, campaign, 400)) > 2
    analyse.analyse(campaign, find())
    one_process = [(campaign / name).read_bytes() for name in RESULTS]
    monkeypatch.setattr(cores, "WORTH_A_PROCESS", 0)
    analyse.analyse(campaign, find())
    assert [(campaign / name).read_bytes() for name in RESULTS] == one_process
    assert one_process[1] == before[1]


def test_a_lot_has_whole_tests_of_one_environment_and_every_cell_is_in_one(campaign, monkeypatch):
    cells = pl.read_parquet(campaign / "cells.parquet")
    found = in_lots(monkeypatch, campaign, 504)
    assert [len(lot.tests) for lot in found] == [2, 2, 2, 2]
    assert {lot.tests for lot in in_lots(monkeypatch, campaign, 503)} == {
        (name,) for name in cells["test"].unique()
    }
    assert sum(lot.cells for lot in found) == cells.height
    rows = [cells.filter(lot.where) for lot in found]
    assert [part.height for part in rows] == [lot.cells for lot in found]
    assert all(part["environment"].n_unique() == 1 for part in rows)
    monkeypatch.undo()
    assert analyse.batches_of(cells.lazy()) == [analyse.Batch(cells.height)]


def test_a_fault_in_one_of_several_processes_is_the_line_that_it_is_in_one(campaign, monkeypatch):
    path = campaign / "cells.parquet"
    whole, table = path.read_bytes(), pl.read_parquet(path)
    labels = (
        pl.when(pl.col("cell") == table["cell"][-1])
        .then(pl.lit("["))
        .otherwise("labels")
        .alias("labels")
    )
    verdicts = (campaign / "verdicts.json").read_bytes()
    in_lots(monkeypatch, campaign, 504)
    monkeypatch.setattr(cores, "WORTH_A_PROCESS", 0)
    try:
        table.with_columns(labels).write_parquet(path)
        with pytest.raises(InputError) as raised:
            analyse.analyse(campaign, find())
    finally:
        path.write_bytes(whole)
    assert (raised.value.source, raised.value.field, raised.value.found) == (
        str(path),
        "labels",
        "[",
    )
    assert (campaign / "verdicts.json").read_bytes() == verdicts


def test_results_of_several_processes_come_in_the_order_of_the_calls(monkeypatch):
    tasks = [(number, 2) for number in range(20)]
    assert list(cores.each(pow, tasks, cores.WORTH_A_PROCESS)) == [
        number**2 for number in range(20)
    ]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_the_processes_of_a_stage_that_is_killed_end_with_it(sign, tmp_path):
    program = tmp_path / "stage.py"
    program.write_text(
        "import time\n"
        "from onesided.system import cores\n"
        "if __name__ == '__main__':\n"
        "    list(cores.each(time.sleep, [(600,), (600,)], cores.WORTH_A_PROCESS))\n"
    )
    stage = subprocess.Popen([sys.executable, program], process_group=0)
    deadline = time.monotonic() + 60
    while len(own := group(stage.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(stage.pid, sign)
    stage.wait()
    while (left := group(stage.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(own) >= 3
    assert left == []


def group(leader):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        # a process that has just ended has no file left
        with contextlib.suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            if state[0] != "Z" and int(state[2]) == leader:
                found.append(folder.name)
    return found


@pytest.mark.parametrize("at_a_time", [1, 7, 1000])
def test_verdicts_are_read_alike_in_parts_of_any_size_and_in_any_layout(
    campaign, tmp_path, monkeypatch, at_a_time
):
    monkeypatch.setattr(cell_verdicts, "AT_A_TIME", at_a_time)
    written = json.loads((campaign / "verdicts.json").read_text())
    with monkeypatch.context() as patched:
        # while it is written, it is never in memory as a whole
        patched.delattr(documents, "read_json")
        assert cell_verdicts.read_verdicts(campaign / "verdicts.json") == written["cells"]
    other = tmp_path / "verdicts.json"
    other.write_text(json.dumps(written))
    assert cell_verdicts.read_verdicts(other) == written["cells"]


def test_two_cells_with_one_id_keep_their_own_labels(campaign, tmp_path):
    document = json.loads((campaign / "verdicts.json").read_text())
    first, second = document["cells"][:2]
    second.update(cell=first["cell"], labels={**first["labels"], "flavor": "other"})
    path = tmp_path / "verdicts.json"
    head = {"schema": document["schema"]}
    writing.write_json_of_lines(path, head, "cells", [writing.json_lines([first, second, first])])
    assert cell_verdicts.read_verdicts(path) == [first, second, first]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"launches": 6', '"launches": 0'),
        ('"verdict": "waits"', '"verdict": "waits", "verdict": "waits"'),
        ('"tau_s": null', '"tau_s": 1e999'),
        ('"detail": null', '"detail": "a\\u0000b"'),
        (" ]\n}\n", " ]\n"),
        ("},\n{", "}\n{"),
    ],
)
def test_what_is_wrong_with_one_of_many_verdicts_is_said(campaign, tmp_path, before, after):
    text = (campaign / "verdicts.json").read_text()
    assert before in text
    path = tmp_path / "verdicts.json"
    head, _, tail = text.rpartition(before)
    path.write_text(f"{head}{after}{tail}")
    with pytest.raises(InputError, match=r"verdicts\.json"):
        cell_verdicts.read_verdicts(path)


def test_rows_that_are_made_when_asked_for_are_those_of_a_list():
    rows = RowsOf(range(2500), lambda number: {"a": number, "b": number % 2 == 0})
    columns = [Column("a", "a"), Column("b", "b")]
    lazy, whole = (Table("t", "A table.", columns, some) for some in (rows, list(rows)))
    assert (len(rows), rows[7], rows[2:4]) == (2500, whole.rows[7], whole.rows[2:4])
    assert lazy.csv_text() == whole.csv_text()
    assert lazy.csv_text().splitlines()[:3] == ["a,b", "0,yes", "1,no"]
    assert len(lazy.csv_text().splitlines()) == 2501
    assert lazy.html(rows[:9]) == whole.html(whole.rows[:9])


def test_a_folder_of_parts_that_a_killed_stage_left_is_removed_as_unfinished_files_are(tmp_path):
    with writing.temporary_folder(tmp_path) as folder:
        (folder / "00000.cells.parquet").touch()
        made = folder.name
    assert list(tmp_path.iterdir()) == []
    (tmp_path / made).mkdir()
    (tmp_path / made / "00000.cells.parquet").touch()
    (tmp_path / "kept").touch()
    assert writing.remove_unfinished(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_list_is_written_in_lines_as_json_has_it(tmp_path):
    path = tmp_path / "document.json"
    for entries in ([], [{"a": 1}], [{"a": 1}, {"a": "ü\n"}, {}]):
        for parts in ([entries], [[one] for one in entries]):
            texts = [writing.json_lines(part) for part in parts if part]
            writing.write_json_of_lines(path, {"b": [2]}, "c", texts)
            assert json.loads(path.read_text()) == {"b": [2], "c": entries}
            assert len(path.read_text().splitlines()) == 7 + len(entries)


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_part(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def pieces():
        yield "new"
        raise OSError(28, os.strerror(28))

    with pytest.raises(OnesidedError, match="file: cannot be written: No space left"):
        writing.write_pieces(path, pieces())
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


def test_a_lot_is_judged_with_what_other_lots_tell_of_its_environment(
    tmp_path, campaign, monkeypatch
):
    """The threads without a setting are in one lot, the threads with a setting in another."""
    folder = tmp_path / "campaign"
    shutil.copytree(campaign, folder)
    record = json.loads((folder / "campaign.json").read_text())
    names = [document["name"] for document in record["environments"]]
    asked = {"variables": {}, "unavailable": None, "transport": {"progress_thread": True}}
    record["settings"] = {"async": dict.fromkeys(names, asked)}
    (folder / "campaign.json").write_text(json.dumps(record))
    cells = pl.read_parquet(folder / "cells.parquet").with_columns(
        threads_after_init=pl.lit(1, pl.Int64)
    )
    again = cells.filter(pl.col("thread_level") == "single").with_columns(
        test=pl.lit("SharedCounter_async"), setting=pl.lit("async")
    )
    pl.concat([cells, again]).write_parquet(folder / "cells.parquet")
    analyse.analyse(folder, find())
    whole = cell_verdicts.read_verdicts(folder / "verdicts.json")
    assert len(in_lots(monkeypatch, folder, 1)) == 12
    analyse.analyse(folder, find())
    found = cell_verdicts.read_verdicts(folder / "verdicts.json")
    ids = [(place_of(cell), cell["verdict"], cell["detail"]) for cell in found]
    assert sorted(ids) == sorted((place_of(c), c["verdict"], c["detail"]) for c in whole)
    changed = [cell for cell in found if cell["setting"] == "async"]
    assert changed and {cell["verdict"] for cell in changed if cell["valid_launches"]} == {
        verdicts.NO_EFFECT
    }


def test_a_part_that_cannot_be_written_is_one_line(tmp_path):
    table = pl.DataFrame({"a": [1]})
    with pytest.raises(OnesidedError, match=r"00007\.cells\.parquet: cannot be written: .*\S"):
        parquet.write_part(table, tmp_path / "none", 7, "cells.parquet")
    parquet.write_part(table, tmp_path, 7, "cells.parquet")
    (tmp_path / "00008.cells.parquet").write_bytes(b"PAR1")
    with pytest.raises(OnesidedError, match=r"cells\.parquet: cannot be written: .*\S"):
        parquet.join_parts(tmp_path / "cells.parquet", tmp_path)
    assert not (tmp_path / "cells.parquet").exists()

"""A setting counts only if its launches used the transport that the setting asks for."""

import json

import polars as pl
import pytest
from made_up import counter

from onesided.campaign.tables import CELL_COLUMNS
from onesided.cells import verdicts
from onesided.environments.transport import Transport
from onesided.measure import setting_check
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.studies import find

TCP = {"provider": "tcp", "shm": False}
ON_TCP = Transport("rdma", "ob1", "tcp", False)
ON_SM = Transport("sm", "ob1", None, True)


def row(transport=None, threads=None, setting="tcp", **changes):
    return {
        "system": "laptop",
        "partition": "node",
        "environment": "openmpi-5.0.11",
        "thread_level": "single",
        "ranks": 2,
        "placement": "unbound",
        "setting": setting,
        "transport": json.dumps(transport.document()) if transport else None,
        "threads_after_init": threads,
        **changes,
    }


def test_a_setting_that_asks_for_nothing_is_never_in_doubt():
    assert setting_check.check([row(), row(ON_SM)], {}, {}) == setting_check.SettingCheck()


def test_the_path_asked_for_proves_the_setting():
    found = setting_check.check([row(ON_TCP), row(ON_TCP)], TCP, {})
    assert found == setting_check.SettingCheck()
    assert found.note is None


def test_another_path_in_any_launch_says_no_effect():
    found = setting_check.check([row(ON_TCP), row(ON_SM)], TCP, {})
    assert found.differences == ("no shared memory asked for, shared memory found",)


def test_an_unknown_path_proves_and_disproves_nothing():
    found = setting_check.check([row(ON_TCP), row()], TCP, {})
    assert not found.differences
    assert found.note == "transport not proven: provider, shm not known"


def threads_of(*rows):
    names = (*setting_check.MACHINE, "setting", "threads_after_init")
    types = {name: CELL_COLUMNS[name] for name in names}
    return setting_check.default_threads(pl.DataFrame(rows, schema=types).lazy())


@pytest.mark.parametrize(
    ("own", "by_default", "differs", "unknown"),
    [(2, 1, False, False), (1, 1, True, False), (None, 1, False, True), (2, None, False, True)],
)
def test_a_progress_thread_is_proven_by_one_thread_more_than_by_default(
    own, by_default, differs, unknown
):
    threads = threads_of(row(threads=by_default, setting="default"))
    found = setting_check.check(
        [row(threads=own, setting="async")], {"progress_thread": True}, threads
    )
    assert bool(found.differences) == differs
    assert bool(found.unknown) == unknown


def test_threads_of_another_level_or_environment_are_no_measure():
    others = [
        row(threads=1, setting="default", thread_level="multiple"),
        row(threads=1, setting="default", environment="mpich-5.0.2"),
    ]
    found = setting_check.check([row(threads=2)], {"progress_thread": True}, threads_of(*others))
    assert found.unknown == ("progress_thread",)


@pytest.fixture
def campaign(tmp_path):
    """A campaign whose setting asks for TCP; a function gives the transport by flavor."""
    folder = counter.campaign(tmp_path, algorithms=("fetch_and_op",), levels=("single",))
    record = json.loads((folder / "campaign.json").read_text())
    names = [environment["name"] for environment in record["environments"]]
    record["settings"] = {"tcp": {name: {"transport": TCP} for name in names}}
    (folder / "campaign.json").write_text(json.dumps(record))

    def judged(create, allocate, first_status="ok"):
        found = {
            flavor: json.dumps(one.document()) if one else None
            for flavor, one in (("create", create), ("allocate", allocate))
        }
        path = folder / "cells.parquet"
        cells = pl.read_parquet(path).with_columns(
            setting=pl.lit("tcp"),
            transport=pl.col("labels").map_elements(
                lambda labels: found[json.loads(labels)["flavor"]], return_dtype=pl.String
            ),
        )
        first = pl.col("round") == 1
        cells = cells.with_columns(
            status=pl.when(first).then(pl.lit(first_status)).otherwise(pl.col("status"))
        )
        cells.write_parquet(path)
        analyse(folder, find())
        cells = read_verdicts(folder / "verdicts.json")
        return {
            cell["labels"]["flavor"]: cell
            for cell in cells
            if cell["environment"] == "openmpi-5.0.11"
            and cell["labels"]["case"] == "target_computes"
            and cell["labels"]["spread_percent"] == "50"
        }

    return judged


def test_a_cell_on_another_transport_says_no_effect_and_what_was_found(campaign):
    cells = campaign(ON_TCP, ON_SM)
    assert cells["create"]["verdict"] == verdicts.WAITS
    assert cells["create"]["detail"] is None
    assert cells["allocate"]["verdict"] == verdicts.NO_EFFECT
    assert cells["allocate"]["detail"] == (
        "no shared memory asked for, shared memory found; the samples there are show: independent"
    )


def test_a_cell_whose_transport_is_not_known_keeps_its_verdict_and_says_so(campaign):
    cell = campaign(None, ON_TCP)["create"]
    assert cell["verdict"] == verdicts.WAITS
    assert cell["detail"] == "transport not proven: provider, shm not known"


def test_a_failure_comes_before_no_effect(campaign):
    cells = campaign(ON_SM, ON_SM)
    assert {cell["verdict"] for cell in cells.values()} == {verdicts.NO_EFFECT}
    cells = campaign(ON_SM, ON_SM, first_status="crash")
    assert {cell["verdict"] for cell in cells.values()} == {verdicts.CRASH}

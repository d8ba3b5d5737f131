"""Settings in a campaign: each cell reports its transport and a setting without effect."""

import json

import polars as pl
import pytest

from onesided.campaign.session import Session

MPICH = "mpich-5.0.2"
OPENMPI = "openmpi-5.0.11"


def by_flavor(frame, column, setting):
    rows = frame.filter(pl.col("setting") == setting).select("labels", column).iter_rows()
    found = {}
    for labels, value in rows:
        found.setdefault(json.loads(labels)["flavor"], set()).add(value)
    return found


@pytest.mark.slow
def test_a_window_that_stays_in_shared_memory_under_tcp_says_no_effect(
    ready_environment, campaign_file, onesided, tmp_path
):
    ready_environment(OPENMPI)
    onesided("run", campaign_file(environments=[OPENMPI], settings=["default", "btl_tcp", "tcp"]))
    results = tmp_path / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    transports = {
        (setting, flavor): json.loads(text)
        for setting in ("default", "btl_tcp", "tcp")
        for flavor, (text,) in by_flavor(cells, "transport", setting).items()
    }
    assert transports["default", "create"]["provider"] == "sm"
    assert transports["btl_tcp", "create"]["provider"] == "tcp"
    assert transports["btl_tcp", "allocate"]["osc"] == "sm"
    assert transports["tcp", "allocate"] == {
        "osc": "rdma", "netmod": "ob1", "provider": "tcp", "shm": False
    }  # fmt: skip

    verdicts = json.loads((results / "verdicts.json").read_text())["cells"]
    without_effect = [cell for cell in verdicts if cell["verdict"] == "no effect"]
    assert {(cell["setting"], cell["labels"]["flavor"]) for cell in without_effect} == {
        ("btl_tcp", "allocate")
    }
    declared = cells.filter(
        (pl.col("setting") == "btl_tcp") & pl.col("cell").str.contains("flavor=allocate")
    )
    assert len(without_effect) == declared.height
    for cell in without_effect:
        assert cell["detail"].startswith("no shared memory asked for, shared memory found")

    # the reports are kept beside the lines, and count as no launch
    tests = cells.select("test", "round").unique().height
    kept = list(results.rglob("output/**/lines.jsonl"))
    assert len(kept) == tests
    for lines in kept:
        assert {path.name for path in lines.parent.glob("transport-*.txt")} == {
            "transport-create.txt",
            "transport-allocate.txt",
        }
    assert pl.read_parquet(results / "launches.parquet").height == tests


@pytest.mark.slow
def test_a_progress_thread_is_proven_by_the_threads_after_init(
    ready_environment, campaign_file, onesided, tmp_path
):
    ready_environment(MPICH)
    onesided("run", campaign_file(environments=[MPICH], settings=["default", "async_thread"]))
    results = tmp_path / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    threads = dict(cells.group_by("setting").agg(pl.col("threads_after_init").max()).iter_rows())
    assert threads["async_thread"] > threads["default"] >= 1
    verdicts = json.loads((results / "verdicts.json").read_text())["cells"]
    assert not [cell for cell in verdicts if cell["verdict"] == "no effect"]
    assert not [cell for cell in verdicts if "not proven" in (cell["detail"] or "")]


def test_other_variables_of_a_setting_make_its_tests_new_and_another_proof_does_not(
    campaign_file, monkeypatch
):
    from onesided.campaign import campaign as campaigns
    from onesided.campaign.slot import slots
    from onesided.environments import settings

    path = campaign_file(environments=[OPENMPI], settings=["default", "btl_tcp"])

    tests = [
        {"test": setting, "setting": setting, "kernel": "progress", "check": "progress.py",
         "valid_prog_environs": ["+mpi"]}
        for setting in ("default", "btl_tcp")
    ]  # fmt: skip

    def inputs():
        loaded = campaigns.load(str(path))
        (slot,) = slots(loaded)
        return Session(slot, tests).inputs

    before = inputs()
    value = settings.value
    proof = settings.SettingValue({"OMPI_MCA_btl": "self,tcp"}, None, {"shm": False})
    other = settings.SettingValue({"OMPI_MCA_btl": "self,ofi"}, None, {})

    def with_value(changed):
        return lambda name, *mpi: changed if name == "btl_tcp" else value(name, *mpi)

    monkeypatch.setattr(settings, "value", with_value(proof))
    assert inputs() == before
    monkeypatch.setattr(settings, "value", with_value(other))
    assert inputs()["btl_tcp"] != before["btl_tcp"]
    assert inputs()["default"] == before["default"]

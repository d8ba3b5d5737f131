"""The headers' facts about binary, library and namespaces reach the campaign's record."""

import hashlib
import json
from pathlib import Path

import polars as pl

from onesided.system import paths

MPICH = "mpich-5.0.2"


def test_the_record_keeps_what_headers_say_and_cells_that_never_ran_their_environments_model(
    ready_environment, campaign_that_ran, onesided, tmp_path, monkeypatch
):
    document, path = ready_environment(MPICH), campaign_that_ran
    results = tmp_path / "results" / "tiny"
    record = json.loads((results / "campaign.json").read_text())
    (described,) = record["environments"]
    assert (described["launch_model"], described["container"]) == ("native", None)
    facts = record["launch_facts"]
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["launch_model"]) == {"native"}
    assert {one["kernel"] for one in facts} == set(cells["kernel"])
    assert sum(one["launches"] for one in facts) == cells.select("test", "round").unique().height
    for one in facts:
        assert one["environment"] == MPICH
        assert set(one["namespaces"].values()) == {1}
        assert one["library_path"].startswith(str(Path(document["prefix"]).resolve()))
        assert (one["launch_model"], one["container"]) == ("native", None)
    headers = [
        json.loads(lines.open().readline()) for lines in results.rglob("output/**/lines.jsonl")
    ]
    programs = {header["kernel"]: header["program_sha256"] for header in headers}
    assert {one["kernel"]: one["program_sha256"] for one in facts} == programs
    built = {
        hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (paths.build_dir() / "kernels").rglob("bin/*")
    }
    assert set(programs.values()) <= built

    # the same sessions again, with an environment in a container and without the lines
    other = tmp_path / "build" / "environments" / MPICH
    other.mkdir(parents=True)
    container = {
        "environment": MPICH, "image": "/i.sif", "image_name": "mpich", "image_sha256": None,
        "runtime": None, "commit": None, "namespaces": "own", "variables": {}, "binds": [],
    }  # fmt: skip
    changed = {**document, "launch_model": "hybrid", "container": container}
    (other / "environment.json").write_text(json.dumps(changed))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    for lines in results.rglob("output/**/lines.jsonl"):
        lines.unlink()
    onesided("collect", path)
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["launch_model"]) == {"hybrid"}
    record = json.loads((results / "campaign.json").read_text())
    assert record["launch_facts"] == []
    assert record["environments"][0]["container"]["environment"] == MPICH

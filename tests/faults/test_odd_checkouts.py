"""A checkout and results in folders with blanks and umlauts work; what cannot work is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from onesided.system import paths
from onesided.system.errors import InputError

ROOT = Path(__file__).parents[2]
MPICH = "mpich-5.0.2"
PLACE = "mein prüf stand (1)/one sided"
PARTS = ("reframe_checks", "src", "workflow", "profiles", "config", "results", "Snakefile")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a copy of the checkout, which the tests run, in a folder with blanks and an umlaut."""
    copy = tmp_path / PLACE
    copy.mkdir(parents=True)
    for name in PARTS:
        if (ROOT / name).is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "quick", "smoke")
            shutil.copytree(ROOT / name, copy / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, copy)
    monkeypatch.setenv("PYTHONPATH", str(copy / "src"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("ONESIDED_ROOT", "ONESIDED_BUILD", "ONESIDED_RESULTS"):
        monkeypatch.delenv(name, raising=False)
    return copy


@pytest.mark.slow
def test_a_campaign_runs_in_a_checkout_whose_path_has_blanks_and_an_umlaut(
    ready_environment, checkout, campaign_file, onesided, tmp_path, monkeypatch
):
    ready_environment(MPICH)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "vorläufig hier"))
    (tmp_path / "vorläufig hier").mkdir()
    campaign = campaign_file().rename(tmp_path / PLACE / "tiny.yaml")
    monkeypatch.delenv("ONESIDED_RESULTS")
    onesided("run", campaign, cwd=checkout)
    results = checkout / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert (results / "report" / "index.html").is_file()
    assert json.loads((results / "campaign.json").read_text())["name"] == "tiny"
    # MPIs are built elsewhere; a kill would leave no link behind
    (build,) = (tmp_path / "cache" / "onesided").iterdir()
    assert (build / "environments" / MPICH / "environment.json").is_file()
    assert not (checkout / "build").exists()


@pytest.mark.slow
def test_plain_reframe_runs_a_check_there(checkout, ready_environment, tmp_path, monkeypatch):
    ready_environment(MPICH)
    monkeypatch.setenv("ONESIDED_BUILD", str(paths.build_dir()))
    monkeypatch.setenv("ONESIDED_SESSION", str(checkout / "session"))
    (checkout / "session").mkdir()
    answer = subprocess.run(
        [Path(sys.executable).with_name("reframe"), "-C", "reframe_checks/sites/laptop.py", "-R",
         *("-c", "reframe_checks", "-t", "smoke", "-p", "^mpich-5_0_2$"),
         *("-E", "setting == 'default' and thread_level == 'single'", "-r")],
        cwd=checkout, env=os.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout[-3000:]
    assert list((checkout / "session").rglob("output/**/rfm_job.sh"))


@pytest.mark.parametrize("sign", list("'\"$`:;{}[]*?\\#%&|<>!^\n\t"))
def test_a_folder_with_a_sign_that_means_something_elsewhere_is_refused(
    campaign_file, onesided, tmp_path, monkeypatch, sign
):
    place = tmp_path / f"a{sign}b"
    with pytest.raises(InputError, match="in its path; expected letters, digits, blanks and"):
        paths.check_usable(place)


@pytest.mark.parametrize("variable", ["ONESIDED_RESULTS", "ONESIDED_BUILD", "ONESIDED_IMAGES"])
def test_it_is_refused_before_anything_is_started(
    campaign_file, onesided, tmp_path, monkeypatch, variable
):
    campaign = campaign_file()
    place = tmp_path / ("it's" if variable == "ONESIDED_RESULTS" else "with blank")
    monkeypatch.setenv(variable, str(place))
    for stage in ("run", "declare"):
        answer = onesided(stage, campaign, check=False)
        assert answer.returncode == 2
        (line,) = answer.stderr.splitlines()
        assert line.startswith("onesided: ") and str(place) in line
    assert not place.exists()


def test_a_campaign_in_a_folder_with_quotes_is_refused(campaign_file, onesided, tmp_path):
    folder = tmp_path / "it's"
    folder.mkdir()
    answer = onesided("run", campaign_file().rename(folder / "tiny.yaml"), check=False)
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert 'tiny.yaml: found "\'" in its path; expected letters, digits, blanks' in line

"""Claims about the sizes of other campaigns in a report: they are the sizes of the checks."""

from __future__ import annotations

import contextlib
import os
from types import SimpleNamespace

import pytest

from onesided.campaign import campaign, declared
from onesided.studies.stfc.progress import answer
from onesided.system import documents, paths

CAMPAIGNS = sorted(path.stem for path in (paths.config_dir() / "campaigns").glob("*.yaml"))
IN_SHORT = "quick"


@contextlib.contextmanager
def on_two_cores():
    """Give the block two cores, as the tool has: with more cores, checks may have further sizes."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    "name",
    [
        name if name == IN_SHORT else pytest.param(name, marks=pytest.mark.slow)
        for name in CAMPAIGNS
    ],
)
def test_the_file_has_the_sizes_that_the_checks_declare(name):
    kept = documents.read_json(declared.sizes_file(), "campaign_sizes")["kernels"]
    with on_two_cores():
        found = declared.sizes_of(declared.describe(campaign.load(name)))
    assert found == {kernel: of[name] for kernel, of in kept.items() if name in of}, (
        "python tools/campaign_sizes.py writes it again"
    )


def test_the_file_names_declared_campaigns_only():
    kept = documents.read_json(declared.sizes_file(), "campaign_sizes")["kernels"]
    assert {name for of in kept.values() for name in of} <= set(CAMPAIGNS)


def of_sizes(*found):
    return [SimpleNamespace(labels={"size_bytes": str(size)}) for size in found]


def test_a_report_of_one_size_names_the_campaigns_that_have_more(monkeypatch):
    known = {"one": [8], "some": [8, 1024], "same": [8, 1024], "large": [2**20]}
    monkeypatch.setattr(answer, "known_sizes", lambda kernel: known)
    said = answer.sizes_elsewhere("progress", of_sizes(8, 8))
    assert said.striptags().replace("\u202f", " ") == (
        "To measure other sizes: onesided run some or onesided run same (8 bytes and 1 KiB) or "
        "onesided run large (1 MiB)."
    )
    assert answer.sizes_elsewhere("progress", of_sizes(8, 1024)) is None
    assert answer.sizes_elsewhere("progress", []) is None
    known.clear()
    assert answer.sizes_elsewhere("progress", of_sizes(8)) is None

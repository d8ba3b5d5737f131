"""Claims about config/upstream_defects.yaml: each entry is probed by cells that are declared."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace

import pytest
import reframe

from onesided.campaign import grid
from onesided.environments import declarations, settings
from onesided.report.data import defects
from onesided.system import documents, paths
from onesided.system.errors import InputError

KNOWN = defects.known()
DECLARED = declarations.declared().values()
DEFECT = replace(KNOWN[0], family="openmpi", since=None, until=None)


@pytest.fixture(scope="module")
def cells():
    """The labels of every cell that a check of tag `conformance` declares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(paths.project_root())
        module = importlib.import_module("reframe_checks.conformance")
    checks = [one for _, one in inspect.getmembers(module, inspect.isclass) if _has_tag(one)]
    crosses = [(one.base_point, one.crosses_one_thread) for one in checks]
    return [labels for one in crosses for labels in grid.cells(*one).values()]


def _has_tag(found):
    return issubclass(found, reframe.RegressionTest) and "conformance" in found.tags


def refusal(defect, cells):
    """Return why nothing of what is declared can show a defect; None: something can."""
    unknown = set(defect.probe) - {defects.SETTING} - set(cells[0])
    if unknown:
        return f"unknown axis {min(unknown)}"
    versions = [one.version or "" for one in DECLARED if one.family == defect.family]
    for setting in defect.probe.get(defects.SETTING, ()):
        if all(settings.value(setting, defect.family, one).unavailable for one in versions):
            return f"{setting} is unavailable"
    for axis, values in defect.probe.items():
        for value in () if axis == defects.SETTING else values:
            narrow = {**defect.probe, axis: (value,)}
            setting = narrow.get(defects.SETTING, (settings.DEFAULT,))[0]
            one_value = replace(defect, probe=narrow)
            if not any(one_value.is_probed_by(labels, setting) for labels in cells):
                return f"no cell with {axis}={value}"
    return None


def test_the_file_has_many_defects_of_many_threads_each_once():
    entries = documents.read_yaml(paths.config_dir() / defects.FILE, defects.SCHEMA)["defects"]
    ids = [entry["id"] for entry in entries]
    assert len(ids) == len(set(ids)) >= 35
    assert len({name.split("#")[0] + name.split("#")[1].split("/")[0] for name in ids}) >= 25
    assert {entry["family"] for entry in entries} == {"mpich", "openmpi", "impi"}


def test_cells_that_are_declared_probe_each_with_each_of_its_values(cells):
    refused = {one.id: why for one in KNOWN if (why := refusal(one, cells))}
    assert refused == {}


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        ({"layout": ("vector",)}, "unknown axis layout"),
        ({"count": ("100", "3")}, "no cell with count=100"),
        ({"call": ("rput",), "synchronisation": ("fence",)}, "no cell with call=rput"),
        ({"setting": ("osc_ucx", "ucx"), "call": ("put",)}, "ucx is unavailable"),
    ],
)
def test_an_entry_that_nothing_probes_is_refused(probe, why, cells):
    assert refusal(replace(DEFECT, probe=probe), cells) == why


def test_a_version_is_compared_by_its_numbers():
    since = replace(DEFECT, since="4.1.8", until="5.0")
    affected = ["4.1.8", "4.1.10", "4.2", "5.0.0rc2", "5.0", "4.1", "10.0"]
    assert [one for one in affected if since.affects("openmpi", one)] == affected[:3]
    assert not since.affects("mpich", "4.1.8")
    assert DEFECT.affects("openmpi", "0.1")


def test_a_fault_of_the_file_is_told_in_a_line(tmp_path):
    path = tmp_path / defects.FILE
    path.write_text("schema: onesided/upstream_defects/1\ndefects: [{id: 17}]\n")
    with pytest.raises(InputError, match=r"upstream_defects\.yaml.*defects\.0") as caught:
        documents.read_yaml(path, defects.SCHEMA)
    assert "\n" not in str(caught.value)

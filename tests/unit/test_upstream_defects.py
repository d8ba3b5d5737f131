"""Claims about config/upstream_defects.yaml: declared cells probe each entry, or none can.

A cell says something about a defect only if its element, size, window, epoch and transport are
those of the thread's program. The entry has these as its facts.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace

import pytest
import reframe

from onesided.campaign import grid
from onesided.environments import declarations, settings
from onesided.studies.data import upstream
from onesided.studies.data.axes import AXES
from onesided.system import documents, paths
from onesided.system.errors import InputError

KNOWN = upstream.known()
DECLARED = declarations.declared().values()
DEFECT = replace(KNOWN[0], family="openmpi", since=None, until=None)
#: Parts of a program that are not in its cell.
RANKS = 2
NO_AXIS = {"ranks", "transport", "block_bytes", "after", upstream.SETTING}
NOWHERE = {"infiniband", "xpmem"}
"""Transports that no setting has."""


@pytest.fixture(scope="module")
def checks():
    """Every check of tag `conformance`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(paths.project_root())
        module = importlib.import_module("reframe_checks.conformance")
    return [one for _, one in inspect.getmembers(module, inspect.isclass) if _has_tag(one)]


@pytest.fixture(scope="module")
def cells(checks):
    """The labels of every cell that the checks declare."""
    crosses = [(one.base_point, one.crosses_one_thread) for one in checks]
    return [labels for one in crosses for labels in grid.cells(*one).values()]


@pytest.fixture(scope="module")
def check_ranks(checks):
    """The numbers of ranks with which the checks run."""
    return {ranks for one in checks for ranks in one.ranks.values}


def _has_tag(found):
    return issubclass(found, reframe.RegressionTest) and "conformance" in found.tags


def refusal(defect, cells):
    """Return why no declared cell can show a defect; None if a cell can."""
    unknown = set(defect.probe) - {upstream.SETTING} - set(cells[0])
    if unknown:
        return f"unknown axis {min(unknown)}"
    versions = [one.version or "" for one in DECLARED if one.family == defect.family]
    for setting in defect.probe.get(upstream.SETTING, ()):
        if all(settings.value(setting, defect.family, one).unavailable for one in versions):
            return f"{setting} is unavailable"
    for axis, values in defect.probe.items():
        for value in () if axis == upstream.SETTING else values:
            narrow = {**defect.probe, axis: (value,)}
            setting = narrow.get(upstream.SETTING, (settings.DEFAULT,))[0]
            one_value = replace(defect, probe=narrow)
            if not any(one_value.is_probed_by(labels, setting) for labels in cells):
                return f"no cell with {axis}={value}"
    return None


def test_the_file_has_many_defects_of_many_threads_each_once():
    entries = documents.read_yaml(paths.config_dir() / upstream.FILE, upstream.SCHEMA)["defects"]
    ids = [entry["id"] for entry in entries]
    assert len(ids) == len(set(ids)) >= 35
    assert len({name.split("#")[0] + name.split("#")[1].split("/")[0] for name in ids}) >= 25
    assert {entry["family"] for entry in entries} == {"mpich", "openmpi", "impi"}


def unlike(defect, labels, setting):
    """Return the facts that differ between a cell under a setting and the thread's program."""
    own = {**labels, upstream.SETTING: setting}
    named = {name: found for name, found in defect.facts.items() if name in own}
    return [name for name, found in named.items() if str(own[name]) not in found]


def beyond(defect):
    """Return the facts of a program that no cell of two ranks on one machine can have."""
    facts = defect.facts
    return [
        *(["ranks"] if facts.get("ranks", RANKS) != RANKS else []),
        *(["transport"] if facts.get("transport") in NOWHERE else []),
        *(name for name in ("block_bytes", "after") if name in facts),
    ]


def not_the_defects(defect, cells):
    """Return the differences between a probe's cells and the facts; empty if each is right."""
    found = [
        f"{name} of {grid.cell_id(labels)}, {setting}"
        for setting in defect.probe.get(upstream.SETTING, (settings.DEFAULT,))
        for labels in cells
        if defect.is_probed_by(labels, setting)
        for name in unlike(defect, labels, setting)
    ]
    return [*beyond(defect), *found]


def test_the_ranks_of_the_facts_are_those_of_the_check(check_ranks):
    assert check_ranks == {RANKS}


def test_a_fact_is_an_axis_or_known(cells):
    assert {name for one in KNOWN for name in one.facts} - set(cells[0]) <= NO_AXIS
    wrong = {
        (one.id, name, value)
        for one in KNOWN
        for name, found in one.facts.items()
        if name in AXES
        for value in found
        if value not in AXES[name]
    }
    assert wrong == set()


def test_cells_that_are_declared_probe_each_with_each_of_its_values(cells):
    probed = [one for one in KNOWN if not one.not_probed]
    refused = {one.id: why for one in probed if (why := refusal(one, cells))}
    assert refused == {}


def test_every_cell_that_probes_a_defect_is_that_of_the_program_in_its_thread(cells):
    wrong = {one.id: why for one in KNOWN if (why := not_the_defects(one, cells))}
    assert {id: why[:3] for id, why in wrong.items() if not is_not_probed(id)} == {}


def is_not_probed(name):
    return next(one for one in KNOWN if one.id == name).not_probed is not None


def test_a_defect_is_not_probed_only_where_no_cell_could(cells):
    left = [one for one in KNOWN if one.not_probed]
    assert left
    for one in left:
        assert beyond(one), one.id
        assert not one.probe
        assert not any(one.is_probed_by(labels, settings.DEFAULT) for labels in cells)


@pytest.mark.parametrize("name", ["open-mpi/ompi#11349", "jeffhammond/mukautuva#2"])
def test_a_defect_of_64_bits_is_not_probed_with_32(name, cells):
    (one,) = [one for one in KNOWN if one.id == name]
    own = [labels for labels in cells if one.is_probed_by(labels, settings.DEFAULT)]
    assert {labels["element"] for labels in own} == {"int64", "uint64"}
    short = replace(one, probe={**one.probe, "element": ("int32",)})
    assert any(why.startswith("element") for why in not_the_defects(short, cells))


def test_the_campaign_conformance_tries_every_value_of_every_axis(cells):
    tried = {name: {labels[name] for labels in cells} for name in AXES}
    assert {name for name, values in AXES.items() if set(values) - tried[name]} == set()
    campaign = documents.read_yaml(
        paths.config_dir() / "campaigns" / "conformance.yaml", "campaign"
    )
    assert set(campaign["settings"]) == set(settings.names())


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        ({"layout": ("vector",)}, "unknown axis layout"),
        ({"count": ("101", "3")}, "no cell with count=101"),
        ({"call": ("rput",), "synchronisation": ("fence",)}, "no cell with call=rput"),
        ({"setting": ("osc_ucx", "ucx"), "call": ("put",)}, "ucx is unavailable"),
    ],
)
def test_an_entry_that_nothing_probes_is_refused(probe, why, cells):
    assert refusal(replace(DEFECT, probe=probe), cells) == why


def test_a_version_is_compared_by_its_numbers():
    since = replace(DEFECT, since="4.1.8", until="5.0")
    affected = ["4.1.8", "4.1.10", "4.2", "5.0.0rc2", "5.0", "4.1", "10.0"]
    assert [one for one in affected if since.affects(("openmpi", one))] == affected[:3]
    assert not since.affects(("mpich", "4.1.8"))
    assert DEFECT.affects(("openmpi", "0.1"))


def test_a_fault_of_the_file_is_told_in_a_line(tmp_path):
    path = tmp_path / upstream.FILE
    path.write_text("schema: onesided/upstream_defects/2\ndefects: [{id: 17}]\n")
    with pytest.raises(InputError, match=r"upstream_defects\.yaml.*defects\.0") as caught:
        documents.read_yaml(path, upstream.SCHEMA)
    assert "\n" not in str(caught.value)

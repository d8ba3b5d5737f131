"""Claims about config/found_defects.yaml: it agrees with docs/defects; its programs still fail."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from onesided.environments import declarations, settings
from onesided.report.material import Cell
from onesided.studies.data import answer
from onesided.studies.data import known as of
from onesided.studies.data.axes import AXES
from onesided.system import documents, paths
from onesided.system.errors import InputError

EVERY = of.every_defect()
FOLDER = paths.project_root() / of.TEXTS
NUMBERS = {"count", "outstanding"}
RUN_TIMEOUT_S = 60
QUICK = documents.read_yaml(paths.config_dir() / "campaigns" / "quick.yaml", "campaign")
DECLARED = declarations.declared()
ENVIRONMENTS = [
    (name, DECLARED[name].family, DECLARED[name].version) for name in QUICK["environments"]
]


def by_text(one):
    return one.text


def record(*environments):
    return {
        "environments": [
            {"name": name, "family": family, "version": version}
            for name, family, version in environments
        ]
    }


def test_every_text_has_an_entry_and_every_entry_a_text_and_a_program():
    texts = {path.stem for path in FOLDER.glob("*.md") if path.name != "README.md"}
    assert sorted(one.text for one in EVERY) == sorted(texts)
    assert {one.program for one in EVERY} == {path.name for path in FOLDER.glob("*.c")}


@pytest.mark.parametrize("one", EVERY, ids=by_text)
def test_an_entry_says_what_its_text_says(one):
    text = (FOLDER / f"{one.text}.md").read_text("utf-8")
    assert text.splitlines()[0] == f"# {one.title}"
    assert f"]({one.program})" in text
    tried = text.partition("**Versions tried.**")[2]
    for seen in one.seen:
        # a text names the ends of "3.4.3 to 5.0.2"
        ends = (seen["versions"][0], seen["versions"][-1])
        assert [version for version in ends if version not in tried] == []


def readme_row(defect: of.FoundDefect) -> str:
    """Return the line about a defect in the Markdown table of ``docs/defects/README.md``."""
    versions: dict[str, list[str]] = {}
    for at in defect.seen:
        versions.setdefault(at["family"], []).extend(at["versions"])
    ends = [(own[0], own[-1]) for own in ([*dict.fromkeys(each)] for each in versions.values())]
    first, last = ("; ".join(each) for each in zip(*ends, strict=True))
    link = f"[{defect.title}]({Path(defect.text).with_suffix('.md')})"
    return f"| {link} | {defect.mpi} | {first} | {last} | {defect.upstream} |"


def test_the_table_of_the_readme_is_made_of_the_entries():
    rows = [
        line
        for line in (FOLDER / "README.md").read_text("utf-8").splitlines()
        if re.match(r"\| \[.*\]\(\w+\.md\) \|", line)
    ]
    assert rows == [readme_row(one) for one in EVERY]


@pytest.mark.parametrize("one", EVERY, ids=by_text)
def test_a_version_can_have_each_setting_that_it_was_seen_with(one):
    for seen in one.seen:
        for version in seen["versions"]:
            for name in seen["settings"]:
                assert settings.value(name, seen["family"], version).unavailable is None


@pytest.mark.parametrize("one", EVERY, ids=by_text)
def test_the_cells_that_meet_a_defect_are_cells_of_the_kernel(one):
    for axis, values in (one.cells or {}).items():
        assert axis in NUMBERS or set(values) <= set(AXES[axis])


def test_seven_programs_fail_in_the_versions_of_quick_with_no_variable_set():
    known = of.known_of(record(*ENVIRONMENTS), [name for name, *_ in ENVIRONMENTS])
    default = [(one.environment, one.defect.text) for one in known if one.is_default]
    assert len({text for _, text in default}) == 7
    assert [sum(name == own for own, _ in default) for name, *_ in ENVIRONMENTS] == [1, 5, 3]


def test_advice_names_the_defects_in_its_settings_and_no_others():
    mpis = record(("one", "mpich", "5.0.2"), ("other", "mpich", "99.0"))
    (said,) = answer.warnings(mpis, "one", ["default"])
    assert (
        "MPI_Fetch_and_op on MPI_SHORT_INT: wrong data. See defects/" in said
        and "setting" not in said
    )
    plain, chosen = answer.warnings(mpis, "one", ["default", "ofi", "osc_pt2pt"])
    assert plain == said
    assert chosen.startswith(
        "Known defect with the setting ofi: MPI_Rget into a vector: wrong data or"
    )
    assert answer.warnings(mpis, "other", ["default", "ofi"]) == []


def test_a_defect_that_one_build_alone_has_is_said_to_be_of_this_build():
    mpis = record(("one", "mpich", "4.0.2"), ("other", "mpich", "4.0.3"))
    said = answer.warnings(mpis, "one", ["default"])
    assert "a few bytes (in the build of Debian 12): wrong data. " in said[0]
    assert not [line for line in answer.warnings(mpis, "other", ["default"]) if "build" in line]


def test_a_version_has_only_what_was_seen_in_it():
    names = ["old", "new", "other", "unknown"]
    mpis = record(
        ("old", "openmpi", "4.1.8"), ("new", "openmpi", "5.0.11"), ("other", "openmpi", "5.0.99")
    )
    known = of.known_of(mpis, names)
    bitwise = [one.environment for one in known if "bitwise" in one.defect.text]
    assert bitwise == ["new"]
    assert {one.environment for one in known} == {"old", "new"}
    # the case without a variable comes first
    own = [one.is_default for one in known if one.environment == "new"]
    assert own == sorted(own, reverse=True)


def test_a_cell_meets_a_defect_with_its_values_under_its_setting():
    (one,) = [one for one in EVERY if one.text == "openmpi_rdma_logical_operators"]
    labels = {"call": "accumulate", "operator": "lor", "element": "int32", "flavor": "create"}

    def meets(setting="default", **other):
        cell = Cell({"setting": setting, "labels": {**labels, **other}})
        return one.is_met_by(cell, one.settings_of(("openmpi", "5.0.11")))

    assert meets() and meets("btl_tcp")
    assert not meets("osc_ucx")
    assert not meets(flavor="allocate")
    assert not meets(operator="sum")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "family", "version"), ENVIRONMENTS)
def test_the_programs_fail_with_no_variable_set_as_the_entries_say(
    name, family, version, ready_environment, tmp_path
):
    environment = ready_environment(name)
    variables = {**os.environ, **environment["variables"]}
    for one in EVERY:
        if settings.DEFAULT not in one.settings_of((family, version)):
            continue
        program = tmp_path / one.text
        compiler = environment["compilers"]["c"]
        subprocess.run(
            [compiler, "-std=c11", FOLDER / one.program, "-o", program], check=True, env=variables
        )
        line = [environment["launcher"]["path"], "-n", "2", program]
        run = subprocess.run(
            line, env=variables, capture_output=True, text=True, timeout=RUN_TIMEOUT_S
        )
        assert run.returncode != 0, one.text


def test_a_fault_of_the_file_is_told_in_a_line(tmp_path):
    path = tmp_path / of.FILE
    path.write_text("schema: onesided/found_defects/1\ndefects: [{text: 17}]\n")
    with pytest.raises(InputError, match=r"found_defects\.yaml.*defects\.0") as caught:
        documents.read_yaml(path, of.SCHEMA)
    assert "\n" not in str(caught.value)

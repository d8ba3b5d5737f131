"""`onesided new` writes a whole experiment, or says in one line why not and writes nothing."""

import shutil

import pytest

from onesided.cli import new_experiment
from onesided.environments import kernels
from onesided.system import paths
from onesided.system.errors import InputError


@pytest.fixture
def root(tmp_path, monkeypatch):
    here = paths.project_root()
    shutil.copytree(here / "src" / "kernels", tmp_path / "src" / "kernels")
    (tmp_path / "docs").mkdir()
    shutil.copy(here / "docs" / "add-an-experiment.md", tmp_path / "docs")
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    return tmp_path


def test_every_file_has_the_new_name_and_none_the_examples(root):
    written = new_experiment.write("left_shift", "patterns")
    assert {str(path.relative_to(root)) for path in written} == {
        "src/kernels/patterns/left_shift.c",
        "reframe_checks/left_shift.py",
        "src/onesided/studies/patterns/__init__.py",
        "src/onesided/studies/patterns/left_shift.py",
        "config/campaigns/left_shift.yaml",
    }
    texts = {str(path.relative_to(root)): path.read_text("utf-8") for path in written}
    assert not [name for name, text in texts.items() if "latency" in text or "tutorial" in text]
    assert 'KERNEL("left_shift",' in texts["src/kernels/patterns/left_shift.c"]
    assert "class LeftShift(OnesidedCheck)" in texts["reframe_checks/left_shift.py"]
    page = texts["src/onesided/studies/patterns/left_shift.py"]
    assert 'title="Left shift"' in page and "published" not in page
    assert "from onesided.studies.patterns import STUDY" in page
    assert 'Study("patterns", "Patterns")' in texts["src/onesided/studies/patterns/__init__.py"]
    assert "left_shift" in kernels.names()


@pytest.mark.parametrize(
    ("name", "study", "words"),
    [
        ("progress", "own", "NAME: found progress; expected a name that no kernel has"),
        ("Right", "own", "NAME: found Right; expected small letters"),
        ("../right", "own", "NAME: found ../right; expected small letters"),
        ("right", "rma", "--study: found rma; expected a folder of kernels alone"),
        ("right", "a b", "--study: found a b; expected small letters"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(root, name, study, words):
    before = sorted(root.rglob("*"))
    with pytest.raises(InputError) as fault:
        new_experiment.write(name, study)
    assert words in str(fault.value)
    assert sorted(root.rglob("*")) == before


def test_a_file_that_is_there_stays(root):
    check = root / "reframe_checks" / "left_shift.py"
    check.parent.mkdir()
    check.write_text("mine")
    before = sorted(root.rglob("*"))
    with pytest.raises(InputError, match=r"left_shift.py: found a file of this name"):
        new_experiment.write("left_shift", "patterns")
    assert (check.read_text(), sorted(root.rglob("*"))) == ("mine", before)


def test_a_study_that_is_there_keeps_its_description(root):
    study = root / "src" / "onesided" / "studies" / "patterns" / "__init__.py"
    study.parent.mkdir(parents=True)
    study.write_text("mine")
    written = new_experiment.write("left_shift", "patterns")
    assert study.read_text() == "mine" and study not in written

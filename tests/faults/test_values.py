"""Values of settings and families stay values: no shell runs them; ranks see them unchanged."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from onesided.system import command

ROOT = Path(__file__).parents[2]
MPICH = "mpich-5.0.2"
# texts that ReFrame, a shell or a scheduler's option might misread; such a misreading makes `ran`
HOSTILE = "$(touch {0}/ran1) `touch {0}/ran2` 'x' \"y\" $HOME ${{HOME}} ; touch {0}/ran3 ä\\ %s,*"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a checkout with the real folders, but with its own config."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in ("reframe_checks", "src", "workflow", "profiles", "results", "Snakefile"):
        (root / name).symlink_to(ROOT / name)
    (root / "config").mkdir()
    for path in (ROOT / "config").iterdir():
        (root / "config" / path.name).symlink_to(path)
    monkeypatch.setenv("ONESIDED_ROOT", str(root))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    return root


def change(path, edit):
    document = yaml.safe_load(path.read_text())
    edit(document)
    path.unlink()
    path.write_text(yaml.safe_dump(document, allow_unicode=True))


@pytest.mark.slow
def test_hostile_values_reach_the_ranks_and_no_shell(
    checkout, campaign_file, onesided, tmp_path, monkeypatch
):
    hostile = HOSTILE.format(tmp_path)
    default = {"mpich": {"variables": {"MPICH_OF_SETTING": hostile}}}
    change(
        checkout / "config" / "settings.yaml",
        lambda document: document["default"].update(families=default),
    )
    change(
        checkout / "config" / "environments.yaml",
        lambda document: document["families"]["mpich"].update(
            variables={"MPICH_OF_FAMILY": hostile}
        ),
    )
    answer = onesided("environments", MPICH, check=False)
    if answer.returncode != 0:
        pytest.skip(f"{MPICH} is unavailable: {answer.stderr.splitlines()[-1]}")
    # the ranks' own environment, in addition to the kernel's report
    launcher = tmp_path / "build" / "environments" / MPICH / "prefix" / "bin" / "mpiexec"
    real = launcher.rename(launcher.with_name("mpiexec.kept"))
    seen = tmp_path / "seen"
    launcher.write_text(f'#!/bin/sh\nenv -0 >"{seen}"\nexec "{real}" "$@"\n')
    launcher.chmod(0o755)
    onesided("run", campaign_file())
    values = dict(entry.split("=", 1) for entry in seen.read_text().split("\0") if entry)
    assert values["MPICH_OF_SETTING"] == hostile
    assert values["MPICH_OF_FAMILY"] == hostile
    assert not list(tmp_path.glob("ran*"))


def test_a_shell_reads_back_what_was_exported(tmp_path):
    variables = {"A": HOSTILE.format(tmp_path), "B": "", "C": "two\nlines", "PATH_": "/a b:/ä"}
    script = "\n".join(["#!/bin/sh", *command.exports(variables), "env -0"])
    answer = subprocess.run(
        ["sh", "-c", script], env={"PATH": os.environ["PATH"]}, capture_output=True, check=True
    )
    found = dict(one.split("=", 1) for one in answer.stdout.decode().split("\0") if one)
    assert {name: found[name] for name in variables} == variables
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["A B", "A;B", "", "1A", "A\n", "$(id)"])
def test_what_is_no_name_of_a_variable_is_not_exported(name):
    with pytest.raises(ValueError, match="is no name of a variable"):
        command.exports({name: "x"})

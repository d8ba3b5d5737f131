"""A campaign's tests as ReFrame describes them, and how it is called for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onesided.campaign import grid
from onesided.campaign.campaign import Campaign
from onesided.environments import provision, settings
from onesided.system import documents, paths, strays, writing
from onesided.system.errors import InputError, OnesidedError
from onesided.system.lock import lock_file

DECLARED_SCHEMA = "onesided/declared/5"
#: ReFrame only warns of a check file with a fault, and goes on without it.
NOT_LOADED = "skipping test file"
#: What it says of a test for which the expression of `-E` raises, in colour on some terminals.
EVALUATION_FAULT = re.compile(
    r"error while evaluating expression `[^`]*` for [^`]*`[^`]*`: ([^\n\x1b]*)"
)
#: What a declared test is described by, as ReFrame's ``--describe`` names it.
TEST_FIELDS = (
    "kernel",
    "thread_level",
    "setting",
    "ranks",
    "placement",
    "base_point",
    "crosses",
    "headline",
    "expected_s",
    "first_round_only",
    "valid_prog_environs",
)


def checks_folder() -> Path:
    """Return the folder of the checks' files."""
    return paths.project_root() / "reframe_checks"


def reframe_command(campaign: Campaign, tests: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """Return the call of ReFrame for the campaign's tests, without an action.

    Args:
        campaign: the campaign.
        tests: as declared; ReFrame loads their checks only, and without any it loads all.
    """
    checks = checks_folder()
    files = sorted({test["check"] for test in tests})
    return [
        str(Path(sys.executable).with_name("reframe")),
        f"--config-file={campaign.site_file}",
        *([f"--checkpath={checks / name}" for name in files] or _every_check(checks)),
        *campaign.reframe_selection(),
    ]


def _every_check(folder: Path) -> list[str]:
    return [f"--checkpath={folder}", "--recursive"]


def reframe_variables(campaign: Campaign) -> dict[str, str]:
    """Return what tells ReFrame whose environments are used, and which checks it need not make."""
    return {
        provision.PROVIDER_VARIABLE: campaign.provider or "",
        settings.CHOICE_VARIABLE: ",".join(campaign.document["settings"]),
    }


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _ask_reframe(
    campaign: Campaign, action: str, tests: Iterable[Mapping[str, Any]] = ()
) -> subprocess.CompletedProcess[str]:
    """Have ReFrame say something of the campaign's tests; of some, it loads their checks only."""
    temporary = strays.make_temporary_folder(lock_file())
    try:
        return subprocess.run(
            [*reframe_command(campaign, tests), f"--system={campaign.partitions[0]}", action],
            cwd=paths.project_root(),
            env={
                **os.environ,
                **reframe_variables(campaign),
                strays.SESSION_MARKER: str(temporary),
                "TMPDIR": str(temporary),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def describe(campaign: Campaign, tests: Iterable[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the campaign's tests as ReFrame describes them, each with its grid of cells.

    Args:
        campaign: the campaign.
        tests: as they were declared before; with some, those of other checks are left out.

    Raises:
        OnesidedError: ReFrame cannot load the checks.
        InputError: the campaign's selection holds no test.
    """
    answer = _ask_reframe(campaign, "--describe", tests)
    unloadable = [
        line for line in (answer.stdout + answer.stderr).splitlines() if NOT_LOADED in line
    ]
    if unloadable:
        raise OnesidedError(f"reframe --describe: {unloadable[0]}")
    start = answer.stdout.find("[\n")
    if answer.returncode != 0:
        raise OnesidedError(f"reframe --describe failed: {last_line(answer.stderr)}")
    found, _ = json.JSONDecoder().raw_decode(answer.stdout, start) if start >= 0 else ([], 0)
    if not found:
        raise _nothing_selected(campaign)
    return [
        {
            "test": test["display_name"],
            "check": Path(test["@file"]).name,
            **{name: test[name] for name in TEST_FIELDS},
        }
        for test in found
    ]


def _nothing_selected(campaign: Campaign) -> InputError:
    """Return why ReFrame selected no test: what the expression raised, or that none fits."""
    select = campaign.document["select"]
    output = _ask_reframe(campaign, "--list").stdout
    raised = EVALUATION_FAULT.search(output) if "expression" in select else None
    if raised is None:
        return InputError(campaign.path, "select", select, "some checks")
    found = f"{raised.group(1)} (in {select['expression']})"
    return InputError(campaign.path, "select.expression", found, "what the checks have")


def declare(campaign: Campaign) -> Path:
    """Write ``declared.json``: the campaign's tests, as ReFrame describes them; return its path."""
    path = campaign.results / "declared.json"
    writing.write_json(path, {"schema": DECLARED_SCHEMA, "tests": describe(campaign)})
    return path


def tests_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Read ``declared.json``.

    Raises:
        InputError: it is not there, is cut, or is of another schema version.
    """
    return documents.read_json(campaign.results / "declared.json", "declared")["tests"]


def tests_for(
    tests: Iterable[dict[str, Any]], environment: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the tests that ReFrame runs with an environment.

    A check that asks for another library than the environment's is none of its tests.

    Args:
        tests: as they were declared.
        environment: its document.
    """
    return [test for test in tests if _is_for(test["valid_prog_environs"], environment)]


def _is_for(valid: Iterable[str], environment: Mapping[str, Any]) -> bool:
    """Return whether an environment fits one of ReFrame's expressions, each word of it."""
    return any(all(_fits(word, environment) for word in text.split()) for text in valid)


def _fits(word: str, environment: Mapping[str, Any]) -> bool:
    sign, name = word[:1], word[1:]
    if sign in ("+", "-"):
        return (name in provision.reframe_features(environment)) == (sign == "+")
    # an extra of ReFrame's: none of ours is one that a check could ask for
    return word in ("*", provision.reframe_name(environment["name"]))


def cells_of(test: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the labels of a declared test's cells by id."""
    return grid.cells(test["base_point"], test["crosses"])

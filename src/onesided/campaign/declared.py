"""Write and read ``declared.json``: the tests of a campaign, as ReFrame describes them."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from onesided.campaign import grid, reframe
from onesided.campaign.campaign import Campaign
from onesided.environments import provision
from onesided.system import cores, documents, paths, writing
from onesided.system.errors import InputError, OnesidedError

DECLARED_SCHEMA = "onesided/declared/5"
#: The text of ReFrame's warning that a faulty check file is left out.
NOT_LOADED = "skipping test file"
#: ReFrame's text if an expression raises an error for a test. The text may have codes for colours.
EVALUATION_FAULT = re.compile(
    r"error while evaluating expression `[^`]*` for [^`]*`[^`]*`: ([^\n\x1b]*)"
)
SIZES_SCHEMA = "onesided/campaign-sizes/1"
SIZE_AXIS = "size_bytes"
#: The keys that are kept of each test in the output of ReFrame's ``--describe``.
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


def describe(campaign: Campaign, tests: Iterable[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the campaign's tests as ReFrame describes them, each with the grid of its cells.

    The cells of a test depend on the cores of a node. Therefore ReFrame describes the tests once
    for each partition. If `tests` (earlier declared tests) is given, only the checks of these tests
    are described.

    Raises:
        OnesidedError: ReFrame cannot load the checks.
        InputError: the campaign's selection has no test.
    """
    return [
        test for partition in campaign.partitions for test in _describe(campaign, partition, tests)
    ]


def _describe(
    campaign: Campaign, partition: str, tests: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    answer = reframe.ask(campaign, partition, "--describe", tests)
    unloadable = [
        line for line in (answer.stdout + answer.stderr).splitlines() if NOT_LOADED in line
    ]
    if unloadable:
        raise OnesidedError(f"reframe --describe: {unloadable[0]}")
    start = answer.stdout.find("[\n")
    if answer.returncode != 0:
        raise OnesidedError(f"reframe --describe failed: {reframe.last_line(answer.stderr)}")
    found, _ = json.JSONDecoder().raw_decode(answer.stdout, start) if start >= 0 else ([], 0)
    if not found:
        raise _nothing_selected(campaign, partition)
    return [test_of(test.__getitem__, test["@file"], partition) for test in found]


def test_of(member: Callable[[str], Any], file: str, partition: str) -> dict[str, Any]:
    """Return the entry of ``declared.json`` for a ReFrame test.

    `member` returns a member of ReFrame's test by its name; `file` is the file of the check.
    """
    return {
        "test": member("display_name"),
        "check": Path(file).name,
        "partition": partition,
        **{name: member(name) for name in TEST_FIELDS},
    }


def _nothing_selected(campaign: Campaign, partition: str) -> InputError:
    """Return an error that says: the filter expression has a fault, or no test fits."""
    select = campaign.document["select"]
    output = reframe.ask(campaign, partition, "--list").stdout
    raised = EVALUATION_FAULT.search(output) if "expression" in select else None
    if raised is None:
        return InputError(campaign.path, "select", select, "some checks")
    found = f"{raised.group(1)} (in {select['expression']})"
    return InputError(campaign.path, "select.expression", found, "what the checks have")


def declare(campaign: Campaign) -> Path:
    """Let ReFrame describe the campaign's tests; write ``declared.json`` and return its path."""
    path = campaign.results / "declared.json"
    found = {"schema": DECLARED_SCHEMA, "cores": cores.usable(), "tests": describe(campaign)}
    writing.write_json(path, found)
    return path


def is_for_these_cores(path: Path) -> bool:
    """Tell whether a ``declared.json`` was written for the current number of usable cores."""
    return documents.read_json(path, "declared").get("cores") == cores.usable()


def tests_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the tests in the campaign's ``declared.json``.

    Raises:
        InputError: the file is missing, cut, or of another schema version.
    """
    return documents.read_json(campaign.results / "declared.json", "declared")["tests"]


def tests_on(tests: Iterable[dict[str, Any]], partition: str) -> list[dict[str, Any]]:
    """Return the tests for a partition; a test that names no partition is for all partitions."""
    return [test for test in tests if test.get("partition", partition) == partition]


def tests_for(
    tests: Iterable[dict[str, Any]], environment: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the tests whose ``valid_prog_environs`` allow an environment."""
    return [test for test in tests if _is_for(test["valid_prog_environs"], environment)]


def _is_for(valid: Iterable[str], environment: Mapping[str, Any]) -> bool:
    """Tell whether ``valid_prog_environs`` has an entry whose words all fit an environment."""
    return any(all(_fits(word, environment) for word in text.split()) for text in valid)


def _fits(word: str, environment: Mapping[str, Any]) -> bool:
    sign, name = word[:1], word[1:]
    if sign in ("+", "-"):
        return (name in provision.reframe_features(environment)) == (sign == "+")
    # ReFrame also has words for extras (%name=value); our environments have no extras
    return word in ("*", provision.reframe_name(environment["name"]))


def cells_of(test: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the labels of each cell of a declared test; the keys are the cells' ids."""
    return grid.cells(test["base_point"], test["crosses"])


def sizes_file() -> Path:
    """Return the path of ``campaign_sizes.json``, a file with the message sizes of campaigns.

    ``tools/campaign_sizes.py`` writes this file. This file makes a call of ReFrame unnecessary. A
    test of this project verifies that the sizes in the file are the sizes in the ReFrame checks.
    """
    return paths.config_dir() / "campaign_sizes.json"


def sizes_of(tests: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the message sizes in the cells of declared tests, for each kernel that has sizes."""
    found: dict[str, set[int]] = defaultdict(set)
    for test in tests:
        for labels in cells_of(dict(test)).values():
            if labels.get(SIZE_AXIS, "").isdigit():
                found[test["kernel"]].add(int(labels[SIZE_AXIS]))
    return {kernel: sorted(sizes) for kernel, sizes in found.items()}


def known_sizes(kernel: str) -> Mapping[str, list[int]]:
    """Return the message sizes of a kernel's cells, for each campaign of ``config/campaigns``.

    Raises:
        InputError: the file is missing or does not fit its schema.
    """
    return documents.read_json(sizes_file(), "campaign_sizes")["kernels"].get(kernel, {})

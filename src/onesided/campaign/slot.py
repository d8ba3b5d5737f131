"""Slots for sessions: what the results of a session depend on, and which results are kept."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.campaign import records
from onesided.campaign.campaign import Campaign
from onesided.environments import fingerprint
from onesided.system import documents, paths, surroundings
from onesided.system.errors import InputError

#: The beginning of the name of a folder with another session's files: `of-<session>-attempt-<n>`.
ADOPTED = "of-"

#: Modules that decide, together with the checks, what a session does.
DECIDING = (
    "campaign/grid.py",
    "campaign/ranks.py",
    "environments/transport.py",
    "environments/containers.py",
    "environments/kernels.py",
    "environments/settings.py",
    "sites/__init__.py",
    "system/command.py",
)


@dataclass(frozen=True)
class Slot:
    """A partition, an environment and a round of a campaign, for which one session is run."""

    campaign: Campaign
    partition: str
    environment: str
    round: int

    @property
    def pointer(self) -> Path:
        """The file that names the slot's valid session; Snakemake waits for this file."""
        folder = self.campaign.results / "sessions" / self.environment
        return folder / self.partition.replace(":", ".") / f"round-{self.round}.json"

    @property
    def folder(self) -> Path:
        """The folder with the slot's sessions; a session's folder is named by its fingerprint."""
        return self.pointer.with_suffix("")


def slots(campaign: Campaign, rounds: Iterable[int] | None = None) -> Iterator[Slot]:
    """Yield the campaign's slots in the order in which they run: round by round.

    Each round begins with another environment, so that no environment is always first. `rounds` has
    the numbers of the rounds; by default, the rounds that every cell has.
    """
    for number in campaign.rounds if rounds is None else rounds:
        for partition in campaign.partitions:
            names = campaign.environments_on(partition)
            turn = (number - 1) % len(names)
            for name in names[turn:] + names[:turn]:
                yield Slot(campaign, partition, name, number)


def read_record(slot: Slot) -> tuple[Path, dict[str, Any]]:
    """Return the folder and the record of the valid session in a slot.

    Raises:
        InputError: the slot has no session, or the record does not fit the schema, or the record
            is of another slot.
    """
    pointer = documents.read_json(slot.pointer, "session_pointer")
    path = slot.pointer.parent / pointer["session"]
    if not os.path.isfile(path):  # noqa: PTH113 -- the text may be no path
        expected = "the path of a session.json"
        raise InputError(slot.pointer, "session", pointer["session"], expected)
    record = documents.read_json(path, "session")
    for name in ("partition", "environment", "round"):
        if record[name] != getattr(slot, name):
            expected = f"{getattr(slot, name)}, for {slot.pointer} names it"
            raise InputError(path, name, record[name], expected)
    return path.parent, record


def inputs_of(
    slot: Slot, environment: Mapping[str, Any], tests: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, str]]:
    """Return, for each test, short fingerprints of everything on which the test's result depends.

    A test depends on the sources of its own kernel and check, not on the sources of other tests.
    Therefore changes in other experiments do not make a result out of date. The fingerprints
    contain the state of the kernels' sources, but not the folder in which the kernels are
    installed.
    """
    campaign = slot.campaign
    seen = {key: value for key, value in environment.items() if key != "kernels_prefix"}
    common = {"environment": seen, "campaign": campaign.measuring()}
    if kept := surroundings.record().get("kept"):
        common["shell"] = kept
    settings_seen = _settings(slot)
    kernels = {
        name: fingerprint.kernel_source_state(name, environment["library"])
        for name in {test["kernel"] for test in tests}
    }
    checks = {
        name: check_state(name, campaign.site_file) for name in {test["check"] for test in tests}
    }
    found = {}
    for test in tests:
        values = {**common, "setting": settings_seen[test["setting"]], "test": test}
        found[test["test"]] = {
            "kernel": kernels[test["kernel"]],
            "check": checks[test["check"]],
            **{
                name: fingerprint.of_document(value)[: fingerprint.DIGITS]
                for name, value in values.items()
            },
        }
    return found


def _settings(slot: Slot) -> dict[str, Any]:
    """Return the variables of each setting for a launch, or why the setting is unavailable.

    The setting's expected transport is left out, because it does not change the launch.
    """
    values = slot.campaign.setting_values()
    return {
        name: {key: value[slot.environment][key] for key in ("variables", "unavailable")}
        for name, value in values.items()
    }


def earlier_entries(slot: Slot, but: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each test in earlier sessions of the slot: the session's folder and the test's entry.

    The oldest session is first. Tests that were interrupted or not run are left out. Records of
    another format version are left out, and so is the session with the folder `but`.
    """
    records_found = sorted(
        (path for path in slot.folder.glob("*/session.json") if path.parent != but),
        key=lambda path: path.stat().st_mtime_ns,
    )
    for path in records_found:
        try:
            record = documents.read_json(path, "session")
        except InputError:
            continue
        for entry in record["tests"]:
            if entry["folder"] is not None and not is_hole(entry, path.parent):
                yield path.parent, entry


def adopt(slot: Slot, own: Path, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Take over results of tests that other sessions of the slot ran with the same inputs.

    The files of these tests are hard-linked into `own`, the folder of this session. Therefore no
    session needs the folder of another session.
    """
    found = {}
    for folder, entry in earlier_entries(slot, own):
        if entry["inputs"] == inputs.get(entry["test"]):
            found[entry["test"]] = (folder, entry)
    adopted = []
    for folder, entry in found.values():
        first, _, rest = entry["folder"].partition("/")
        name = first if first.startswith(ADOPTED) else f"{ADOPTED}{folder.name}-{first}"
        target = own / name / rest
        if not target.exists():
            partial = target.with_name(f"{target.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(folder / entry["folder"], partial, copy_function=os.link)
            partial.rename(target)
        adopted.append({**entry, "folder": f"{name}/{rest}"})
    return adopted


def is_hole(entry: dict[str, Any], folder: Path) -> bool:
    """Tell whether a test's launch never began, or began and never ended."""
    if entry["result"] != "fail" or entry["folder"] is None:
        return False
    launches = records.read_attempts(folder / entry["folder"] / "launches.jsonl")
    return not launches or launches[-1]["exit_status"] is None


def check_sources() -> list[Path]:
    """Return the files that decide what a session does: ReFrame checks and Python modules."""
    root = paths.project_root()
    return [
        *fingerprint.below(root / "reframe_checks", {".py", ".sh"}),
        *(root / "src" / "onesided" / name for name in DECIDING),
    ]


def check_state(check: str, site: Path) -> str:
    """Return a short fingerprint of all source files that a check uses on a site.

    `check` is the name of the check's file in ``reframe_checks``; `site` is the site's file.
    """
    checks = paths.project_root() / "reframe_checks"
    others = {path for path in checks.glob("*.py") if path.name not in (check, "__init__.py")}
    others |= set((checks / "sites").glob("*.py")) - {site}
    sources = set(check_sources()) - others
    return fingerprint.of_files(sources, paths.project_root())[: fingerprint.DIGITS]

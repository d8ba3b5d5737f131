"""Run and stop Snakemake for a campaign; read Snakemake's profile; say why Snakemake failed."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onesided.campaign.campaign import Campaign
from onesided.system import cores, documents, paths, processes, strays
from onesided.system.command import Outcome, one_line
from onesided.system.errors import InputError, OnesidedError
from onesided.system.lock import lock_file

STOP_S = 20.0
"""The time that interrupted sessions get to end their launches and to cancel their batch jobs."""

ALL_CORES = "all"
"""The word in a Snakemake profile that means all usable cores. Snakemake itself ignores quotas."""

FULL_BYTES = 1_000_000
"""If fewer bytes than this are free on the disk, a failure is reported as a full disk."""

#: Snakemake's message on a failed stage. Groups: the stage, its output file, its exit status.
FAILED_STAGE = re.compile(
    r"^Command '.*?onesided(?:\.cli)? (\w+) .* >(.+) 2>&1' (?:returned|died).* (\d+)\.?$", re.M
)
#: Snakemake's message on a fault in its options (one line) or in the workflow (two lines).
OWN_FAULT = re.compile(r"^(?:\S+: error:|\w*(?:Error|Exception)\b).*(?:\n.+)?", re.M)
#: A shell returns this number plus the number of the signal that ended a program.
SIGNALLED = 128
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def profile_folder(name_or_folder: str) -> Path:
    """Return the folder of a Snakemake profile, from its name in ``profiles`` or from a path.

    Raises:
        InputError: there is no such profile; the existing names are listed.
    """
    folder = paths.project_root() / "profiles"
    for found in (folder / name_or_folder, Path(name_or_folder).resolve()):
        if (found / "config.yaml").is_file():
            return found
    known = ", ".join(sorted(found.parent.name for found in folder.glob("*/config.yaml")))
    expected = f"one of {known}, or a folder with a config.yaml"
    raise InputError(folder, None, f"no profile {name_or_folder!r}", expected)


def command(campaign: Campaign, profile: Path) -> list[str]:
    """Return the command line of Snakemake that makes the campaign's report."""
    return [
        str(Path(sys.executable).with_name("snakemake")),
        f"--snakefile={paths.project_root() / 'Snakefile'}",
        f"--directory={campaign.results}",
        f"--workflow-profile={profile}",
        f"--cores={_cores_of(_profile_document(profile))}",
        "--config",
        f"campaign={campaign.path}",
    ]


def sessions_at_a_time(profile: Path) -> int:
    """Return how many sessions may run at the same time with a Snakemake profile.

    A session needs all cores, unless ``set-threads`` in the profile gives a session fewer cores.

    Raises:
        InputError: the profile does not fit its schema, or these entries are not whole numbers.
    """
    document = _profile_document(profile)
    threads = document.get("set-threads", {})
    if not isinstance(threads, dict):
        # in the form of the command line: session=1, or a list of such texts
        words = [threads] if isinstance(threads, str) else threads
        threads = dict(str(word).partition("=")[::2] for word in words)
    if "session" not in threads:
        return 1
    return max(1, _cores_of(document) // int(threads["session"]))


def _profile_document(profile: Path) -> dict[str, Any]:
    path = profile / "config.yaml"
    document: dict[str, Any] = documents.parse_yaml(documents.read_text(path), path) or {}
    documents.check(document, "profile", path)
    return document


def _cores_of(document: Mapping[str, Any]) -> int:
    """Return how many cores a Snakemake profile gives to the stages of a campaign."""
    asked = document.get("cores", ALL_CORES)
    return cores.usable() if asked == ALL_CORES else int(asked)


def _stop(snakemake: subprocess.Popen[bytes]) -> None:
    """End Snakemake and the running stages of a campaign; sessions first end their launches.

    Snakemake itself would wait until every running stage has ended. Therefore this function kills
    Snakemake. Nothing is lost, because the next run finds the files of finished stages.
    """
    snakemake.kill()
    snakemake.wait()
    lock = str(lock_file())
    strays.stop_processes(strays.LOCK_MARKER, lock, but=strays.SESSION_MARKER, within_s=STOP_S)


def call(
    campaign: Campaign, profile: Path, variables: Mapping[str, str], look: Callable[[], None]
) -> int:
    """Run the campaign's stages until they end; return Snakemake's exit status.

    `variables` is the whole environment of the stages. `look` is called repeatedly during the run.

    Raises:
        KeyboardInterrupt: this process was told to stop, and everything ended.
    """
    log = campaign.results / "log" / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(campaign, profile),
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        return processes.wait(process, lambda: _stop(process), look)


def failure(campaign: Campaign, exit_status: int, faults: Path) -> OnesidedError:
    """Return an error that says why Snakemake failed, such as a full disk or a failed stage.

    `exit_status` is negative if a signal ended Snakemake. `errors.record_fault` recorded the
    stages' faults in the file `faults`.
    """
    lines = _recorded(faults)
    full = _full_folder(campaign)
    if full is not None:
        found = OnesidedError(f"no space left in {full}; make room and run again to go on")
    elif lines:
        found = OnesidedError("; ".join(dict.fromkeys(line["message"] for line in lines)))
        found.exit_code = max(line["exit_code"] for line in lines)
    elif exit_status < 0:
        name = signal.Signals(-exit_status).name
        found = OnesidedError(f"Snakemake was ended by {name}; run again to go on from here")
    else:
        log = campaign.results / "log" / "snakemake.log"
        found = OnesidedError(f"Snakemake exited {exit_status}: {_said(log)} (see {log})")
    return found


def _recorded(faults: Path) -> list[dict[str, Any]]:
    """Return the errors that stages of the campaign recorded in a file.

    If the disk was full, a line of the file may be incomplete; incomplete lines are left out.
    """
    try:
        lines = faults.read_text("utf-8", errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]
    except (OSError, ValueError):
        return []


def _full_folder(campaign: Campaign) -> Path | None:
    for folder in (campaign.results, paths.build_dir()):
        status = os.statvfs(folder)
        has_no_file_left = status.f_files > 0 and status.f_favail == 0
        if has_no_file_left or status.f_bavail * status.f_frsize < FULL_BYTES:
            return folder
    return None


def _said(log: Path) -> str:
    """Return why a stage failed, from Snakemake's log or from the log of the failed stage."""
    text = COLOUR.sub("", log.read_text("utf-8", errors="replace"))
    stage = FAILED_STAGE.search(text)
    if stage is None:
        own_fault = OWN_FAULT.search(text)
        return one_line(own_fault.group()) if own_fault else Outcome(None, text).main_line()
    name, log_word, status = stage.groups()
    number = int(status) - SIGNALLED
    ended = f"was ended by {signal.Signals(number).name}" if number > 0 else f"exited {status}"
    lines = _lines(Path(shlex.split(log_word)[0]))
    return one_line(f"{name} {ended}: {lines[-1]}" if lines else f"{name} {ended}")


def _lines(log: Path) -> list[str]:
    text = log.read_text("utf-8", errors="replace") if log.is_file() else ""
    return [line for line in text.splitlines() if line.strip()]

"""How a campaign ended, where it did not end well: the cause in one line."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from pathlib import Path
from typing import Any

from onesided.campaign.campaign import Campaign
from onesided.system import paths
from onesided.system.command import Outcome, one_line
from onesided.system.errors import OnesidedError

FULL_BYTES = 1_000_000
"""Less free space than this, and nothing of use can be written."""

#: How Snakemake says that a stage failed: its name, the file of its output, its exit status.
FAILED_STAGE = re.compile(
    r"^Command '.*?onesided(?:\.cli)? (\w+) .* >(.+) 2>&1' (?:returned|died).* (\d+)\.?$", re.M
)
#: What it says of itself: of its options in one line, of a workflow in two.
OWN_FAULT = re.compile(r"^(?:\S+: error:|\w*(?:Error|Exception)\b).*(?:\n.+)?", re.M)
#: What a shell adds to the number of a signal that ended a program.
SIGNALLED = 128
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def failure(campaign: Campaign, exit_status: int, faults: Path) -> OnesidedError:
    """Return why Snakemake failed: what the failing stages left, else what can be found.

    Args:
        campaign: what was run.
        exit_status: Snakemake's; negative for a signal.
        faults: the file of `errors.record_fault`.
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
    """Return the faults that stages recorded; a line may be cut where the disk was full."""
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
    """Return what Snakemake's log says of the cause, or that of the stage that failed."""
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

"""Gather the results of a campaign's sessions into Parquet files.

Every declared cell has a row, even if it failed or did not run.
"""

import json
import os
import platform
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from onesided.campaign import further, session_tables
from onesided.campaign.campaign import Campaign
from onesided.campaign.declared import tests_of
from onesided.campaign.parquet import join_parts, write_part
from onesided.campaign.session_tables import BUILT, COLUMNS, INSIDE, Collected, Piece
from onesided.campaign.slot import slots
from onesided.campaign.tables import READ_COLUMNS, RECORD_SCHEMA, CollectedCampaign
from onesided.system import cores, writing
from onesided.system.processes import commit, git

#: The variable with the start of the command that runs the campaign, in seconds since the epoch.
STARTED_VARIABLE = "ONESIDED_STARTED_S"


def _pieces(campaign: Campaign, rounds: Iterable[int]) -> list[Piece]:
    declared = tests_of(campaign)
    return [
        piece
        for slot in slots(campaign, rounds)
        for piece in session_tables.pieces(slot, further.tests_in(campaign, slot.round, declared))
    ]


def gather(campaign: Campaign, rounds: Iterable[int]) -> CollectedCampaign:
    """Return the tables with the results of all sessions in the given rounds. Nothing is written.

    Raises:
        InputError: a session is missing, or one of its files does not fit its schema.
    """
    found = [session_tables.collected(piece) for piece in _pieces(campaign, rounds)]
    cells, samples, launches = (pl.concat([one.tables[name] for one in found]) for name in COLUMNS)
    record = _campaign_record(campaign, found)
    return CollectedCampaign(
        campaign.results,
        record,
        lambda *names: cells.select(names or list(READ_COLUMNS)),
        lambda: samples,
        launches,
    )


def collect(campaign: Campaign) -> None:
    """Write ``cells``, ``samples`` and ``launches`` as Parquet, and ``campaign.json``.

    Raises:
        InputError: a session is missing, or one of its files does not fit its schema.
    """
    decisions = further.decisions(campaign)
    more = further.decided_rounds(decisions)
    pieces = _pieces(campaign, [*campaign.rounds, *more])
    with writing.temporary_folder(campaign.results) as folder:
        tasks = [(piece, folder, number) for number, piece in enumerate(pieces)]
        found = list(cores.each(_collect_piece, tasks, sum(one.most_cells for one in pieces)))
        for name in ("samples", "launches", "cells"):
            join_parts(campaign.results / f"{name}.parquet", folder)
    record = _campaign_record(campaign, found)
    _keep_locks(campaign.results, record["environments"])
    ended = {"further_rounds": more, "end": further.end(decisions)}
    writing.write_json(campaign.results / "campaign.json", {**record, **ended})


def _collect_piece(piece: Piece, folder: Path, number: int) -> Collected:
    """Write the tables of one piece of a session to a folder; return the piece's other results."""
    found = session_tables.collected(piece)
    for name, table in found.tables.items():
        write_part(table, folder, number, f"{name}.parquet")
    return replace(found, tables={})


def _keep_locks(folder: Path, described: list[dict[str, Any]]) -> None:
    """Copy Spack's lock files into the folder of results; each copy is named by its file's hash."""
    for spack in {
        document["spack"]["lock"]: document["spack"] for document in described if document["spack"]
    }.values():
        kept = folder / "spack" / f"{spack['lock_sha256']}.lock"
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            writing.write_bytes(kept, Path(spack["lock"]).read_bytes())


def _campaign_record(campaign: Campaign, found: Iterable[Collected]) -> dict[str, Any]:
    """Return the content of campaign.json, made from the campaign and its sessions' results."""
    facts = Counter[str]()
    sessions: dict[str, dict[str, Any]] = {}
    for piece in found:
        facts.update(piece.facts)
        session = sessions.setdefault(piece.session["session"], {**piece.session, INSIDE: 0.0})
        inside_s = session[INSIDE] + piece.session[INSIDE]
        session[INSIDE] = min(inside_s, session["elapsed_s"])
    timed = list(sessions.values())
    return {
        "schema": RECORD_SCHEMA,
        "name": campaign.name,
        "declared": campaign.document,
        "rounds": len(campaign.rounds),
        "environments": [campaign.environment(name) for name in campaign.environments],
        "settings": campaign.setting_values(),
        "launch_facts": [{**json.loads(text), "launches": n} for text, n in facts.items()],
        "sessions": timed,
        "timing": _timing(timed),
        "commit": commit(),
        "repository": repository(),
        "host": host(),
    }


def _timing(sessions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many seconds the campaign spent inside launches and in each other activity.

    If an earlier run of the campaign finished a session, the session's time in that run counts. If
    the record of each session has the time of its kernel builds, these builds are listed as a
    separate activity.
    """
    started_s = os.environ.get(STARTED_VARIABLE)
    in_sessions = sum(session["elapsed_s"] for session in sessions)
    inside = sum(session[INSIDE] for session in sessions)
    around = in_sessions - inside
    if all(BUILT in session for session in sessions):
        built = min(sum(session[BUILT] for session in sessions), around)
        parts = {"kernel builds": built, "ReFrame, around launches": around - built}
    else:
        parts = {"ReFrame and kernel builds, around launches": around}
    if started_s is not None:
        started = datetime.fromtimestamp(float(started_s), UTC)
        now_run = [
            session["elapsed_s"]
            for session in sessions
            if datetime.fromisoformat(session["started_at"]) >= started
        ]
        outside = time.time() - float(started_s) - sum(now_run)
        parts["environments and Snakemake, between sessions"] = max(outside, 0.0)
    return {
        "wall_s": inside + sum(parts.values()),
        "inside_launches_s": inside,
        "parts": parts,
    }


def repository() -> str | None:
    """Return the git remote's https address without a user name; None for any other address."""
    address = urlsplit((git("config", "--get", "remote.origin.url") or "").strip())
    if address.scheme != "https" or not address.hostname:
        return None
    return f"https://{address.hostname}{address.path.removesuffix('.git')}"


def host() -> dict[str, Any]:
    """Return this machine's name, operating system, processor, cores and usable cores."""
    model = None
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": model,
        "cores": cores.existing(),
        "usable_cores": cores.usable(),
    }

"""Run a campaign from validation to report: the lock, the environments, Snakemake, the progress."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from onesided.campaign import causes, collect, declared
from onesided.campaign.campaign import Campaign
from onesided.campaign.declared import cells_of
from onesided.campaign.session import Session
from onesided.campaign.watch import Plan, Say, SessionWatch
from onesided.environments import containers, declarations, fingerprint, provision
from onesided.system import cores, documents, paths, processes, standing, strays, writing
from onesided.system.errors import FAULTS_VARIABLE, InputError
from onesided.system.lock import DeadHolder, campaign_lock, lock_file

SMALLEST_FREE_SPACE_BYTES = 200 * 1024**2
STOP_S = 20.0
"""How long sessions get to end what they launched: a scheduler is asked to cancel its jobs."""


def check_machine(campaign: Campaign) -> None:
    """Compare the machine with what a campaign needs.

    Raises:
        InputError: no C compiler, no space, or results that cannot be written.
    """
    standing.check_limits()
    compiler = os.environ.get("CC", "cc")
    # an image brings its kernels
    if not containers.inside() and shutil.which(compiler) is None:
        where = "CC" if "CC" in os.environ else "PATH"
        raise InputError(where, compiler, "no such program", "a C compiler (cc, or CC=...)")
    for folder in (campaign.results, paths.build_dir()):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
        except OSError as fault:
            raise InputError(folder, None, fault.strerror, "a folder to write to") from fault
        if not os.access(folder, os.W_OK):
            raise InputError(folder, None, "a read-only folder", "a folder to write to")
        if free < SMALLEST_FREE_SPACE_BYTES:
            raise InputError(
                folder,
                None,
                f"{free // 1024**2} MiB free",
                f"{SMALLEST_FREE_SPACE_BYTES // 1024**2} MiB or more",
            )


def _is_fresh(path: Path, sources: list[Path]) -> bool:
    if not path.exists():
        return False
    made = path.stat().st_mtime_ns
    return all(source.stat().st_mtime_ns <= made for source in sources)


def ensure_declared(campaign: Campaign) -> None:
    """Have the grid described by ReFrame unless it is there and newer than its sources.

    Raises:
        InputError: the campaign selects no check.
    """
    path = campaign.results / "declared.json"
    sources = [campaign.path, paths.config_dir() / "settings.yaml", *fingerprint.check_sources()]
    if _is_fresh(path, sources):
        declared.tests_of(campaign)
    else:
        declared.declare(campaign)


def _clear(since_s: float | None) -> tuple[int, int]:
    """End the processes that carry our lock, and remove what they leave; return how many of both.

    Args:
        since_s: seconds since the epoch before which none of them began; None where no launch was
            killed: a file that nobody maps may be one that another job of ours is about to map.
    """
    ended = strays.end_processes(strays.LOCK_MARKER, str(lock_file()))
    ended += strays.end_mounts(paths.images_dir())
    removed: list[str] = []
    if since_s is not None:
        patterns = declarations.left_behind()
        removed += strays.remove_files(strays.SHARED_MEMORY, patterns.shared_memory, since_s)
        removed += strays.remove_files(strays.TEMPORARY, patterns.temporary, since_s)
    strays.remove_temporary_folders(lock_file())
    return ended, len(removed)


def clean_after(dead: DeadHolder | None, say: Say) -> None:
    """End what a killed campaign left running, and remove what it left in shared memory."""
    ended, removed = _clear(dead.started_s if dead else None)
    removed += writing.remove_unfinished(Path(dead.campaign)) if dead else 0
    if ended or removed:
        say(f"a killed campaign left {ended} processes and {removed} files; they are gone")


DEFAULT_PROFILE = "default"


def profile_folder(name_or_folder: str) -> Path:
    """Return the folder of a Snakemake profile, by its name in ``profiles`` or as a folder.

    Raises:
        InputError: there is no such profile; the names that exist are listed.
    """
    folder = paths.project_root() / "profiles"
    for found in (folder / name_or_folder, Path(name_or_folder).resolve()):
        if (found / "config.yaml").is_file():
            return found
    known = ", ".join(sorted(found.parent.name for found in folder.glob("*/config.yaml")))
    expected = f"one of {known}, or a folder with a config.yaml"
    raise InputError(folder, None, f"no profile {name_or_folder!r}", expected)


def snakemake_command(campaign: Campaign, profile: Path) -> list[str]:
    """Return the call of Snakemake that makes the campaign's report."""
    return [
        str(Path(sys.executable).with_name("snakemake")),
        f"--snakefile={paths.project_root() / 'Snakefile'}",
        f"--directory={campaign.results}",
        f"--workflow-profile={profile}",
        f"--cores={_cores_of(_profile_document(profile))}",
        "--config",
        f"campaign={campaign.path}",
    ]


def _stop(snakemake: subprocess.Popen[bytes]) -> None:
    """End Snakemake and the stages, and have the sessions end what they launched.

    Snakemake itself would wait until every stage that runs is over. It is killed, for it keeps
    nothing: what is finished is seen from the files.
    """
    snakemake.kill()
    snakemake.wait()
    lock = str(lock_file())
    strays.stop_processes(strays.LOCK_MARKER, lock, but=strays.SESSION_MARKER, within_s=STOP_S)


def _call_snakemake(campaign: Campaign, profile: Path, environment: dict[str, str]) -> int:
    log = campaign.results / "log" / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    begin_s, status = time.time(), None
    with log.open("wb") as output:
        process = subprocess.Popen(
            snakemake_command(campaign, profile),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            status = processes.wait(process, lambda: _stop(process))
        finally:
            _clear(None if status == 0 else begin_s)
            if status != 0:
                writing.remove_unfinished(campaign.results)
    return status


def reopen(sessions: list[Session], campaign: Campaign, say: Say) -> None:
    """Take the sessions with holes up again, and have the tables made again from them."""
    holes = sum(session.reopen() for session in sessions)
    if holes:
        # Snakemake runs no session for its pointer alone while everything made from it exists
        (campaign.results / "cells.parquet").unlink(missing_ok=True)
        say(f"launches that never came to an end, to be run again: {holes}")


LAUNCH_OVERHEAD_S = 2.0
"""What a launch takes beside its cells, about: the start of ReFrame, of the ranks, of MPI."""


ALL_CORES = "all"
"""What a profile says for as many cores as there are to use; Snakemake knows of no quota."""


def sessions_at_a_time(profile: Path) -> int:
    """Return how many sessions a Snakemake profile lets run side by side.

    A session asks for all cores unless the profile's ``set-threads`` says for how many.

    Raises:
        InputError: the profile does not fit its schema, or holds no whole numbers there.
    """
    document = _profile_document(profile)
    threads = document.get("set-threads", {})
    if not isinstance(threads, dict):
        # as on the command line: session=1, or a list of such
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
    """Return how many cores a profile gives its stages: all are those that one may use."""
    asked = document.get("cores", ALL_CORES)
    return cores.usable() if asked == ALL_CORES else int(asked)


def announcement(sessions: list[Session], at_a_time: int = 1, more: str = "") -> str:
    """Return in one line what will be run, and about how long it will take.

    Args:
        sessions: all of the campaign, as far as they are decided.
        at_a_time: how many sessions run side by side.
        more: of the further rounds that may come.
    """
    waiting = [session for session in sessions if not session.record.exists()]
    waiting_s = sum(
        test.get("expected_s", 0.0) + LAUNCH_OVERHEAD_S
        for session in waiting
        for test in session.tests
    )
    mean_s = waiting_s / max(1, len(waiting))
    minutes = max(1, round(math.ceil(len(waiting) / at_a_time) * mean_s / 60))
    side_by_side = f", {at_a_time} at a time" if at_a_time > 1 else ""
    return f"{_sizes(sessions)}, {len(waiting)} to run{side_by_side}: about {minutes} min{more}"


def _sizes(sessions: list[Session]) -> str:
    """Return how many launches and cells the sessions have: those of each library by themselves."""
    sizes = Counter(
        (len(session.tests), sum(len(cells_of(test)) for test in session.tests))
        for session in sessions
    )
    return " and ".join(
        f"{launches} launches with {cells} cells in each of {count} sessions"
        for (launches, cells), count in sizes.items()
    )


def check_environments(sessions: list[Session], campaign: Campaign) -> None:
    """Refuse an environment that none of the campaign's tests is for.

    Raises:
        InputError: there is one.
    """
    for session in sessions:
        if not session.tests:
            name, library = session.slot.environment, session.environment["library"]
            expected = f"environments that a selected check is for: {name} is of {library}"
            raise InputError(campaign.path, "environments", name, expected)


def explanation(sessions: list[Session], more: str = "") -> list[str]:
    """Return a line for each session that has tests to run: how many, and why.

    Args:
        sessions: as for `announcement`.
        more: likewise.
    """
    lines = []
    for session in sessions:
        reasons = Counter(session.reasons().values())
        if reasons:
            slot = session.slot
            why = "; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            lines.append(f"round {slot.round}  {slot.environment}  {slot.partition}: tests {why}")
    if more:
        return [*(lines or ["every session is finished"]), more.removeprefix("; ")]
    return lines or ["every session is finished: there is nothing to run"]


def run(
    campaign: Campaign,
    say: Say,
    demand: Callable[[Iterable[str]], None],
    profile: str = DEFAULT_PROFILE,
    *,
    explain: bool = False,
) -> None:
    """Run the campaign: what is finished is adopted, the rest is run, the report is made again.

    Args:
        campaign: a validated campaign.
        say: called with each line of progress.
        demand: raises `InputError` where a kernel has no experiment that could judge it.
        profile: of Snakemake's, which says how many sessions there are at a time.
        explain: only say which tests would be run, and why.

    Raises:
        InputError: the machine or the selection do not fit; nothing was started.
        OnesidedError: a stage failed or was interrupted; its line says which.
    """
    chosen = profile_folder(profile)
    at_a_time = sessions_at_a_time(chosen)
    check_machine(campaign)
    started_s = time.time()
    with ExitStack() as stack:
        stack.enter_context(processes.termination_interrupts())
        clean_after(stack.enter_context(campaign_lock(campaign.results, say)), say)
        stack.enter_context(strays.owned_by(campaign.results, lock_file()))
        ensure_declared(campaign)
        provision.provide_all(campaign.environments, provider=campaign.provider)
        faults = campaign.results / "log" / "faults.jsonl"
        faults.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            collect.STARTED_VARIABLE: str(started_s),
            FAULTS_VARIABLE: str(faults),
        }
        plan = Plan(campaign)
        demand(test["kernel"] for test in plan.tests)
        sessions = plan.sessions(campaign.rounds)
        check_environments(sessions, campaign)
        sessions += plan.decided()
        if explain:
            for line in explanation(sessions, plan.more()):
                say(line)
            return
        reopen(sessions, campaign, say)
        say(announcement(sessions, at_a_time, plan.more()))
        with SessionWatch(sessions, say, plan):
            exit_status = _call_snakemake(campaign, chosen, environment)
        if exit_status != 0:
            raise causes.failure(campaign, exit_status, faults)

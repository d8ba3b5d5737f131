"""Run a whole campaign: check it, provide its MPIs, run its sessions, and make the report."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from onesided.campaign import collect, declared, snakemake
from onesided.campaign.campaign import Campaign
from onesided.campaign.progress import Plan, Progress, Say, announcement, explanation
from onesided.campaign.session import Session
from onesided.campaign.slot import check_sources
from onesided.environments import containers, declarations, provision
from onesided.system import paths, processes, standing, strays, writing
from onesided.system.errors import FAULTS_VARIABLE, InputError
from onesided.system.lock import DeadHolder, campaign_lock, lock_file

SMALLEST_FREE_SPACE_BYTES = 200 * 1024**2


def check_machine(campaign: Campaign) -> None:
    """Check that the machine has what a campaign needs.

    Raises:
        InputError: there is no C compiler or too little space, a limit is too low, or results
            cannot be written.
    """
    standing.check_limits()
    compiler = os.environ.get("CC", "cc")
    # an image already contains the kernels
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
    """Let ReFrame describe the campaign's tests, unless ``declared.json`` is still up to date.

    Raises:
        InputError: the campaign selects no check.
    """
    path = campaign.results / "declared.json"
    sources = [campaign.path, paths.config_dir() / "settings.yaml", *check_sources()]
    if not _is_fresh(path, sources) or not declared.is_for_these_cores(path):
        declared.declare(campaign)


def _clear(since_s: float | None) -> tuple[int, int]:
    """End the processes that campaigns of this checkout left behind, and remove their files.

    Return how many processes ended and how many files were removed. `since_s` is when the first of
    the processes began, in seconds since the epoch; None if no launch was killed. If `since_s` is
    None, no file is removed, because another job of this user may be about to map the file.
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
    """End the processes of a killed campaign, and remove its files from shared memory."""
    ended, removed = _clear(dead.started_s if dead else None)
    removed += writing.remove_unfinished(Path(dead.campaign)) if dead else 0
    if ended or removed:
        say(f"a killed campaign left {ended} processes and {removed} files; they are gone")


def _run_stages(
    campaign: Campaign, profile: Path, variables: Mapping[str, str], progress: Progress
) -> int:
    begin_s, status = time.time(), None
    try:
        status = snakemake.call(campaign, profile, variables, progress.look)
        progress.look()
    finally:
        _clear(None if status == 0 else begin_s)
        if status != 0:
            writing.remove_unfinished(campaign.results)
    return status


def reopen(sessions: list[Session], campaign: Campaign, say: Say) -> None:
    """Reopen the finished sessions in which some launches did not run.

    After sessions are reopened, the campaign's tables are made again.
    """
    holes = sum(session.reopen() for session in sessions)
    if holes:
        # if the tables exist, Snakemake does not run a session although its pointer is missing
        (campaign.results / "cells.parquet").unlink(missing_ok=True)
        say(f"launches that never came to an end, to be run again: {holes}")


def check_environments(sessions: list[Session], campaign: Campaign) -> None:
    """Check that the campaign has at least one test for each of its environments.

    Raises:
        InputError: there is an environment without a test.
    """
    for session in sessions:
        if not session.tests:
            name, library = session.slot.environment, session.environment["library"]
            expected = f"environments that a selected check is for: {name} is of {library}"
            raise InputError(campaign.path, "environments", name, expected)


def run(
    campaign: Campaign,
    say: Say,
    demand: Callable[[Iterable[str]], None],
    profile: str,
    *,
    explain: bool = False,
) -> None:
    """Run the campaign: keep finished sessions, run all others, and make the report again.

    `say` is called with each line of progress. `demand` raises `InputError` if one of the kernels
    has no experiment. The Snakemake profile says how many sessions run at a time. If `explain` is
    true, nothing is run, and lines say which tests would run, and why.

    Raises:
        InputError: the machine or the selection does not fit; nothing was started.
        OnesidedError: a stage failed or was interrupted; the message says which stage.
    """
    chosen = snakemake.profile_folder(profile)
    at_a_time = snakemake.sessions_at_a_time(chosen)
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
        progress = Progress(sessions, say, plan)
        exit_status = _run_stages(campaign, chosen, environment, progress)
        if exit_status != 0:
            raise snakemake.failure(campaign, exit_status, faults)

"""Kill a part of a campaign at a random moment, run the campaign again, judge the results."""

import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import yaml
from running import KINDS, Campaign, campaign_processes

from onesided.system import documents, strays

#: The possible victims: the process group, `onesided run` alone, or one process below it.
VICTIMS = ("group", "run", *KINDS)
NOBODY = "nobody"
#: A kill of one of these ends `onesided run`; a kill of another may not.
FROM_THE_TOP = ("group", "run")
#: A kill of one of these is a result: a crash of one cell, as if the MPI had ended it.
OF_THE_LAUNCH = ("launcher", "kernel")
OF_A_LOST_LAUNCH = ("crash", "teardown_failure")
GONE_S = 5
CELL = ["environment", "partition", "round", "test", "cell"]
SAMPLE = [*CELL, "metric", "rank", "burst", "index"]
#: The names of documents that are not whole yet.
UNFINISHED_FILES = (".*.????????", "*.partial")


@dataclass
class Kill:
    """A kill and its effects: lines for what was lost, done twice, or left behind.

    Attributes:
        seed, index: the random moment.
        moment_s: seconds from the start of the campaign.
        victim: one of VICTIMS; NOBODY if the campaign had ended before.
    """

    seed: int
    index: int
    moment_s: float
    victim: str = NOBODY
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    @property
    def faults(self):
        return [*self.lost, *self.twice, *self.strays]


class Place:
    """A folder with all files and processes of a campaign of two sessions."""

    def __init__(self, folder, environments, variables, campaign):
        """Write the campaign; `variables` say which checkout and build it uses."""
        (folder / "tmp").mkdir(parents=True)
        path = folder / "tiny.yaml"
        path.write_text(yaml.safe_dump({**campaign, "environments": environments}))
        self.folder = folder
        self.temporary = folder / "tmp"
        # no other program on this machine uses this name for its segments
        self.tag = f"kill{os.getpid()}{folder.name}"
        self.campaign = Campaign(
            [sys.executable, "-m", "onesided.cli", "run", path],
            folder / "results" / "tiny",
            folder,
            {
                "ONESIDED_BUILD": str(folder / "build"),
                **variables,
                "ONESIDED_RESULTS": str(folder / "results"),
                "ONESIDED_LOCK": str(folder / "lock"),
                "TMPDIR": str(self.temporary),
                "FAKE_TAG": self.tag,
            },
        )

    def processes(self):
        """Return the processes that anything here started, whatever their names."""
        return strays.marked_processes("ONESIDED_RESULTS", str(self.folder / "results"))


@dataclass
class Undisturbed:
    """The verdicts of a campaign that nobody kills, and its time in seconds."""

    cells: dict
    verdicts: set
    elapsed_s: float


def undisturbed(place):
    """Run a campaign to its end; return its verdicts and its time."""
    begin = time.monotonic()
    place.campaign.start()
    output = place.campaign.finish()
    elapsed_s = time.monotonic() - begin
    assert place.campaign.process.returncode == 0, output
    results = place.campaign.results
    return Undisturbed(statuses(results), set(verdicts(results)), elapsed_s)


def statuses(results):
    """Return the status of each cell, by the fields that identify the cell."""
    rows = pl.read_parquet(results / "cells.parquet").select(*CELL, "status").rows()
    return {row[:-1]: row[-1] for row in rows}


def verdicts(results):
    """Return how many verdicts each cell of an environment has."""
    document = documents.read_json(results / "verdicts.json", "verdicts")
    names = ("system", "partition", "environment", "test", "cell")
    return Counter(tuple(one[name] for name in names) for one in document["cells"])


def kill_at(place, kill, source, usual):
    """Start the campaign; kill the first victim in a random order that is there.

    Return the segments of the campaign. If the campaign ends before the moment, its time is the new
    estimate, because the time changes on a busy machine.
    """
    campaign = place.campaign
    campaign.start()
    begin = time.monotonic()
    order = source.sample(VICTIMS, len(VICTIMS))
    fraction = source.random()
    while time.monotonic() - begin < kill.moment_s and campaign.process.poll() is None:
        time.sleep(0.005)
    segments = campaign.segments()
    if campaign.process.poll() is not None:
        usual.elapsed_s = time.monotonic() - begin
    else:
        found = campaign_processes(campaign.results)
        kill.victim = next(kind for kind in order if kind in FROM_THE_TOP or found[kind])
        if kill.victim == "group":
            campaign.kill_group()
        elif kill.victim == "run":
            campaign.process.kill()
        else:
            there = found[kill.victim]
            _kill(there[int(fraction * len(there))])
    if kill.victim in FROM_THE_TOP:
        campaign.process.wait()
    else:
        campaign.finish()
    return segments


def _kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def tried(place, seed, index, usual):
    """Kill at a random moment, run the campaign to its end, and judge.

    Args:
        place: the folder of the killed campaign.
        seed: the seed of all moments.
        index: the index of this moment.
        usual: the results of the campaign that nobody killed (`Undisturbed`).
    """
    source = random.Random(f"{seed},{index}")
    kill = Kill(seed, index, source.random() * usual.elapsed_s)
    try:
        segments = kill_at(place, kill, source, usual)
        over, passed = place.campaign.whole_sessions(), place.campaign.passed()
        place.campaign.start()
        output = place.campaign.finish()
        if place.campaign.process.returncode != 0:
            kill.lost.append(f"the second run failed: {output.strip()[-500:]}")
        else:
            judge_results(place.campaign, kill, usual, over, passed)
        judge_what_is_left(place, kill, segments)
    finally:
        place.campaign.end()
    return kill


def judge_results(campaign, kill, usual, over, passed):
    """Say which results are lost, and which were made twice.

    `over` and `passed` are the sessions that were finished and the tests that had passed before.
    """
    results = campaign.results
    if not (results / "report" / "index.html").exists():
        kill.lost.append("no report")
    found = statuses(results)
    kill.lost += [f"no cell {cell}" for cell in usual.cells.keys() - found.keys()]
    kill.lost += [f"a cell that was not declared: {cell}" for cell in found.keys() - usual.cells]
    others = [cell for cell in found if found[cell] != usual.cells.get(cell)]
    allowed = 1 if kill.victim in OF_THE_LAUNCH else 0
    if len(others) > allowed or any(found[cell] not in OF_A_LOST_LAUNCH for cell in others):
        kill.lost += [
            f"{found[cell]} in place of {usual.cells.get(cell)}: {cell}" for cell in others
        ]
    counted = verdicts(results)
    kill.lost += [f"no verdict: {cell}" for cell in usual.verdicts - counted.keys()]
    kill.twice += [f"{count} verdicts: {cell}" for cell, count in counted.items() if count != 1]
    for name, keys in (("cells", CELL), ("samples", SAMPLE)):
        rows = pl.scan_parquet(results / f"{name}.parquet").group_by(keys).len()
        more = rows.filter(pl.col("len") > 1).collect()
        kill.twice += [f"{more.height} {name} are there more than once"] if more.height else []
    judge_sessions(campaign, kill, over)
    kept, pooled = campaign.passed(), campaign.pooled()
    for folder, made in passed.items():
        if kept.get(folder) != made or folder not in pooled:
            kill.twice.append(f"a test that had passed was run again: {folder}")


def judge_sessions(campaign, kill, over):
    """Say which sessions exist twice or ran again, and which sessions pooled a broken try."""
    sessions = campaign.sessions()
    for path, made in over.items():
        if sessions.get(path) != made:
            kill.twice.append(f"a finished session was run again: {path}")
    slots = Counter(path.parents[1] for path in sessions)
    kill.twice += [f"{count} sessions in {slot}" for slot, count in slots.items() if count > 1]
    pooled = pl.read_parquet(campaign.results / "cells.parquet").select("session", "attempt")
    kill.lost += [f"no session in force has cells: {path}" for path in _unused(campaign, pooled)]
    for session, attempt in pooled.unique().rows():
        path = campaign.results / session / "session.json"
        record = documents.read_json(path, "session")
        whole = {Path(entry["folder"]).parts[0] for entry in record["tests"] if entry["folder"]}
        if f"attempt-{attempt}" not in whole:
            kill.twice.append(f"attempt {attempt} of {session} was broken off, and pooled")


def _unused(campaign, pooled):
    """Return the sessions without pooled cells."""
    used = {campaign.results / session for session in pooled["session"]}
    return [path for path in campaign.sessions() if path.parent not in used]


def judge_what_is_left(place, kill, segments):
    """Say which processes, segments and temporary files are left after the campaign."""
    deadline = time.monotonic() + GONE_S
    while (left := _left(place, segments)) and time.monotonic() < deadline:
        time.sleep(0.05)
    kill.strays += left


def _left(place, segments):
    left = [f"process {one}" for one in place.processes()]
    left += [f"segment {path}" for path in segments if Path(path).exists()]
    left += [f"segment {path}" for path in strays.SHARED_MEMORY.glob(f"*{place.tag}_*")]
    left += [f"temporary file {path}" for path in place.temporary.iterdir()]
    for pattern in UNFINISHED_FILES:
        files = place.campaign.results.rglob(pattern)
        left += [f"unfinished file {one}" for one in files if ".snakemake" not in one.parts]
    return left

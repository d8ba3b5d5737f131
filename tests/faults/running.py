"""A campaign that a test runs and kills: its processes by what they are, and what is finished."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from onesided.campaign import slot
from onesided.system import documents, strays

#: What snakemake starts by the name of a stage, beside sessions.
STAGES = ("environments", "declare", "further", "collect", "analyse", "report")
LAUNCHERS = ("mpiexec", "mpiexec.hydra", "prterun")
INTERPRETERS = re.compile(r"python[\d.]*|(ba|da)?sh")
#: What is below `onesided run`, from the top.
KINDS = ("snakemake", "stage", "session", "reframe", "script", "launcher", "kernel")
APPEAR_S = 90
FINISH_S = 600


def command_line(process):
    """Return the words of a process's command line; none of one that is gone."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [word.decode(errors="replace") for word in words if word]


def kind_of(words):
    """Return which of KINDS a command line is, None if it is another."""
    if words and INTERPRETERS.fullmatch(Path(words[0]).name):
        words = [word for word in words[1:] if not word.startswith("-")]
    if not words:
        return None
    program, first = Path(words[0]), (words[1:] or [""])[0]
    if program.name in ("snakemake", "reframe"):
        return program.name
    if program.name in ("onesided", "onesided.cli"):
        return "session" if first == "session" else "stage" if first in STAGES else None
    if program.name == "launch.sh":
        return "script"
    if program.name in LAUNCHERS:
        return "launcher"
    is_kernel = program.parent.name == "bin" and "kernels" in program.parts
    return "kernel" if is_kernel else None


def campaign_processes(results):
    """Return the ids of a campaign's processes below `onesided run`, by what they are."""
    found = {kind: [] for kind in KINDS}
    for process in strays.marked_processes(strays.CAMPAIGN_MARKER, str(results)):
        kind = kind_of(command_line(process))
        if kind:
            found[kind].append(process)
    return found


class Campaign:
    """A command that runs a campaign, started in a process group of its own."""

    def __init__(self, command, results, folder, variables=None):
        """Keep what is run, where, with which variables beside ours, and its folder of results."""
        self.command = command
        self.results = results
        self.folder = folder
        self.variables = variables or {}
        self.process = None

    def start(self):
        """Start it, or start it again."""
        self.process = subprocess.Popen(
            list(map(str, self.command)),
            cwd=self.folder,
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self):
        """Wait for the end; return what it said."""
        output, _ = self.process.communicate(timeout=FINISH_S)
        return output

    def end(self):
        """Kill what is left of it."""
        if self.process and self.process.poll() is None:
            self.kill_group()
        strays.end_processes(strays.CAMPAIGN_MARKER, str(self.results))

    def kill_group(self):
        """Kill the process group that the command leads."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def sessions(self):
        """Return when each finished session was written, by its record."""
        return {
            path: path.stat().st_mtime_ns
            for path in self.results.glob("sessions/*/*/round-*/*/session.json")
        }

    def whole_sessions(self):
        """Return the same without those that the next run takes up again: they have holes."""
        found = self.sessions()
        return {path: made for path, made in found.items() if not _has_holes(path)}

    def segments(self):
        """Return the files in shared memory that the campaign's kernels map just now."""
        ranks = campaign_processes(self.results)["kernel"]
        return {path for path in strays.mapped_segments(ranks) if Path(path).exists()}

    def wait_for_the_session_after(self, over=1):
        """Return when so many are finished and the kernel of another maps shared memory."""
        deadline = time.monotonic() + over * APPEAR_S
        while time.monotonic() < deadline:
            if len(self.sessions()) >= over and self.segments():
                return
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.01)
        raise AssertionError("no kernel was seen running")


def _has_holes(path):
    record = documents.read_json(path, "session")
    return any(slot.is_hole(entry, path.parent) for entry in record["tests"])

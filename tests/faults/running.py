"""A campaign that a test runs and kills: the kinds of its processes, and its finished sessions."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from onesided.campaign import slot
from onesided.system import documents, strays

#: Names of stages that snakemake starts, besides sessions.
STAGES = ("environments", "declare", "further", "collect", "analyse", "report")
LAUNCHERS = ("mpiexec", "mpiexec.hydra", "prterun")
INTERPRETERS = re.compile(r"python[\d.]*|(ba|da)?sh")
#: The processes below `onesided run`, from the top.
KINDS = ("snakemake", "stage", "session", "reframe", "script", "launcher", "kernel")
APPEAR_S = 90
FINISH_S = 600


def command_line(process):
    """Return the words of a process's command line; none if the process has ended."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [word.decode(errors="replace") for word in words if word]


def kind_of(words):
    """Return which of KINDS a command line is; None for another one."""
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
    # a kernel that lists its cells is no rank: no launcher started it
    return "kernel" if is_kernel and "--list-cells" not in words else None


def campaign_processes(results):
    """Return the ids of a campaign's processes below `onesided run`, by kind."""
    found = {kind: [] for kind in KINDS}
    for process in strays.marked_processes(strays.CAMPAIGN_MARKER, str(results)):
        kind = kind_of(command_line(process))
        if kind:
            found[kind].append(process)
    return found


class Campaign:
    """A command that runs a campaign in its own process group."""

    def __init__(self, command, results, folder, variables=None):
        """Keep the command, its folder, its added variables, and its results folder."""
        self.command = command
        self.results = results
        self.folder = folder
        self.variables = variables or {}
        self.process = None

    def start(self):
        """Start the command, or start it again."""
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
        """Wait for the end; return the command's output."""
        output, _ = self.process.communicate(timeout=FINISH_S)
        return output

    def end(self):
        """Kill the remaining processes."""
        if self.process and self.process.poll() is None:
            self.kill_group()
        strays.end_processes(strays.CAMPAIGN_MARKER, str(self.results))

    def kill_group(self):
        """Kill the process group that the command leads."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def sessions(self):
        """Return the time at which the record of each finished session was written."""
        return {
            path: path.stat().st_mtime_ns
            for path in self.results.glob("sessions/*/*/round-*/*/session.json")
        }

    def whole_sessions(self):
        """Return the same without sessions with holes, which the next run continues."""
        found = self.sessions()
        return {path: made for path, made in found.items() if not _has_holes(path)}

    def passed(self):
        """Return when the mark of each test that passed was written; the keys are tests' folders.

        Another run of a campaign that was killed keeps these tests.
        """
        marks = self.results.glob("sessions/*/*/round-*/*/attempt-*/reframe/output/**/passed.json")
        return {mark.parent: mark.stat().st_mtime_ns for mark in marks}

    def pooled(self):
        """Return the folders of tests in the records of all sessions."""
        return {
            path.parent / entry["folder"]
            for path in self.sessions()
            for entry in documents.read_json(path, "session")["tests"]
            if entry["folder"]
        }

    def segments(self):
        """Return the files in shared memory that the campaign's kernels map now."""
        ranks = campaign_processes(self.results)["kernel"]
        return {path for path in strays.mapped_segments(ranks) if Path(path).exists()}

    def wait_for_the_launch_after(self, over=1):
        """Wait until so many tests have passed and the kernel of another maps shared memory."""
        deadline = time.monotonic() + over * APPEAR_S
        while time.monotonic() < deadline:
            if len(self.passed()) >= over and self.segments():
                return
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.01)
        raise AssertionError("no kernel was seen running")


def _has_holes(path):
    record = documents.read_json(path, "session")
    return any(slot.is_hole(entry, path.parent) for entry in record["tests"])

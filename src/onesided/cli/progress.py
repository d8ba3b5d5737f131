"""`onesided progress`: launch one kernel under each MPI, and print a table without verdicts."""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from onesided.campaign import campaign, records
from onesided.cli.command import KEEP_ENVIRONMENT, argument, command
from onesided.environments import declarations, kernels, provision, settings
from onesided.system import surroundings, wire
from onesided.system.errors import InputError, OnesidedError

KERNEL = "progress"
LAUNCH_TIMEOUT_S = 120
RANKS, HOSTS_DELAY_S = 2, 50e-6
"""The number of ranks and the delay of a message, in launches on simulated hosts."""
TIMED_OUT = 124
"""The exit status for a launcher that was ended after `LAUNCH_TIMEOUT_S` seconds."""
ONE_MOMENT = ("--latency-passes", "0")
"""Options with which the kernel measures each latency only once, to save time. A user's own
``--latency-passes`` replaces this value."""
#: A library's line may begin with ``[host:4711]`` or ``[1700000000.123456] [host:4711:0]``.
PROCESS = re.compile(r"^(\[[^]]*\d[^]]*\]\s*)+")


@command(
    "progress",
    "print which operations progress now, one launch per MPI",
    argument(
        "--environment",
        action="append",
        metavar="NAME",
        help="of config/environments.yaml; may be repeated (default: those of the campaign quick)",
    ),
    argument("--setting", default=settings.DEFAULT, help="a name in config/settings.yaml"),
    argument("options", nargs="*", help="after `--`: options of the kernel (see docs/progress.md)"),
    KEEP_ENVIRONMENT,
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Launch the kernel and print a table for each environment; return 1 if a launch failed.

    Raises:
        InputError: an environment or the setting is not declared.
        OnesidedError: the kernel does not take the options; nothing was launched.
    """
    names = options.environment or campaign.load("quick").environments
    settings.check(names, options.setting)
    _check_words(options.options)
    surroundings.say()
    provision.provide_all(names)
    failed = [name for name in names if not _launch(name, options)]
    return 1 if failed else 0


def _check_words(words: list[str]) -> None:
    """Before any installation, raise an error if the kernel's options do not begin with a dash."""
    if words and not words[0].startswith("-"):
        expected = f"--environment {words[0]} for an MPI, or after `--` the kernel's options"
        raise InputError("progress", None, repr(words[0]), expected)


def _launch(name: str, options: argparse.Namespace) -> bool:
    document = provision.read(name)
    print(f"\n{name}, setting {options.setting}", flush=True)
    if document["status"] != "ready":
        print(f"unavailable: {document['reason']}", flush=True)
        return False
    try:
        variables = kernels.variables(document, options.setting)
        kernels.build(document, [KERNEL])
    except OnesidedError as fault:
        print(fault, flush=True)
        return False
    cells = kernels.check_options(document, variables, KERNEL, options.options)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        output = Path(folder, "lines.jsonl")
        # a later option replaces an earlier option: if the user gives --output, there is no table
        words = ["--output", str(output), *ONE_MOMENT, *options.options]
        line = kernels.launch_line(document, KERNEL, words)
        if settings.spans_hosts(options.setting):
            spanning = declarations.spanning([document["family"]])
            line = [*wire.command(RANKS, 1, spanning, wire.Wire(HOSTS_DELAY_S)), *line]
        try:
            status = kernels.launch(line, variables, LAUNCH_TIMEOUT_S, errors=errors)
            end = f"the launcher exited {status}"
        except OnesidedError as fault:
            status, end = TIMED_OUT, str(fault)
        if not any(word.startswith("--output") for word in options.options):
            _print_table(output, cells, status)
        errors.seek(0)
        _print_once(errors.read().decode(errors="replace").splitlines())
    if status != 0:
        print(end, flush=True)
    return status == 0


def _print_table(output: Path, cells: list[str], status: int) -> None:
    """Print the table of a launch, unless the options asked only for help or for cells."""
    from onesided.studies.stfc.progress import launch_table

    launch = records.read_launch(output, output.with_name("none"))
    if status == 0 and not launch.headers:
        return
    record = {
        "begin_s": 0.0,
        "end_s": LAUNCH_TIMEOUT_S,  # read only if the launcher timed out
        "exit_status": status,
        "timed_out": status == TIMED_OUT,
        "finished": launch.finished,
        "given_up": False,
        "cells_begun": len(launch.started),
    }
    launch.attempts.append(record)
    for line in launch_table.lines(launch, cells):
        print(line, flush=True)


def _print_once(lines: Iterable[str]) -> None:
    """Below the table, the function prints what the ranks wrote to the terminal.

    An MPI library may print a line for each window. Therefore, of several lines that differ only in
    the process name at their beginning, only the first line is printed.
    """
    said: dict[str, list[str]] = {}
    for line in lines:
        if line.strip():
            said.setdefault(PROCESS.sub("", line), []).append(line)
    for same in said.values():
        times = f" ({len(same)} times)" if len(same) > 1 else ""
        print(f"{same[0].rstrip()}{times}", file=sys.stderr, flush=True)

"""The command `onesided`: one subcommand a stage, each registered by the module that does it."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Sequence

from onesided import __version__
from onesided.system import paths, processes, standing, surroundings
from onesided.system.errors import OnesidedError, record_fault

STAGES = (
    "run",
    "progress",
    "rerun",
    "reproduce",
    "environments",
    "declare",
    "session",
    "further",
    "collect",
    "analyse",
    "report",
    "references",
    "reproducibility",
    "compare",
    "versions",
    "advice",
    "spack",
    "site",
    "container",
    "new",
)

OF_MANY_VALUES = ("further", "collect", "analyse", "report", "reproducibility", "compare")
"""Stages that make values by the million, and hardly a cycle of them: looking for cycles would be a
fifth of their time."""


def build_parser(stages: Sequence[str] = STAGES) -> argparse.ArgumentParser:
    """Return the parser with the subcommands of ``stages`` in it."""
    parser = argparse.ArgumentParser(prog="onesided", description=__import__("onesided").__doc__)
    parser.add_argument("--version", action="version", version=f"onesided {__version__}")
    subparsers = parser.add_subparsers(metavar="STAGE", required=True)
    for stage in stages:
        importlib.import_module(f"onesided.cli.{stage}").register(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one stage; return 0, 1 (it failed) or 2 (bad input)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    standing.mend()
    paths.resolve_variables()
    # a session is started many times in a campaign: it loads neither polars nor charts
    stages = [stage for stage in STAGES if [stage] == list(arguments[:1])] or STAGES
    options = build_parser(stages).parse_args(arguments)
    if stages[0] in OF_MANY_VALUES:
        gc.disable()
    try:
        paths.check()
        surroundings.clear()
        # a command that launches has this option
        if not hasattr(options, "keep_environment"):
            return options.function(options)
        if options.keep_environment:
            surroundings.keep()
        with processes.termination_interrupts():
            return options.function(options)
    except OnesidedError as fault:
        record_fault(fault)
        print(f"onesided: {fault}", file=sys.stderr)
        return fault.exit_code
    except Exception as fault:
        # a fault of ours: whoever waits for this stage gets a line, the log gets the trace
        record_fault(OnesidedError(f"{arguments[0]} failed: {type(fault).__name__}: {fault}"))
        raise
    except KeyboardInterrupt:
        print("onesided: interrupted; the next run goes on from here", file=sys.stderr)
        return 130
    finally:
        gc.enable()

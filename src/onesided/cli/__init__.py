"""The command `onesided`; a module here is imported only when one of its commands is called."""

import argparse
import gc
import importlib
import sys
from collections.abc import Mapping, Sequence

from onesided import __version__
from onesided.cli.command import COMMANDS
from onesided.system import paths, processes, standing, surroundings
from onesided.system.errors import OnesidedError, record_fault

MODULES: Mapping[str, str] = {
    "run": "stages",
    "progress": "progress",
    "rerun": "rerun",
    "reproduce": "reproduce",
    "environments": "machine",
    "declare": "stages",
    "session": "stages",
    "further": "stages",
    "collect": "stages",
    "analyse": "stages",
    "report": "stages",
    "references": "compare",
    "collect-reframe": "stages",
    "reproducibility": "compare",
    "compare": "compare",
    "versions": "compare",
    "advice": "rerun",
    "estimate": "rerun",
    "spack": "machine",
    "site": "machine",
    "container": "machine",
    "wire": "machine",
    "new": "new_experiment",
}
"""The module of each command, by the command's first word. The command `onesided --help` lists the
commands in the order of this mapping."""

OF_ACTIONS = {
    "spack": ("what Spack is told of this machine", "Tell Spack what this machine has."),
    "container": ("container images", "Build the images, and see whether two hold the same."),
    "site": ("a site file of ReFrame", "Say what a site file lacks, before anything is submitted."),
}
"""Two help texts of each command that has actions: a line for the list, and a description."""

AS_IN_THE_SHELL = ("wire",)
"""The commands that keep the user's shell variables, because they start a program of the user."""

OF_MANY_VALUES = (
    *("further", "collect", "collect-reframe", "analyse", "report"),
    *("reproducibility", "compare"),
)
"""The commands that make millions of Python objects but hardly any reference cycles. These commands
run without Python's search for reference cycles, which would take a fifth of the time."""


def build_parser(words: Sequence[str] = tuple(MODULES)) -> argparse.ArgumentParser:
    """Return an argument parser for the commands whose first word is one of the given words."""
    for module in {MODULES[word] for word in words}:
        importlib.import_module(f"{__name__}.{module}")
    parser = argparse.ArgumentParser(prog="onesided", description=__import__("onesided").__doc__)
    parser.add_argument("--version", action="version", version=f"onesided {__version__}")
    subparsers = parser.add_subparsers(metavar="STAGE", required=True)
    for word in words:
        if word in OF_ACTIONS:
            help_line, description = OF_ACTIONS[word]
            own = subparsers.add_parser(word, help=help_line, description=description)
            _add(own.add_subparsers(metavar="ACTION", required=True), word)
        else:
            _add(subparsers, word)
    return parser


def _add(subparsers: argparse._SubParsersAction, word: str) -> None:
    for words, found in COMMANDS.items():
        if words[0] == word:
            found.add_to(subparsers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0, 1 (the command failed) or 2 (bad input)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    standing.mend()
    paths.resolve_variables()
    # a campaign starts `session` many times: it must load neither polars nor charts
    words = [word for word in MODULES if [word] == list(arguments[:1])] or tuple(MODULES)
    options = build_parser(words).parse_args(arguments)
    if words[0] in OF_MANY_VALUES:
        gc.disable()
    try:
        paths.check()
        if words[0] not in AS_IN_THE_SHELL:
            surroundings.clear()
        # every command that launches has this option
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
        # our own fault: the command that waits for this stage gets a line, the log gets the trace
        record_fault(OnesidedError(f"{arguments[0]} failed: {type(fault).__name__}: {fault}"))
        raise
    except KeyboardInterrupt:
        print("onesided: interrupted; the next run goes on from here", file=sys.stderr)
        return 130
    finally:
        gc.enable()

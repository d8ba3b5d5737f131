"""Declare a command: a function with a name, help and arguments."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onesided.system import paths

Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Argument:
    """An argument of a command, in the form that `ArgumentParser.add_argument` takes."""

    names: tuple[str, ...]
    details: dict[str, Any]


@dataclass(frozen=True)
class Command:
    """A command of `onesided`, or an action of a command, such as ``site check``.

    Attributes:
        words: the words of the name, in the order in which a user types them.
        help: the help in one line.
        run: a function that runs the command and returns the exit status.
        details: further options for the command's parser.
    """

    words: tuple[str, ...]
    help: str
    arguments: tuple[Argument, ...]
    run: Run
    details: dict[str, Any]

    def add_to(self, subparsers: argparse._SubParsersAction) -> None:
        """Add the command's parser."""
        description = self.details.get("description", self.run.__doc__)
        details = {**self.details, "description": description}
        parser = subparsers.add_parser(self.words[-1], help=self.help, **details)
        for argument in self.arguments:
            parser.add_argument(*argument.names, **argument.details)
        parser.set_defaults(function=self.run)


COMMANDS: dict[tuple[str, ...], Command] = {}
"""All commands of the modules imported so far. A key has the words of a command's name."""


def argument(*names: str, **details: Any) -> Argument:
    """Return an argument that a command can take."""
    return Argument(names, details)


def command(
    words: str, help_line: str, *arguments: Argument, **details: Any
) -> Callable[[Run], Run]:
    """Return a decorator that registers a function as a command of `onesided`."""

    def register(run: Run) -> Run:
        key = tuple(words.split())
        COMMANDS[key] = Command(key, help_line, arguments, run, details)
        return run

    return register


CAMPAIGN = argument("campaign", help="a name in config/campaigns, or a file")
RESULTS = argument(
    "results",
    type=paths.campaign_results,
    metavar="RESULTS_DIR",
    help="a campaign's folder of results, or its name",
)
KEEP_ENVIRONMENT = argument(
    "--keep-environment",
    action="store_true",
    help="keep the variables of the shell that an MPI reads (config/variables.yaml)",
)
"""The option ``--keep-environment``, which all commands that launch ranks have."""

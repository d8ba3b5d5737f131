"""Write the advice for an MPI: in words, as a shell file, and as an example program in C."""

import re
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import jinja2

from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell
from onesided.report.written import PageText, range_words
from onesided.studies.stfc.progress.cells import (
    DEFAULT_SETTING,
    FLAVORS,
    SYNCHRONISATIONS,
    way_of,
)
from onesided.studies.stfc.progress.evidence import Evidence, plain_measure, plain_time
from onesided.studies.stfc.progress.recommend import COMMON, Advice, Choice
from onesided.system import command, paths

NOCHECK_CONDITION = "MPI_MODE_NOCHECK is correct only where no conflicting lock can be held"

COMMENT_WIDTH = 96
MOST_OF_A_NAME = 64
MAXIMUM_LINES = 40
"""A list of evidence in the advice file has at most this many cells, because people read the
file."""

PARTS = PageText(Path(__file__).with_name("example.yaml")).names
"""The pieces of an example program, for each operation, flavor and synchronisation."""


# ------------------------------------------------------------------------------ words


@cache
def _environment() -> jinja2.Environment:
    """Return the Jinja environment of this folder's templates, which make plain text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "comment": _comment,
        "counted": lambda things, noun: numbers.count(len(things), noun),
        "plain": plain_measure,
        "range": partial(range_words, show=plain_time),
        "wrapped": _wrapped,
    }
    return environment


def variables_say(advice: Advice) -> str:
    """Say in one sentence what the recommended variables do."""
    return _environment().get_template("words.j2").module.variables_say(advice)


def payload_says(choice: Choice) -> str:
    """Say for which unusual sizes and layouts the best combination is confirmed, too.

    The result is empty if only the usual size and layout were run.
    """
    return _environment().get_template("words.j2").module.payload_says(choice)


def calls(evidence: Evidence) -> str:
    """Return the MPI calls of a combination of flavor and synchronisation."""
    flavor, synchronisation = way_of(evidence.cell)
    call = ", ".join(FLAVORS[flavor].values()) if flavor in FLAVORS else flavor
    return f"{call}; {SYNCHRONISATIONS.get(synchronisation, {}).get('calls', synchronisation)}"


def latency_says(evidence: Evidence | None) -> str:
    """Return a combination's latency in words; ``!`` follows if its interval is far too wide."""
    if evidence is None or evidence.latency is None:
        return "not known"
    return f"{plain_measure(evidence.latency)}{' !' if evidence.remark else ''}"


def nocheck_says(advice: Advice) -> str | None:
    """Say what a program must ensure to use MPI_MODE_NOCHECK; None if the call is not advised."""
    best = (way_of(choice.best.cell)[1] for choice in advice.choices if choice.best)
    return NOCHECK_CONDITION if any("nocheck" in name for name in best) else None


# ------------------------------------------------------------------------------ the program


def program(flavor: str, synchronisation: str, operation: str) -> str | None:
    """Return a complete C program for two ranks: rank 1 accesses rank 0 while rank 0 computes.

    The arguments are names that the kernel progress uses. The result is None if a part is unknown.
    """
    name = operation.removeprefix("failing_")
    window = PARTS["flavors"].get(flavor)
    epoch = PARTS["synchronisations"].get(synchronisation)
    access = PARTS["operations"].get(name)
    if window is None or epoch is None or access is None:
        return None
    origin = [epoch.get("begin"), access.replace("@", window["at"]), epoch.get("end")]
    blocks = (
        window["begin"],
        None if name in PARTS["overwriting"] else PARTS["first_value"],
        epoch.get("open"),
        _block("if (rank == 1) { /* rank 0 computes meanwhile */", origin),
        _block("if (rank == 0) {", [epoch["target"]]) if "target" in epoch else None,
        epoch.get("close"),
        window["end"],
    )
    body = "\n".join(block.rstrip() for block in blocks if block)
    needed = [text for word, text in PARTS["declarations"].items() if word in body]
    declared = ["int rank;", "MPI_Win win;", "int64_t mine = 42, *memory;", *needed]
    template = jinja2.Template(PARTS["program"], keep_trailing_newline=True)
    return template.render(declarations=" ".join(declared), body=body)


def _block(head: str, calls: Sequence[str | None]) -> str:
    lines = "\n".join(call.rstrip() for call in calls if call)
    return f"{head}\n{textwrap.indent(lines, '    ')}\n}}"


def example_of(advice: Advice) -> str | None:
    """Return an example program with the combination that is best for most operations, if any."""
    alike = grouped(advice.cheapest.values(), lambda choice: way_of(choice.best.cell))
    if not alike:
        return None
    way = max(alike, key=lambda way: len(alike[way]))
    return program(*way, alike[way][0].operation)


# ------------------------------------------------------------------------------ the file


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _comment(text: str) -> str:
    """Return a text as one comment line of a shell file."""
    return f"# {_plain(text)}".rstrip() + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    """Return a text as comment lines of a shell file, wrapped to a readable width."""
    lines = textwrap.wrap(
        _plain(text.strip()),
        COMMENT_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(f"# {line}\n" for line in lines)


def _table(choices: Sequence[Choice]) -> list[str]:
    """Return the lines of a table that says what to use for each operation and thread level.

    The table also shows the verdict on the combination that most programs use (`COMMON`).
    """
    rows = [("operation", "level", "use", "cost", ", ".join(COMMON.values()), "cost")]
    for choice in choices:
        best, common = choice.best or next(iter(choice.independent), None), choice.common
        rows.append(
            (
                *(choice.operation, str(choice.thread_level)),
                best.combination if best else "nothing measured is independent",
                latency_says(best),
                common.outcome if common else "not measured",
                latency_says(common),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _waiting(choices: Sequence[Choice]) -> list[tuple[tuple[str, ...], str]]:
    """Return the combinations with which accesses wait, and their operations and thread levels."""
    alike = grouped((c for c in choices if c.waiting), lambda choice: tuple(choice.waiting))
    return [(words, _places(own)) for words, own in alike.items()]


def _places(choices: Sequence[Choice]) -> str:
    """Return the names of some operations and of their thread levels.

    Operations with the same thread levels are named together.
    """
    levels = {
        operation: " and ".join(str(choice.thread_level) for choice in own)
        for operation, own in grouped(choices, lambda choice: choice.operation).items()
    }
    alike = grouped(levels, lambda operation: levels[operation])
    return "; ".join(f"{', '.join(own)} at {at}" for at, own in alike.items())


def _remarks(choices: Sequence[Choice]) -> list[str]:
    pairs = ((choice, cell) for choice in choices for cell in (choice.best, choice.common))
    return list(
        dict.fromkeys(
            f"! {choice.operation} at {choice.thread_level}: {evidence.remark}."
            for choice, evidence in pairs
            if evidence and evidence.remark
        )
    )


def _rests_on(advice: Advice) -> list[Cell]:
    """Return the cells whose verdicts support the advice; `rerun.claims` reads these cells."""
    turned = advice.chosen.turned[:MAXIMUM_LINES] if advice.chosen else []
    return [
        *(choice.best.cell for choice in advice.choices if choice.best),
        *(evidence.cell for turn in turned for evidence in (turn.before, turn.after)),
    ]


def shell_text(advice: Advice, facts: Mapping[str, str], warnings: Sequence[str] = ()) -> str:
    """Return the text of an advice file: exports of the recommended variables, and comments.

    `facts` has texts about the campaign, by name; ``where`` says where the tests were run.
    `warnings` are sentences about the MPI, in the settings that the advice file recommends.
    """
    return (
        _environment()
        .get_template("advice.j2")
        .render(
            advice=advice,
            facts=facts,
            warnings=warnings,
            uses=grouped(advice.cheapest.values(), lambda choice: calls(choice.best)),
            program=example_of(advice),
            default=DEFAULT_SETTING,
            table=_table(advice.choices),
            remarks=_remarks(advice.choices),
            waiting=_waiting(advice.choices),
            nocheck=nocheck_says(advice),
            exports=command.exports(advice.variables),
            rests_on=_rests_on(advice),
            most=MAXIMUM_LINES,
        )
    )


def file_name(advice: Advice) -> str:
    """Return the name of an advice file, made from the environment's name.

    The advice file is a shell file if it exports a variable. If the environment's name cannot be a
    file name, other characters become underscores, and a number makes the name unique.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", advice.environment).strip("._")[:MOST_OF_A_NAME]
    if not paths.is_name(advice.environment):
        plain = f"{plain or 'environment'}-{zlib.crc32(advice.environment.encode()):08x}"
    return f"{plain}{'.sh' if advice.variables else '.txt'}"

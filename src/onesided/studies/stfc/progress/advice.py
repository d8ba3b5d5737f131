"""An advice in words, as a file that a shell takes, and with a program of what it recommends."""

from __future__ import annotations

import re
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from onesided.environments import shell
from onesided.report import numbers
from onesided.report.cells import axis_of, grouped
from onesided.report.material import Cell
from onesided.studies.stfc.progress.cells import (
    DEFAULT_SETTING,
    FLAVORS,
    SYNCHRONISATIONS,
    way_of,
)
from onesided.studies.stfc.progress.evidence import Evidence, plain_measure, plain_time
from onesided.studies.stfc.progress.recommend import COMMON, Advice, Choice, Effect
from onesided.studies.stfc.written import Written, range_words
from onesided.system import names

NOCHECK_CONDITION = "MPI_MODE_NOCHECK is correct only where no conflicting lock can be held"

COMMENT_WIDTH = 96
MOST_OF_A_NAME = 64
MAXIMUM_LINES = 40
"""Cells that the evidence of one setting names, at most: the file is read by people, too."""

FOLDER = Path(__file__).parent
PARTS = Written(FOLDER / "example.yaml").names
"""The parts of an example: operations, flavors, synchronisations."""


# ------------------------------------------------------------------------------ words


def effect_says(effect: Effect) -> str:
    """Say in one sentence what a setting does."""
    if effect.unavailable is not None and not effect.compared:
        reason = f" ({effect.unavailable})" if effect.unavailable else ""
        return f"{effect.setting} was not measured{reason}."
    turned, kept = len(effect.turned), effect.to_independent
    compared = numbers.count(len(effect.compared), "cell")
    words = f"{effect.setting} turns {turned} of {compared} that wait"
    if turned:
        words += f" ({kept} to independent, {turned - kept} to delayed{_delays(effect)})"
    if effect.eased:
        words += f", makes {effect.eased} partial"
    if effect.lost:
        worse = numbers.count(len(effect.lost), "cell")
        words += f", and {worse} that did not wait are worse with it"
    if effect.failed:
        failures = ", ".join(dict.fromkeys(cell.verdict for cell in effect.failed))
        words += f"; {numbers.count(len(effect.failed), 'cell')} failed with it ({failures})"
    if effect.factor is not None:
        words += (
            f"; latency with it over latency without it: {effect.factor:.3g} "
            f"(geometric mean over {numbers.count(len(effect.factors), 'pair')})"
        )
    return words + "."


def _delays(effect: Effect) -> str:
    """Return by how much the delayed cells are: `` by 1.9 ms to 2.1 ms``."""
    delays_s = [turn.after.cell.tau_s for turn in effect.turned if turn.after.cell.tau_s]
    return f" by {range_words(delays_s, plain_time)}" if delays_s else ""


def variables_say(advice: Advice) -> str:
    """Say in one sentence what variables do."""
    if not advice.measured:
        reason = f" ({advice.missing})" if advice.missing else ""
        return f"Nothing was decided at the default setting{reason}."
    if not advice.effects:
        return "Not tried in this campaign."
    if advice.chosen:
        named = ", ".join(f"{name}={value}" for name, value in advice.variables.items())
        return f"Set {named}: {effect_says(advice.chosen)}"
    if not advice.waiting:
        return "No cell waits at the default setting, so no variable is needed."
    said = " ".join(map(effect_says, advice.effects))
    if not advice.tried:
        return f"Not tried: {said}"
    if any(effect.turned for effect in advice.tried):
        return f"No variable is recommended: {said}"
    return f"No variable helps: {said}"


def calls(evidence: Evidence) -> str:
    """Say in MPI's calls what a combination is."""
    flavor, synchronisation = way_of(evidence.cell)
    call = ", ".join(FLAVORS[flavor].values()) if flavor in FLAVORS else flavor
    return f"{call}; {SYNCHRONISATIONS.get(synchronisation, {}).get('calls', synchronisation)}"


def latency_says(evidence: Evidence | None) -> str:
    """Return what a combination costs; an exclamation mark says that it is out of proportion."""
    if evidence is None or evidence.latency is None:
        return "not known"
    return f"{plain_measure(evidence.latency)}{' !' if evidence.remark else ''}"


def payload_says(choice: Choice) -> str | None:
    """Say at which further sizes and layouts the best was seen to hold; None where none was run."""
    if not choice.confirmed and not choice.exceptions:
        return None
    words = f"other sizes and layouts: independent at {len(choice.confirmed)}"
    if choice.exceptions:
        named = "; ".join(
            f"{axis_of(evidence.cell, 'size_bytes')} bytes {axis_of(evidence.cell, 'data')} "
            f"{evidence.outcome}"
            for evidence in choice.exceptions
        )
        words += f", but not at: {named}"
    return words


def nocheck_says(advice: Advice) -> str | None:
    """Say what the check that is left out asks of a program; None where all checks are made."""
    best = (way_of(choice.best.cell)[1] for choice in advice.choices if choice.best)
    return NOCHECK_CONDITION if any("nocheck" in name for name in best) else None


# ------------------------------------------------------------------------------ the program


def program(flavor: str, synchronisation: str, operation: str) -> str | None:
    """Return a whole program of two ranks: rank 1 accesses rank 0, which computes meanwhile.

    Args:
        flavor: of the window.
        synchronisation: around the operation.
        operation: as the kernel progress names them.

    Returns:
        Its lines; None where a part is not known.
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
    """Return the program of what most operations of an advice have in common; None without any."""
    alike = grouped(advice.cheapest.values(), lambda choice: way_of(choice.best.cell))
    if not alike:
        return None
    way = max(alike, key=lambda way: len(alike[way]))
    return program(*way, alike[way][0].operation)


# ------------------------------------------------------------------------------ the file


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _comment(text: str) -> str:
    """Return text as one comment line, whatever is in it."""
    return f"# {_plain(text)}".rstrip() + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    """Return text as comment lines of a readable width."""
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
    """Return what to use by operation and thread level, beside what most code does."""
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
    """Return the combinations that wait with their places, those of the same places together."""
    alike = grouped((c for c in choices if c.waiting), lambda choice: tuple(choice.waiting))
    return [(words, _places(own)) for words, own in alike.items()]


def _places(choices: Sequence[Choice]) -> str:
    """Name operations with their thread levels, those that have the same levels together."""
    levels = {
        operation: " and ".join(str(choice.thread_level) for choice in own)
        for operation, own in grouped(choices, lambda choice: choice.operation).items()
    }
    alike = grouped(levels, lambda operation: levels[operation])
    return "; ".join(f"{', '.join(own)} at {at}" for at, own in alike.items())


def _remarks(choices: Sequence[Choice]) -> list[str]:
    pairs = ((choice, one) for choice in choices for one in (choice.best, choice.common))
    return list(
        dict.fromkeys(
            f"! {choice.operation} at {choice.thread_level}: {evidence.remark}."
            for choice, evidence in pairs
            if evidence and evidence.remark
        )
    )


def _rests_on(advice: Advice) -> list[Cell]:
    """Return the cells that what is recommended rests on, to be read back by `rerun.claims`."""
    turned = advice.chosen.turned[:MAXIMUM_LINES] if advice.chosen else []
    return [
        *(choice.best.cell for choice in advice.choices if choice.best),
        *(evidence.cell for turn in turned for evidence in (turn.before, turn.after)),
    ]


def shell_text(advice: Advice, facts: Mapping[str, str]) -> str:
    """Return the file: exports of recommended variables only, everything else is a comment.

    Args:
        advice: what to use.
        facts: what is true of the campaign: name and text; ``where`` is what it was tested on.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"comment": _comment, "wrapped": _wrapped, "plain": plain_measure}
    said = (variables_say, effect_says, payload_says, numbers.count)
    return environment.get_template("advice.j2").render(
        advice=advice,
        facts=facts,
        uses=grouped(advice.cheapest.values(), lambda choice: calls(choice.best)),
        program=example_of(advice),
        default=DEFAULT_SETTING,
        table=_table(advice.choices),
        remarks=_remarks(advice.choices),
        waiting=_waiting(advice.choices),
        nocheck=nocheck_says(advice),
        exports=shell.exports(advice.variables),
        rests_on=_rests_on(advice),
        most=MAXIMUM_LINES,
        **{function.__name__: function for function in said},
    )


def file_name(advice: Advice) -> str:
    """Return the file's name, from the environment's: a shell file where it exports anything.

    Of a name that no file can have, what can be read is left, and a number that tells it from
    others.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", advice.environment).strip("._")[:MOST_OF_A_NAME]
    if not names.is_name(advice.environment):
        plain = f"{plain or 'environment'}-{zlib.crc32(advice.environment.encode()):08x}"
    return f"{plain}{'.sh' if advice.variables else '.txt'}"

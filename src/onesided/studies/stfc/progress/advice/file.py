"""An advice as a file: what to do, a table, the evidence, exports if any; and back again."""

from __future__ import annotations

import re
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onesided.environments import shell
from onesided.environments.settings import DEFAULT as DEFAULT_SETTING
from onesided.studies.stfc.progress.advice import example
from onesided.studies.stfc.progress.advice.findings import Advice, Choice, Evidence, Turn
from onesided.studies.stfc.progress.advice.words import (
    COMMONEST,
    NOCHECK_CONDITION,
    calls,
    counted,
    effect_says,
    latency_says,
    payload_says,
    variables_say,
)
from onesided.system import names

COMMENT_WIDTH = 96
MOST_OF_A_NAME = 64
EXAMPLE = "In C: rank 1 accesses rank 0, which may compute meanwhile (mpicc, mpiexec -n 2)."
CODE = "    "
"""Before each line of the program, after the sign of a comment."""
MAXIMUM_LINES = 40
"""Cells that the evidence of one setting names, at most: the file is read by people, too."""

_CLAIM = re.compile(r"^# claim: (?P<test>\S.*) (?P<cell>\S+) (?P<verdict>\S+)$")
_ENVIRONMENT = re.compile(r"^# environment: (?P<name>.+)$")


@dataclass(frozen=True)
class Claim:
    """A cell's verdict as a shell file states it."""

    environment: str
    test: str
    cell: str
    verdict: str


def claims(text: str) -> list[Claim]:
    """Return what a shell file claims, for a rerun to be compared with.

    Args:
        text: the file's content.
    """
    environment, found = "", []
    for line in text.splitlines():
        if named := _ENVIRONMENT.match(line):
            environment = named["name"]
        elif claim := _CLAIM.match(line):
            found.append(Claim(environment, **claim.groupdict()))
    return found


def _comment(text: str) -> str:
    """Return text as one comment line, whatever is in it."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return f"# {plain}".rstrip()


def _claim(evidence: Evidence) -> str:
    entry = evidence.entry
    return _comment(f"claim: {entry['test']} {entry['cell']} {entry['verdict']}")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Return text as comment lines of a readable width."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return [
        f"# {line}"
        for line in textwrap.wrap(
            plain,
            COMMENT_WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _other_settings(advice: Advice) -> list[str]:
    """Return what the settings that are not recommended do."""
    lines: list[str] = []
    for effect in advice.effects if advice.chosen else ():
        if effect is not advice.chosen:
            lines += _wrapped(f"Also tried: {effect_says(effect)}")
    if advice.chosen and advice.cheapest and not advice.stuck:
        lines += _wrapped("Code that can be changed as above needs no variable.")
    return lines


def _turn_lines(turn: Turn) -> list[str]:
    before, after = turn.before, turn.after
    words = (
        f"{before.what}: {before.outcome} ({before.launches}) -> {after.outcome} ({after.launches})"
    )
    if before.latency and after.latency:
        words += f"; latency {before.latency} -> {after.latency}"
    if after.entry["oversubscribed"]:
        words += "; fewer cores than threads: measures the scheduler"
    return _wrapped(words, "  ")


def _evidence_lines(advice: Advice) -> list[str]:
    """Return the cells that the recommended setting turns, for the better and for the worse."""
    if not advice.chosen:
        return []
    effect = advice.chosen
    lines = ["#", *_wrapped(f"Evidence: cells that {effect.setting} turns.")]
    for turn in effect.turned[:MAXIMUM_LINES]:
        lines += _turn_lines(turn)
    left = len(effect.turned) - MAXIMUM_LINES
    if left > 0:
        lines += _wrapped(f"and {counted(left, 'cell')} more, in the report's tables", "  ")
    if effect.lost:
        lines += _wrapped("Cells that are worse with it:")
    for turn in effect.lost[:MAXIMUM_LINES]:
        lines += _turn_lines(turn)
    return lines


def _claim_lines(advice: Advice) -> list[str]:
    """Return the cells that what is recommended rests on, to be read back by `claims`."""
    found = [choice.best for choice in advice.choices if choice.best]
    if advice.chosen:
        for turn in advice.chosen.turned[:MAXIMUM_LINES]:
            found += [turn.before, turn.after]
    if not found:
        return []
    head = "The cells this rests on, for a program: test, cell, verdict."
    return ["#", *_wrapped(head), *map(_claim, found)]


def _to_do(advice: Advice) -> list[str]:
    """Return what to do: a line for each combination to use, and one for the variables."""
    same: dict[str, list[str]] = {}
    for operation, choice in advice.cheapest.items():
        if choice.best:
            same.setdefault(calls(choice.best), []).append(operation)
    said = [f"Use {words} ({', '.join(operations)})." for words, operations in same.items()]
    if advice.stuck and advice.measured:
        said.append(f"No combination measured is independent: {', '.join(advice.stuck)}.")
    said.append(f"Variables. {variables_say(advice)}")
    return [line for one in said for line in _wrapped(one)]


def _example_lines(advice: Advice) -> list[str]:
    """Return what most operations are to use as a program in C; no line where nothing is."""
    found = example.of_advice(advice)
    if found is None:
        return []
    return ["#", _comment(EXAMPLE), *(f"#{CODE}{line}" for line in found.splitlines())]


def _table_row(choice: Choice) -> tuple[str, ...]:
    best = choice.best or next(iter(choice.independent), None)
    return (
        choice.operation,
        str(choice.thread_level),
        best.combination if best else "nothing measured is independent",
        latency_says(best),
        choice.common.outcome if choice.common else "not measured",
        latency_says(choice.common),
    )


def _table_lines(choices: Sequence[Choice]) -> list[str]:
    """Return what to use by operation and thread level, beside what most code does."""
    head = ("operation", "level", "use", "cost", COMMONEST, "cost")
    rows = [head, *map(_table_row, choices)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return [
        _comment("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)))
        for row in rows
    ]


def _waiting_lines(choices: Sequence[Choice]) -> list[str]:
    """Return the combinations that wait, those of the same operations together."""
    same: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for choice in choices:
        if choice.waiting:
            words = tuple(dict.fromkeys(found.combination for found in choice.waiting))
            same.setdefault(words, []).append((choice.operation, str(choice.thread_level)))
    said = (f"Wait: {'; '.join(words)} ({_places(own)})." for words, own in same.items())
    return [line for one in said for line in _wrapped(one)]


def _places(found: Sequence[tuple[str, str]]) -> str:
    """Name operations with their thread levels, those that have the same levels together."""
    levels: dict[str, list[str]] = {}
    for operation, level in found:
        levels.setdefault(operation, []).append(level)
    same: dict[tuple[str, ...], list[str]] = {}
    for operation, own in levels.items():
        same.setdefault(tuple(own), []).append(operation)
    return "; ".join(f"{', '.join(own)} at {' and '.join(at)}" for at, own in same.items())


def _code_lines(advice: Advice) -> list[str]:
    if not advice.choices:
        return _wrapped("No cell was declared at the default setting.")
    head = (
        f"With the setting {DEFAULT_SETTING}, which sets no variable: the cheapest combination "
        "that is independent. A cost is the uncontended latency, an access in a burst to an idle "
        "target: median and interval over launches."
    )
    lines = [*_wrapped(head), "#", *_table_lines(advice.choices), "#"]
    remarks = dict.fromkeys(
        f"! {choice.operation} at {choice.thread_level}: {remark}."
        for choice in advice.choices
        for evidence in (choice.best, choice.common)
        if evidence and (remark := evidence.remark)
    )
    holds = [
        f"{choice.operation} at {choice.thread_level}, {words}."
        for choice in advice.choices
        if (words := payload_says(choice))
    ]
    for words in (*remarks, *holds):
        lines += _wrapped(words)
    lines += _waiting_lines(advice.choices)
    if any(c.best and "nocheck" in c.best.axis("synchronisation") for c in advice.choices):
        lines += _wrapped(NOCHECK_CONDITION + ".")
    return lines


def shell_text(advice: Advice, facts: Mapping[str, str]) -> str:
    """Return the file: exports of recommended variables only, everything else is a comment.

    Args:
        advice: what to use.
        facts: what is true of the campaign: name and text; ``where`` is what it was tested on.
    """
    what = "Source this file in a shell; it exports what is recommended, all else is a comment."
    lines = [
        _comment(f"Progress of one-sided communication with {advice.environment}: what to use."),
        *_to_do(advice),
        *(_wrapped(f"Tested: {facts['where']}.") if "where" in facts else []),
        *_example_lines(advice),
        *(_wrapped(what) if advice.variables else []),
        "#",
        *_code_lines(advice),
        *_evidence_lines(advice),
        "#",
        _comment(f"environment: {advice.environment}"),
        *(_comment(f"{name}: {text}") for name, text in facts.items() if name != "where"),
        *_other_settings(advice),
        *shell.exports(advice.variables),
        *_claim_lines(advice),
    ]
    return "\n".join(lines) + "\n"


def file_name(advice: Advice) -> str:
    """Return the file's name, from the environment's: a shell file where it exports anything.

    Of a name that no file can have, what can be read is left, and a number that tells it from
    others.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", advice.environment).strip("._")[:MOST_OF_A_NAME]
    if not names.is_name(advice.environment):
        plain = f"{plain or 'environment'}-{zlib.crc32(advice.environment.encode()):08x}"
    return f"{plain}{'.sh' if advice.variables else '.txt'}"

"""An advice as a shell file: exports for what is recommended, comments for why; and back again."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from onesided.environments import shell
from onesided.experiments.progress.advice.findings import Advice, Choice, Evidence, Turn
from onesided.experiments.progress.advice.words import (
    NOCHECK_CONDITION,
    calls,
    choice_says,
    common_says,
    counted,
    effect_says,
    payload_says,
    variables_say,
)

COMMENT_WIDTH = 96
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
    """Return what a shell file claims, for a rerun to be held against.

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
    """Return text as one comment line, whatever stands in it."""
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


def _variable_lines(advice: Advice) -> list[str]:
    lines = _wrapped(f"Variables. {variables_say(advice)}")
    for effect in advice.effects if advice.chosen else ():
        if effect is not advice.chosen:
            lines += _wrapped(f"Also tried: {effect_says(effect)}")
    if advice.chosen and advice.cheapest and not advice.stuck:
        lines += _wrapped("Code that can be changed as below needs no variable.")
    return lines + shell.exports(advice.variables)


def _turn_lines(turn: Turn) -> list[str]:
    before, after = turn.before, turn.after
    words = (
        f"{before.what}: {before.outcome} ({before.launches}) -> {after.outcome} ({after.launches})"
    )
    if before.price and after.price:
        words += f"; price {before.price} -> {after.price}"
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


def _choice_lines(choice: Choice) -> list[str]:
    lines = _wrapped(choice_says(choice))
    if choice.best:
        lines += _wrapped(calls(choice.best), "  ")
    common, holds = common_says(choice), payload_says(choice)
    if common:
        lines += _wrapped(f"commonest code: {common}", "  ")
    if holds:
        lines += _wrapped(holds, "  ")
    if choice.waiting:
        waiting = dict.fromkeys(found.combination for found in choice.waiting)
        lines += _wrapped(f"waits: {'; '.join(waiting)}", "  ")
    return lines


def _code_lines(advice: Advice) -> list[str]:
    head = "Code. No variable set: the cheapest combination that is independent, and what waits."
    lines = _wrapped(head)
    if not advice.choices:
        lines += _wrapped("No cell was declared at the default setting.")
    for choice in advice.choices:
        lines += ["#", *_choice_lines(choice)]
    if any(c.best and "nocheck" in c.best.axis("synchronisation") for c in advice.choices):
        lines += ["#", *_wrapped(NOCHECK_CONDITION + ".")]
    return lines


def shell_text(advice: Advice, facts: Mapping[str, str]) -> str:
    """Return the shell file: exports of recommended variables only, all else is comment.

    Args:
        advice: what to use.
        facts: what is true of the campaign, written at the top: name and text.
    """
    lines = [
        _comment(f"What keeps one-sided progress at the lowest price with {advice.environment}."),
        _comment("Read it, or source it in a shell: what is no export is a comment."),
        "#",
        _comment(f"environment: {advice.environment}"),
        *(_comment(f"{name}: {text}") for name, text in facts.items()),
        "#",
        *_variable_lines(advice),
        "#",
        *_code_lines(advice),
        *_evidence_lines(advice),
        *_claim_lines(advice),
    ]
    return "\n".join(lines) + "\n"


def file_name(environment: str) -> str:
    """Return the shell file's name: the environment's, without what a file name may not hold."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", environment).strip("._")
    return f"{plain or 'environment'}.sh"

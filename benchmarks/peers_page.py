"""The page of `make peers`: each operation, ours over the others', and the cause of each ratio."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from one_sided import PLAIN, PLAIN_OURS, PLAIN_THEIRS, SAME_ELEMENTS, median_of

from onesided.measure.statistics import median
from onesided.report import numbers
from onesided.report.build import INDEX
from onesided.report.cells import measure_of
from onesided.report.document import document, files_of, write_files
from onesided.report.numbers import Measure
from onesided.report.parts import Column, Section, Table
from onesided.system import documents, writing

SCHEMA_NAME = "peers"
SCHEMA = documents.load_schema(SCHEMA_NAME)["properties"]["schema"]["const"]
NEAR = (0.95, 1.05)
"""A ratio outside these bounds has a shown cause, or is reported as without one."""

SAME = "the same"
NOT_TOLD = "not told: the interval reaches to where it would be the same"
ELEMENTS = "the elements: with ours it is the same"
OTHERS = "the other's own: a plain loop over one message is as far from it"
MESSAGES = "new messages: a plain loop over such is as far from it"
BOTH = "the elements and new messages: a plain loop over such is as far from it"
SAME_OR_CAUSE = "the same or new messages: a plain loop over such is as far from it"
CAUSE_NOT_TOLD = "not told: the plain loop's interval reaches to where new messages are the cause"
UNEXPLAINED = "not explained"

COLUMNS = [
    Column("operation", "operation", header=True),
    Column("size", "bytes", str),
    Column("program", "beside"),
    Column("ours", "ours", numbers.seconds, unit="s"),
    Column("theirs", "the other's", numbers.seconds, unit="s"),
    Column("ratio", "ours over it", numbers.ratio, measure=True),
    Column("alike", SAME_ELEMENTS, numbers.ratio, measure=True),
    Column("plain", f"ours over {PLAIN_OURS}", numbers.ratio, measure=True),
    Column("bursts", "the same, medians of bursts", numbers.ratio, measure=True),
    Column("repeated", f"ours over {PLAIN_THEIRS}", numbers.ratio, measure=True),
    Column("word", "so it is", prose=True),
]


def ratios_of(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return the ratio of each pair, ours over the other's."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def measure_over(found: Mapping[str, Any], program: str, operation: str) -> Measure | None:
    """Return the median of the pairs' ratios, ours over a program's, with its interval.

    The result is None if the program does not have the operation.
    """
    theirs = found["theirs_us"].get(program, {}).get(operation)
    if theirs is None:
        return None
    return measure_of(ratios_of(found["ours_us"][operation], theirs))


def is_near(ratio: Measure) -> bool:
    """Tell whether a ratio needs no explanation."""
    return NEAR[0] <= ratio.value <= NEAR[1]


def may_be_near(ratio: Measure) -> bool:
    """Tell whether a ratio's interval reaches to ratios that need no explanation."""
    return ratio.low <= NEAR[1] and ratio.high >= NEAR[0]


def tells_why(loop: Measure | None, ratio: Measure) -> bool:
    """Tell whether a loop without the harness is as far from the other program as ours, or farther.

    Args:
        loop: ours over the loop.
        ratio: ours over the other program.
    """
    if loop is None:
        return False
    return loop.value <= NEAR[1] if ratio.value > 1 else loop.value >= NEAR[0]


def word_of(
    ratio: Measure, alike: Measure | None, repeated: Measure | None, plain: Measure | None
) -> str:
    """Return the words about a ratio.

    Args:
        ratio: ours over another program.
        alike: ours over the same program with our elements.
        repeated: ours over a loop that works like the other program.
        plain: ours over a loop that works like ours, without the harness.
    """
    if is_near(ratio):
        return SAME
    if may_be_near(ratio):
        return SAME_OR_CAUSE if tells_why(plain, ratio) else NOT_TOLD
    if alike and is_near(alike):
        return ELEMENTS
    if not alike and tells_why(repeated, ratio):
        return OTHERS
    if tells_why(plain, ratio):
        return BOTH if alike else MESSAGES
    return CAUSE_NOT_TOLD if plain and may_be_near(plain) else UNEXPLAINED


def rows_of(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a row for each operation and program of a comparison."""
    ours, theirs = found["ours_us"], found["theirs_us"]
    for operation, of_ours in ours.items():
        for program, means in theirs.items():
            if operation not in means or program in PLAIN or program.endswith(SAME_ELEMENTS):
                continue
            ratio = measure_over(found, program, operation)
            alike = measure_over(found, f"{program}, {SAME_ELEMENTS}", operation)
            repeated = measure_over(found, PLAIN_THEIRS, operation)
            plain = measure_over(found, PLAIN_OURS, operation)
            name, _, size = operation.rpartition(" ")
            yield {
                "operation": name,
                "size": size,
                "program": program,
                "ours": 1e-6 * median(of_ours),
                "theirs": 1e-6 * median(means[operation]),
                "ratio": ratio,
                "alike": alike,
                "plain": plain,
                "bursts": measure_over(found, PLAIN_OURS, median_of(operation)),
                "repeated": repeated,
                "word": word_of(ratio, alike, repeated, plain),
            }


def section(found: Mapping[str, Any]) -> Section:
    """Return the section of a comparison under one MPI."""
    identifier = f"{found['environment']}-{found['peer']}"
    caption = f"{found['library_version']}. It ended: {found['end']}."
    table = Table(f"peers_{identifier}", caption, COLUMNS, list(rows_of(found)))
    title = f"{found['environment']}: {found['peer'].replace('_', '-')}"
    return Section(identifier, title, "", (table,))


def sentences(every: list[Mapping[str, Any]]) -> list[str]:
    """Return how many ratios are near 1, and the causes of the other ratios."""
    words = Counter(row["word"] for found in every for row in rows_of(found))
    not_told = words[NOT_TOLD] + words[CAUSE_NOT_TOLD]
    return [
        f"{words[SAME]} of {words.total()} ratios lie between {NEAR[0]} and {NEAR[1]}. Of the "
        f"others {words[ELEMENTS]} come from the elements that are added, {words[OTHERS]} from "
        f"the other program alone, {words[MESSAGES]} from "
        "messages that are new ones each time in ours and one again and again in the others, "
        f"{words[BOTH]} from both, {words[SAME_OR_CAUSE]} from new messages if they are not the "
        f"same, {not_told} are not told by so few pairs, and "
        f"{words[UNEXPLAINED]} are not explained.",
        f"A ratio is the median of pairs, with its 95{numbers.THIN_SPACE}% interval.",
    ]


def build(folder: Path) -> Path:
    """Write the page of all comparisons below a folder, and its tables; return the page's path.

    Raises:
        InputError: a comparison has another schema.
    """
    every = [documents.read_json(path, SCHEMA_NAME) for path in sorted(folder.glob("*.json"))]
    shown = [section(found) for found in every]
    html = document(
        "compare.html.j2",
        kicker="onesided · peers",
        heading="Do others measure the same?",
        sentences=sentences(every),
        sections=shown,
        legend=(),
    )
    write_files(folder, files_of(shown, []))
    writing.write_text(folder / INDEX, html)
    return folder / INDEX

"""Make answers: combine verdicts of cells into one verdict, and name the MPIs with a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers, scope
from onesided.report.document import INDEX
from onesided.report.material import Cell, Loaded, Material
from onesided.report.provenance import damaged_files, further_rounds, timing_lines
from onesided.report.words import MIXED, listed, tally

T = TypeVar("T")

MOST_NAMES = 3
"""The largest number of MPIs that a sentence names. If there are more MPIs, the sentence only says
how many."""

_GOOD = (verdicts.INDEPENDENT, verdicts.WITH_HELP)
_IN_PART = (verdicts.PARTIAL, MIXED)


@dataclass(frozen=True)
class Together:
    """One verdict for several cells.

    Attributes:
        word: the common verdict of the decided cells, a failure, `MIXED`, or why no cell has a
            verdict.
        note: how many cells have each verdict, if they differ or some are undecided; otherwise
            None.
    """

    word: str
    note: str | None = None


def together(cells: Sequence[Cell]) -> Together:
    """Combine the verdicts of several cells into one verdict for an answer.

    A failure has priority over all other verdicts. Cells that were not measured, and cells that say
    nothing about progress, are left out, unless there are no other cells.
    """
    if not cells:
        return Together(verdicts.NOT_RUN)
    telling = (*verdicts.OBSERVED, *verdicts.FAILURES, verdicts.UNDECIDED)
    words = [cell.verdict for cell in cells if cell.verdict in telling]
    if not words:
        return Together(cells[0].verdict)
    failed = next((word for word in verdicts.FAILURES if word in words), None)
    if failed:
        return Together(failed, tally(words) if len(set(words)) > 1 else None)
    observed = [word for word in words if word in verdicts.OBSERVED]
    if not observed:
        return Together(verdicts.UNDECIDED)
    if len(set(observed)) > 1:
        # an access that is late in some cells, and never waits, is late
        late = set(observed) <= {*_GOOD, verdicts.DELAYED}
        return Together(verdicts.DELAYED if late else MIXED, tally(words))
    decided = len(observed) == len(words)
    note = None if decided else f"{len(observed)} of {numbers.count(len(words), 'cell')} decided"
    return Together(observed[0], note)


def rows_are(cells: Sequence[Cell]) -> str:
    """Return what the rows of an answer stand for: MPIs, or combinations of MPI and partition."""
    several = len({(cell.system, cell.partition) for cell in cells}) > 1
    return "combinations of MPI and partition" if several else "MPIs"


def missing_sentence(environments: Sequence[str], measured: Sequence[str]) -> list[Markup]:
    """Return a sentence that names the MPIs with which nothing was measured; [] if none."""
    missing = [name for name in environments if name not in measured]
    return [Markup("Nothing was measured with {}.").format(listed(missing))] if missing else []


def names(some: Sequence[str], every: Sequence[str], plural: str) -> str:
    """Return names or their number as text: ``all 3 MPIs``, ``mpich-5.0.2``, ``7 of 12 MPIs``.

    `some` are the things to name, `every` are all things of this kind, and `plural` is their noun.
    """
    if len(some) == len(every) > 1:
        return f"both {plural}" if len(every) == 2 else f"all {len(every)} {plural}"
    if len(some) <= MOST_NAMES:
        return listed(some)
    return f"{len(some)} of {len(every)} {plural}"


def where(words_of: Mapping[str, str], plural: str) -> str:
    """Return a text that says with which MPIs an access completes while the target computes.

    `words_of` is a mapping from MPIs to their verdicts. The text names an MPI at most once. If the
    text has the word ``only`` or ``none``, accesses wait with each MPI that the text does not name.
    """
    every = list(words_of)

    def of(*words: str) -> list[str]:
        return [name for name in every if words_of[name] in words]

    good, late, part = of(*_GOOD), of(verdicts.DELAYED), of(*_IN_PART)
    waiting, failed = of(verdicts.WAITS), of(*verdicts.FAILURES)
    unknown = [name for name in every if name not in (*good, *late, *part, *waiting, *failed)]
    # if every MPI either completes or waits, naming the MPIs of one kind is enough
    only = bool(good and waiting) and len(good) + len(waiting) == len(every)
    said = []
    if good:
        said.append(f"in {names(good, every, plural)}{' only' if only else ''}")
    if late:
        said.append(f"after a delay in {names(late, every, plural)}")
    if part:
        said.append(f"only in some cells in {names(part, every, plural)}")
    if len(waiting) == len(every) > 1:
        said.append("in none")
    elif waiting and not only:
        said.append(f"not in {names(waiting, every, plural)}")
    if failed:
        said.append(f"failed in {names(failed, every, plural)}")
    if unknown:
        said.append(f"not known for {names(unknown, every, plural)}")
    return "; ".join(said)


def by_result(
    things: Sequence[tuple[T, Mapping[str, str]]],
) -> list[tuple[list[T], dict[str, str]]]:
    """Group things, such as ways to access a window, that have equal verdicts with every MPI.

    The first group is the group with progress in the most MPIs. `things` has each thing with its
    verdict in each MPI.
    """
    same: dict[tuple[tuple[str, str], ...], tuple[list[T], dict[str, str]]] = {}
    for thing, words in things:
        same.setdefault(tuple(words.items()), ([], dict(words)))[0].append(thing)

    def rank(one: tuple[list[T], dict[str, str]]) -> tuple[int, int]:
        words = list(one[1].values())
        better = sum(word in _IN_PART for word in words) + 2 * words.count(verdicts.DELAYED)
        return -sum(word in _GOOD for word in words), -better

    return sorted(same.values(), key=rank)


def terminal_summary(loaded: Loaded) -> str:
    """Return the text for the terminal at a campaign's end: answers, numbers of cells, times."""
    folder = loaded.campaign.folder
    lines = [" ".join(scope.sentences(loaded))]
    answered = set()
    for material in loaded.materials():
        said = material.experiment.page.terminal_lines(material)
        if said:
            answered.add(material.experiment.study)
            lines.append(material.experiment.title)
            lines += [f"  {line}" for line in [*said, *_remarks(material)]]
    for study in loaded.experiments.briefs:
        told = () if study in answered else study.brief.sentences(loaded.campaign.record, None)
        lines += [f"{study.name}: {Markup(sentence).striptags()}" for sentence in told]
    words = [cell.verdict for cell in loaded.cells]
    missing = [word for word in words if word in verdicts.NOT_MEASURED]
    failed = [word for word in words if word in verdicts.FAILURES]
    open_words = [word for word in words if word == verdicts.UNDECIDED]
    lines.append(f"cells: {len(words)} declared, {len(missing)} not measured" + _brackets(missing))
    lines[-1] += f", {len(failed)} failed" + _brackets(failed)
    lines[-1] += f", {len(open_words)} undecided"
    lines += [rounds] if (rounds := further_rounds(loaded)) else []
    lines += [f"damaged files: {said}"] if (said := damaged_files(loaded)) else []
    lines.append("time: " + "; ".join(f"{what} {found}" for what, found in timing_lines(loaded)))
    advice = folder / "report" / "advice"
    lines += [f"what to use, a file per MPI: {advice}"] if advice.is_dir() else []
    lines.append(f"report: {folder / 'report' / INDEX}")
    plain = "\n".join(lines).replace(numbers.THIN_SPACE, " ")
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in plain) + "\n"


def _remarks(material: Material) -> list[str]:
    """Return a line of text for each environment that has latencies out of all proportion."""
    lines = []
    for environment in material.environments:
        own = [cell for cell in material.cells if cell.environment == environment]
        timed = [(cell, found) for cell in own if (found := material.latency(cell))]
        remarked = [(cell, found) for cell, found in timed if found.remark]
        if remarked:
            cell, worst = max(remarked, key=lambda one: material.tail(one[0]))
            waited = material.waited(environment)
            lines.append(
                f"{environment}: {len(remarked)} of {len(timed)} latencies are out of all "
                f"proportion; the farthest, {cell.thread_level} {cell.entry['cell']}: "
                f"{numbers.seconds(worst.value)}, {worst.remark}"
                + (f"; {waited}" if waited else "")
            )
    return lines


def _brackets(words: Sequence[str]) -> str:
    return f" ({tally(words)})" if words else ""

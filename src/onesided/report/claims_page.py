"""The page of all claims of the papers: whether a claim holds, with each MPI on each transport.

The page has the same answers as the tables of claims on the pages of the studies. This module
decides nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from onesided.cells.experiment import Experiment, Experiments, Study
from onesided.environments.settings import DEFAULT
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.claims import Answer, Claims, ClaimsTable
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN
from onesided.report.parts import Column, Folded, Row, RowsOf, Section, Table
from onesided.report.words import listed

FILE, TITLE = "claims.html", "The papers' claims"
HEADING = "Do the papers' claims hold today?"

SECTION = "claims"
"""The identifier of the first section; all sections' and tables' identifiers begin with it."""

ANSWERS = f"{SECTION}_answers"
"""The name of the table with one row for each answer to a claim."""

WORDS: Mapping[str, str] = {
    HOLDS: "the whole interval, or the value of one launch, is within the bounds of the claim",
    DOES_NOT_HOLD: "the whole interval, or the value of one launch, is outside the bounds",
    OPEN: "not decided: the interval has values on both sides of a bound, or the verdict that "
    "decides the claim is open: a cell failed, or had too few launches",
    NOT_MEASURED: "no value decides the claim; the reason is beside it",
}
"""The answers and their meanings."""

MOST_NAMED = 6
"""With more MPIs than this, the first screen gives a range of how many claims hold."""


@dataclass(frozen=True)
class Judged:
    """The answer to a claim with one MPI, and the address of the claim in the report.

    Attributes:
        experiment: the experiment that the claim is about.
        name: the MPI, with partition and setting if these differ between answers.
        at: the address of the claim's row on the page of the study.
    """

    experiment: Experiment
    answer: Answer
    name: str
    at: str

    @property
    def word(self) -> str:
        """Return the answer to the claim as one word."""
        return self.answer.outcome.word

    @property
    def study(self) -> Study:
        """Return the study whose page has the claim."""
        return self.experiment.study

    @property
    def claim(self) -> tuple[str, str, str]:
        """Return what identifies the claim."""
        claim = self.answer.claim
        return self.experiment.kernel, claim.words, claim.where

    @property
    def mark(self) -> str:
        """Return a text with study and kernel; a filter finds a study's rows by `_mark_of`."""
        return f"{_mark_of(self.study)} {self.experiment.kernel}"


def _mark_of(study: Study) -> str:
    """Return a word that filters the rows of a study: no row of another study contains it."""
    return f"{study.name}:"


def judged(
    experiments: Iterable[Experiment],
    sections: Mapping[str, Sequence[Section]],
    files: Mapping[str, str],
) -> list[Judged]:
    """Return every answer to a claim from the pages of some experiments.

    `sections` has the sections of each experiment's page, by kernel. `files` has the file of each
    kernel's page; the file is empty for the page that has the link.
    """
    found = [
        (experiment, answer)
        for experiment in experiments
        for table in _tables(sections[experiment.kernel])
        for answer in table.answers
    ]
    name = _naming([answer for _, answer in found])
    return [
        Judged(experiment, answer, name(answer), f"{files[experiment.kernel]}#{answer.row}")
        for experiment, answer in found
    ]


def _tables(sections: Sequence[Section]) -> Iterator[ClaimsTable]:
    """Yield the tables of claims that some sections contain."""
    for section in sections:
        for part in section.parts:
            shown = part.part if isinstance(part, Folded) else part
            if isinstance(shown, ClaimsTable):
                yield shown


def _naming(answers: Sequence[Answer]) -> Callable[[Answer], str]:
    """Return a function that names the MPI of an answer, with partition or setting if needed."""
    partitions = {answer.partition for answer in answers}
    systems = {partition.partition(":")[0] for partition in partitions}

    def name(answer: Answer) -> str:
        place = answer.partition if len(systems) > 1 else answer.partition.rpartition(":")[2]
        words = [place] if len(partitions) > 1 else []
        words += [answer.setting] if answer.setting != DEFAULT else []
        return f"{answer.environment} ({', '.join(words)})" if words else answer.environment

    return name


def untested(experiments: Experiments, kernels: Iterable[str]) -> tuple[int, list[str]]:
    """Return the number of claims on experiments of other kernels, and the experiments' titles."""
    others = [entry for kernel, entry in experiments.items() if kernel not in set(kernels)]
    counts = {
        entry.title: len(one.claims)
        for entry in others
        for one in getattr(entry.page, "contents", ())
        if isinstance(one, Claims)
    }
    return sum(counts.values()), list(counts)


@dataclass(frozen=True)
class ClaimsPage:
    """The page of claims: its sections, and what the report's first screen says of the claims.

    Attributes:
        every: all answers.
        others: how many claims this campaign does not ask, and the titles of their experiments.
    """

    every: Sequence[Judged]
    others: tuple[int, list[str]] = (0, [])

    @cached_property
    def claims(self) -> Mapping[tuple[str, str, str], list[Judged]]:
        """Return, for each claim, the answers with all MPIs."""
        return grouped(self.every, lambda one: one.claim)

    @cached_property
    def _noun(self) -> str:
        plain = all(one.name == one.answer.environment for one in self.every)
        return "MPI" if plain else "MPI and transport"

    def lines(self, file: str) -> list[Markup]:
        """Return two lines of text for the first screen; [] if the campaign has no claims.

        `file` is the file of the page of claims; empty if the lines are on this page.
        """
        if not self.every:
            return []
        line = Markup('<strong>{}</strong> {} <a href="{}#{}">Every claim, and why</a>')
        first = line.format(HEADING, self._over_claims(), file, SECTION)
        return [first, Markup("{}").format(self._over_names())]

    def _over_claims(self) -> str:
        """Return a sentence that counts the claims that hold with all, some and no MPIs."""
        counts = Counter(_together(one.word for one in own) for own in self.claims.values())
        sources = list(dict.fromkeys(one.answer.claim.source for one in self.every))
        return (
            f"Of {numbers.count(len(self.claims), 'claim')} of {listed(sources)}, "
            f"{counts[HOLDS]} hold with every {self._noun} that decides them, {counts[_DIFFERS]} "
            f"with some, {counts[DOES_NOT_HOLD]} with none. Not decided: {counts[OPEN]}; not "
            f"measured: {counts[NOT_MEASURED]}."
        )

    def _over_names(self) -> str:
        """Return a sentence that says, for each MPI, how many of the decided claims hold.

        For many MPIs, the sentence names only the MPIs with the least and the largest share of
        holding claims.
        """
        shares = {}
        for name, own in grouped(self.every, lambda one: one.name).items():
            counts = Counter(one.word for one in own)
            if decided := counts[HOLDS] + counts[DOES_NOT_HOLD]:
                shares[name] = (counts[HOLDS] / decided, f"{counts[HOLDS]} of {decided}")
        if not shares:
            return f"No {self._noun} decides any of these claims."
        if len(shares) <= MOST_NAMED:
            said = listed([f"{words} with {name}" for name, (_, words) in shares.items()])
        else:
            few, *_, many = sorted(shares, key=lambda name: shares[name][0])
            ends = (f"{shares[name][1]} with {name}" for name in (few, many))
            said = f"between {' and '.join(ends)}; there are {len(shares)} of {self._noun}"
        return f"Of the claims that each {self._noun} decides, these hold: {said}."

    def sections(self) -> list[Section]:
        """Return the page's sections: counts, the claims of each study, and every answer."""
        lead = (
            f"Each row counts the claims of a study with one {self._noun}. The bounds of a claim "
            "are in its words. Without a bound in the words, about a number means within a factor "
            "of 1.25 of it, and growth by a law means within a factor of 1.5. The pages of the "
            "studies show the same answers with their numbers."
        )
        by_study = grouped(self.every, lambda one: one.study).items()
        return [
            Section(SECTION, "How many hold", lead, [self._counts()]),
            *(self._of_study(study, own) for study, own in by_study),
            Section(
                f"{SECTION}-answers",
                "Every answer",
                f"One row for each claim and each {self._noun}, with the numbers that decide the "
                "claim, or the reason why nothing decides it.",
                [self._answers()],
            ),
        ]

    def _counts(self) -> Table:
        """Return a table that counts claims by study, MPI and answer, with links to the answers."""
        rows = []
        for (study, name), own in grouped(self.every, lambda one: (one.study, one.name)).items():
            counts = Counter(one.word for one in own)
            row: dict[str, Any] = {"study": study.title, "heading": _heading(study, own)}
            row |= {"mpi": name, "claims": len(own)}
            for word in WORDS:
                chosen = {"table": ANSWERS, "filter": _mark_of(study), "mpi": name, "verdict": word}
                row[word] = counts[word]
                row[f"{word}_at"] = f"#{urlencode(chosen)}" if counts[word] else None
            rows.append(row)
        columns = [
            Column("mpi", self._noun, header=True),
            Column("claims", "claims", str),
            *(Column(word, word, str, at=f"{word}_at") for word in WORDS),
        ]
        return Table(
            f"{SECTION}_counts",
            "How many claims of each study hold. A number leads to its claims.",
            columns,
            rows,
            groups="heading",
            csv_only=[Column("study", "study")],
            notes=[("", said) for said in self._notes()],
            form="cards numbers",
            whole=True,
        )

    def _notes(self) -> list[str]:
        """Return notes: what each answer means, and which claims this campaign does not test."""
        said = [f"{word}: {meaning}." for word, meaning in WORDS.items()]
        number, titles = self.others
        if number:
            further = numbers.count(number, "further claim")
            said.append(f"This campaign does not measure {further}, on: {listed(titles)}.")
        return said

    def _of_study(self, study: Study, own: Sequence[Judged]) -> Section:
        """Return the section on a study: for each claim, which MPIs have which answer."""
        columns = [
            Column("claim", "what the paper says", header=True, note="place", prose=True),
            *(Column(word, word, note=f"why {word}") for word in WORDS),
        ]
        table = Table(
            f"{SECTION}_{study.name}",
            f"The claims of {_heading(study, own)}. The link below a claim leads to its numbers.",
            columns,
            [_row(each) for each in grouped(own, lambda one: one.claim).values()],
            csv_only=[Column("source", "source")],
            form="cards said",
            whole=True,
        )
        file = own[0].at.partition("#")[0]
        lead = Markup("The page of the study: {}.").format(study.title)
        if file:
            lead = Markup('The page of the study: <a href="{}">{}</a>.').format(file, study.title)
        return Section(f"{SECTION}-{study.name}", _heading(study, own), lead, [table])

    def _answers(self) -> Table:
        """Return a table with one row for each answer."""
        columns = [
            Column("claim", "what the paper says", header=True, note="link", prose=True),
            Column("answer", "answer", verdict=True),
            Column("shown", "numbers, or the reason", prose=True, page_only=True),
            Column("mark", "study and kernel"),
        ]
        beside = [
            Column("mpi", f"{self._noun}, as the page names it"),
            *(Column(key, key) for key in ("source", "place", "environment", "partition")),
            Column("setting", "setting"),
            Column("value", "the ratio, or the value, of the claim", numbers.ratio, measure=True),
            Column("why", "the reason, if there is no number"),
        ]
        return Table(
            ANSWERS,
            "Every answer: whether what a source says holds.",
            columns,
            RowsOf(sorted(self.every, key=lambda one: self._names.index(one.name)), _answer_row),
            groups="mpi",
            csv_only=beside,
            large=True,
            filterable=True,
            filtered=("answers", "Answer"),
        )

    @cached_property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self.every))


_DIFFERS = "differs"


def _together(words: Iterable[str]) -> str:
    """Combine a claim's answers into one word; leave out MPIs that do not decide the claim."""
    found = set(words)
    decided = found & {HOLDS, DOES_NOT_HOLD}
    if len(decided) > 1:
        return _DIFFERS
    return next(word for word in WORDS if word in (decided or found))


def _heading(study: Study, own: Sequence[Judged]) -> str:
    sources = dict.fromkeys(one.answer.claim.source for one in own)
    return f"{listed(list(sources))}: {study.title}"


def _row(own: Sequence[Judged]) -> Row:
    """Return the table row of a claim: which MPIs have each answer, and why values are missing."""
    claim = own[0].answer.claim
    row = {"claim": claim.words, "source": claim.where, "place": _linked(own[0])}
    for word, found in grouped(own, lambda one: one.word).items():
        names = [one.name for one in found]
        is_each = len(names) == len(own) > 2
        row[word] = f"all {len(names)}" if is_each else ", ".join(names)
        if word == NOT_MEASURED:
            row[f"why {word}"] = _reasons(found)
    return row


def _reasons(found: Sequence[Judged]) -> str:
    """Return why nothing was measured; if there are several reasons, each with its MPIs."""
    by_reason = grouped(found, lambda one: one.answer.outcome.why)
    if len(by_reason) == 1:
        return next(iter(by_reason))
    return "; ".join(f"{listed([o.name for o in own])}: {why}" for why, own in by_reason.items())


def _linked(one: Judged) -> Markup:
    return Markup('<a href="{}">{}</a>').format(one.at, one.answer.claim.where)


def _answer_row(one: Judged) -> Row:
    answer, outcome = one.answer, one.answer.outcome
    return {
        "claim": answer.claim.words,
        "source": answer.claim.source,
        "place": answer.claim.place,
        "link": _linked(one),
        "mpi": one.name,
        "environment": answer.environment,
        "partition": answer.partition,
        "setting": answer.setting,
        "answer": one.word,
        "verdict": one.word,
        "shown": outcome.why,
        "why": None if outcome.measure else outcome.why,
        "value": outcome.measure,
        "mark": one.mark,
    }

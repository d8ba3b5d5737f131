"""The claims of a paper, as data, and whether each claim is true with each MPI of a campaign."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from onesided.campaign.grid import NO_MEANING
from onesided.cells import verdicts
from onesided.cells.experiment import Experiment, Metric, Study, timed
from onesided.environments.settings import DEFAULT, shares_memory
from onesided.environments.settings import names as setting_names
from onesided.measure.common_analyses import ComputingAnalysis, ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import Growth, growth_of_waits
from onesided.report.cells import apart, what_crowds
from onesided.report.decisions import (
    DECISIONS,
    NOT_MEASURED,
    SETTING,
    Asked,
    Cells,
    Choice,
    Outcome,
    untested,
)
from onesided.report.material import Cell, Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Column, Folded, Row, Table
from onesided.report.published import FOLDER, Curves
from onesided.report.table import row_name
from onesided.report.words import short_detail
from onesided.system import documents, paths
from onesided.system.errors import InputError

Own = Callable[[Cells, Asked], Outcome]
"""A function that decides claims of a single study, and of no other study."""

ANY_SETTING = "any setting"
"""A table shows this word as the setting of an outcome if the default setting alone would lead to
another outcome."""

NO_CELL = "this campaign has no such cell"
NOT_TOGETHER = "no number of ranks has every value that the claim compares"
NO_VALUE = "no cell of this campaign decides it"

NAMED = ("claim", "source")
"""The keys that identify a row in a table of claims."""

LONGEST_REASON = 120
"""The maximum length, in letters, of the reason why a cell has no value."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that today's values can confirm or contradict.

    Attributes:
        source: who makes the claim.
        place: where the paper makes the claim.
        words: the claim in our words.
        decide: returns, from the cells of an MPI, whether the claim holds.
        asked: the input of `decide`: choices of cells, and bounds.
        metric: the metric of the claim, after a dot its statistic; empty if the claim is about a
            verdict.
        common: the values on axes that all cells of the claim must have.
        needs_cores: whether only cells with a core for each rank can decide the claim.
    """

    source: str
    place: str
    words: str
    decide: Callable[[Cells, Any], Outcome]
    asked: Any
    metric: str = ""
    common: Mapping[str, Any] = field(default_factory=dict)
    needs_cores: bool = True

    @property
    def where(self) -> str:
        """Return which paper makes the claim, and in which section or table."""
        return f"{self.source}, {self.place}"

    @property
    def choices(self) -> list[Choice]:
        """Return the choices of cells that the claim compares; by default, all cells."""
        return list(_choices(self.asked)) or [{}]

    @property
    def is_of_transport(self) -> bool:
        """Tell whether the claim may have different outcomes with different transports of an MPI.

        The outcome does not depend on the transport if the claim names a setting, or if no cells
        test the claim.
        """
        is_named = any(SETTING in choice for choice in (self.common, *self.choices))
        return not is_named and self.decide is not untested

    def outcome(self, cells: Cells) -> Outcome:
        """Return whether the claim holds with an MPI; if nothing was measured, also return why."""
        cells = replace(cells, metric=self.metric, common=self.common)
        if not self.needs_cores:
            cells = replace(cells, cores=[*cells.cores, *cells.crowd], crowd=[])
        outcome = self.decide(cells, self.asked)
        if outcome.word != NOT_MEASURED or self.decide is untested:
            return outcome
        return replace(outcome, why=self._reason(cells, outcome.why))

    def _reason(self, cells: Cells, why: str) -> str:
        """Return why nothing was measured: how a cell failed, or the reason that `decide` gives.

        `why` is the reason that `decide` gives; empty if `decide` gives no reason.
        """
        crowd, without = "", []
        for choice in self.choices:
            own = cells.chosen([*cells.cores, *cells.crowd], choice)
            if not own:
                return why or NO_CELL
            with_cores = cells.chosen(cells.cores, choice)
            if not with_cores:
                crowd = what_crowds(cells.cores, own)
            if not (self.metric and any(map(cells.values.of, with_cores))):
                without += own
        failed = [cell for cell in without if cell.verdict in verdicts.FAILURES]
        if why and not (failed and self.metric):
            return why
        unmeasured = [cell for cell in without if cell.verdict in verdicts.NOT_MEASURED]
        for cell in (*failed, *unmeasured):
            detail = short_detail(cell.detail, LONGEST_REASON)
            return f"{cell.verdict}: {detail}" if detail else cell.verdict
        return crowd or (NO_VALUE if without else NOT_TOGETHER)


def _choices(asked: Any) -> Iterator[Choice]:
    """Yield the choices of cells (mappings from axes to values) in the data of a claim."""
    for side, choice in asked.items() if isinstance(asked, Mapping) else ():
        if side in ("over", "under"):
            yield from _choices(choice)
        elif side in ("of", "to"):
            yield choice


@dataclass(frozen=True)
class Answer:
    """The outcome of a claim with one MPI, on one partition and at one setting.

    Attributes:
        environment: the campaign's name for the MPI.
        partition: system and partition, with a colon between them.
        setting: the setting of the cells that decide the claim, unless the claim names settings.
        row: the end of a link to the claim's row on the page of the study.
    """

    claim: Claim
    environment: str
    partition: str
    setting: str
    outcome: Outcome
    row: str


@dataclass(frozen=True)
class ClaimsTable(Table):
    """A table of claims on the page of a study.

    Attributes:
        answers: what the rows say: one answer for each claim and each column that the claim
            concerns.
    """

    OF_ONE: ClassVar[str] = "Each is of one launch; the next may decide otherwise."

    answers: Sequence[Answer] = ()

    def values(self) -> Iterator[Any]:
        """Return the values that decide the claims; no column of the table has these values."""
        return (answer.outcome.measure for answer in self.answers)


@dataclass(frozen=True)
class Claims:
    """A table of claims on an experiment: one row for each claim, one column for each MPI.

    The claims of a study are in ``results/published/claims/<study>.yaml``.

    Attributes:
        study: the study that the file of claims belongs to.
        experiment: the name of the kernel that the claims are about.
        own: functions that decide claims of only this study, by name.
    """

    study: str
    experiment: str
    own: Mapping[str, Own] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Return the path of the file with the claims."""
        return paths.project_root() / FOLDER / "claims" / f"{self.study}.yaml"

    @cached_property
    def claims(self) -> list[Claim]:
        """Return the claims in their order on the page.

        Raises:
            InputError: the file is missing, does not fit its schema, or lacks the experiment.
        """
        document = documents.read_yaml(self.path, "claims")
        own = document["experiments"].get(self.experiment)
        if own is None:
            field = f"experiments.{self.experiment}"
            raise InputError(self.path, field, "nothing", "the claims on this experiment")
        return list(self._claims(document["source"], own))

    def _claims(self, source: str, own: Mapping[str, Any]) -> Iterator[Claim]:
        for place, entry in enumerate(own["claims"]):
            field = f"experiments.{self.experiment}.claims.{place}"
            decide, asked = self._decision(entry, field)
            metric = entry.get("metric", own.get("metric", ""))
            if not metric and not {"verdict", "untested", "own"} & entry.keys():
                raise InputError(self.path, f"{field}.metric", "nothing", "the metric it is about")
            common = {**own.get("cells", {}), **entry.get("cells", {})}
            needs_cores = entry.get("needs_cores", own.get("needs_cores", True))
            said = source, entry["place"], entry["says"]
            yield Claim(*said, decide, asked, metric, common, needs_cores)

    def _decision(self, entry: Mapping[str, Any], field: str) -> tuple[Own, Any]:
        """Return the function that decides a claim, and the data with which it is called."""
        known = (*DECISIONS, "own")
        names = [name for name in known if name in entry]
        if len(names) != 1:
            found = ", ".join(names) or "none"
            raise InputError(self.path, field, found, f"one of {', '.join(known)}")
        (name,) = names
        if name != "own":
            return DECISIONS[name], entry[name]
        test = entry[name]["test"]
        if test not in self.own:
            expected = f"one of {', '.join(self.own)}" if self.own else "no own test in this study"
            raise InputError(self.path, f"{field}.own.test", test, expected)
        return self.own[test], entry[name]

    def parts(self, material: Material) -> list[ClaimsTable | Folded]:
        """Return the table of claims, and a closed table for each further transport.

        A further transport is a setting at which the ranks of one node do not share memory.
        """
        material = apart(material)
        cells = {name: Cells.of(material, name) for name in material.environments}
        shown: list[ClaimsTable | Folded] = [self._table(material, cells, self.claims)]
        claims = [claim for claim in self.claims if claim.is_of_transport]
        for setting in _transports(material.cells) if claims else ():
            own = {name: _at_setting(every, setting) for name, every in cells.items()}
            own = {name: some for name, some in own.items() if _settings_of(some)}
            table = self._table(material, own, claims, f"_{setting}")
            shown.append(Folded(f"The claims with the setting {setting}", table))
        return shown

    def _table(
        self, material: Material, cells: Mapping[str, Cells], claims: Sequence[Claim], end: str = ""
    ) -> ClaimsTable:
        """Return a table of claims, decided by cells of each environment.

        The name of the table ends with `end`.
        """
        flavors = {claim.common.get("flavor") for claim in claims} - {NO_MEANING}
        flavor = flavors.pop() if len(flavors) == 1 else None
        columns = [
            Column("claim", "what the paper says", header=True, note="source", prose=True),
            *(Column(name, name, note=f"why_{name}") for name in cells),
        ]
        beside = [Column("source", "source")]
        for name in cells:
            value = f"{name}: the ratio, or the value, that the claim speaks of"
            beside.append(Column(f"value_{name}", value, numbers.ratio, measure=True))
            beside.append(Column(f"words_{name}", f"{name}: why there is no number"))
        caption = (
            "What the paper says, and whether it holds here, by the medians over launches "
            "and the ratios of two values round by round, each with its "
            f"{material.interval_words}. Open: these do not decide it."
            + (f" The windows have the flavor {flavor}." if flavor else "")
        )
        table = f"{self.experiment}_claims{end}"
        outcomes = [{name: claim.outcome(own) for name, own in cells.items()} for claim in claims]
        pairs = list(zip(claims, outcomes, strict=True))
        return ClaimsTable(
            table,
            caption,
            columns,
            [_row(claim, own) for claim, own in pairs],
            csv_only=beside,
            named=NAMED,
            form="cards",
            answers=[
                _answer(material, claim, cells[name], outcome, table)
                for claim, own in pairs
                for name, outcome in own.items()
                if outcome.word
            ],
        )


def _row(claim: Claim, outcomes: Mapping[str, Outcome]) -> Row:
    """Return the table row of a claim, with the outcome for each environment."""
    row: dict[str, Any] = {"claim": claim.words, "source": claim.where}
    for environment, outcome in outcomes.items():
        row |= {environment: outcome.word, f"why_{environment}": outcome.why}
        row[f"value_{environment}"] = outcome.measure
        row[f"words_{environment}"] = None if outcome.measure else outcome.why
    return row


def _answer(material: Material, claim: Claim, cells: Cells, outcome: Outcome, table: str) -> Answer:
    """Return the outcome of a claim, together with the MPI, the partition and the setting."""
    own = (cell for cell in material.cells if cell.environment == cells.environment)
    cell = next(own)
    return Answer(
        claim,
        material.lines.environment_of(cell),
        f"{cell.system}:{cell.partition}",
        _setting_of(claim, cells, outcome),
        outcome,
        row_name(table, (claim.words, claim.where)),
    )


def _settings_of(cells: Cells) -> list[str]:
    """Return the settings that an MPI's cells have."""
    own = (c for c in (*cells.cores, *cells.crowd) if c.environment == cells.environment)
    return list(dict.fromkeys(cell.setting or DEFAULT for cell in own))


def _at_setting(cells: Cells, setting: str) -> Cells:
    """Return only those cells of an MPI that have a given setting."""
    groups = (cells.cores, cells.crowd)
    cores, crowd = ([c for c in group if (c.setting or DEFAULT) == setting] for group in groups)
    return replace(cells, cores=cores, crowd=crowd)


def _setting_of(claim: Claim, cells: Cells, outcome: Outcome) -> str:
    """Return the setting of the cells by which a claim is decided."""
    settings = _settings_of(cells)
    if DEFAULT not in settings:
        return ", ".join(settings)
    if claim.is_of_transport and settings != [DEFAULT]:
        alone = claim.outcome(_at_setting(cells, DEFAULT))
        return DEFAULT if alone.word == outcome.word else ANY_SETTING
    return DEFAULT


def _transports(cells: Sequence[Cell]) -> list[str]:
    """Return the settings of the given cells at which the ranks share no memory.

    The list is empty if no cell has the default setting, or if all cells have the same setting.
    """
    found = {cell.setting or DEFAULT for cell in cells}
    if DEFAULT not in found or len(found) == 1:
        return []
    return [name for name in setting_names() if name in found and not shares_memory(name)]


def published_experiment(
    module: str,
    title: str,
    order: int,
    *,
    study: Study,
    analysis: ReferenceAnalysis,
    lead: str,
    contents: Sequence[Content],
    metrics: Sequence[Metric] = (),
    published: Sequence[Curves] = (),
) -> Experiment:
    """Return the experiment that repeats an experiment of a paper.

    The experiment's page ends with the paper's claims. When campaigns are compared, one of the
    experiment's times is compared. `lead` is what a reader of the page has to know; `contents` is
    what the page shows, from top to bottom. `metrics` has figures of a launch (see `timed`); by
    default all figures of the analysis. `published` has the paper's numbers of the first figure, by
    the number of processes.
    """
    kernel = module.rpartition(".")[2]
    first = analysis.metrics[0]
    growth = [Growth(kernel, first.name, unit=first.unit, published=published)]
    if isinstance(analysis, ComputingAnalysis):
        growth.append(growth_of_waits(kernel))
    every = [*contents, *growth, Claims(study.name, kernel)]
    page = ReferencePage(kernel.replace("_", "-"), title, lead, every)
    figures = metrics or analysis.metrics
    return timed(module, title, order, study=study, metrics=figures, analysis=analysis, page=page)

"""The claims of a source, as data, and whether each claim holds for each MPI today."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided.cells.experiment import Experiment, Metric, Study, timed
from onesided.measure.common_analyses import ComputingAnalysis, ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import Growth, growth_of_waits
from onesided.report.cells import apart
from onesided.report.decisions import DECISIONS, Asked, Cells, Outcome
from onesided.report.material import Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Column, Row, Table
from onesided.report.published import FOLDER, Curves
from onesided.system import documents, paths
from onesided.system.errors import InputError

Own = Callable[[Cells, Asked], Outcome]
"""A function that decides claims, for the claims of only one study."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a source that today's values can confirm or contradict.

    Attributes:
        source: who makes the claim, and where.
        words: the claim in our words.
        decide: returns, from the cells of an MPI, whether the claim holds.
        asked: the input of `decide`: choices of cells, and bounds.
        metric: the metric of the claim; empty if the claim is about a verdict.
        common: the values on axes that all cells of the claim must have.
        needs_cores: whether only cells with a core for each rank can decide the claim.
    """

    source: str
    words: str
    decide: Callable[[Cells, Any], Outcome]
    asked: Any
    metric: str = ""
    common: Mapping[str, Any] = field(default_factory=dict)
    needs_cores: bool = True

    def outcome(self, cells: Cells) -> Outcome:
        """Return the outcome of the claim with an MPI."""
        cells = replace(cells, metric=self.metric, common=self.common)
        if not self.needs_cores:
            cells = replace(cells, cores=[*cells.cores, *cells.crowd], crowd=[])
        return self.decide(cells, self.asked)


@dataclass(frozen=True)
class Claims:
    """The table of the claims on an experiment: one row for each claim, one column for each MPI.

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
            where = f"{source}, {entry['place']}"
            needs_cores = own.get("needs_cores", True)
            yield Claim(where, entry["says"], decide, asked, metric, common, needs_cores)

    def _decision(self, entry: Mapping[str, Any], field: str) -> tuple[Own, Any]:
        """Return the function that decides a claim, and what the claim asks for."""
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

    def rows(self, material: Material) -> list[Row]:
        """Return one row for each claim."""
        cells = {name: Cells.of(material, name) for name in material.environments}
        return [self._row(claim, cells) for claim in self.claims]

    @staticmethod
    def _row(claim: Claim, cells: Mapping[str, Cells]) -> dict[str, Any]:
        row: dict[str, Any] = {"claim": claim.words, "source": claim.source}
        for environment, own in cells.items():
            outcome = claim.outcome(own)
            row |= {environment: outcome.word, f"why_{environment}": outcome.why}
            row[f"value_{environment}"] = outcome.measure
            row[f"words_{environment}"] = None if outcome.measure else outcome.why
        return row

    def parts(self, material: Material) -> list[Table]:
        """Return the table."""
        material = apart(material)
        columns = [
            Column("claim", "what the source says", header=True, note="source", prose=True),
            *(Column(name, name, note=f"why_{name}") for name in material.environments),
        ]
        beside = [Column("source", "source")]
        for name in material.environments:
            value = f"{name}: the ratio, or the value, that the claim speaks of"
            beside.append(Column(f"value_{name}", value, numbers.ratio, measure=True))
            beside.append(Column(f"words_{name}", f"{name}: why there is no number"))
        caption = (
            "What the source says, and whether it holds here, by the medians over launches "
            "and the ratios of two values round by round, each with its "
            f"{material.interval_words}. Open: these do not decide it."
        )
        rows, name = self.rows(material), f"{self.experiment}_claims"
        return [Table(name, caption, columns, rows, csv_only=beside, form="cards")]


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
    """Return an experiment of a source. One of its times is compared; its page ends with claims.

    Args:
        module: the full name of the module; its last part is the kernel's name.
        title: the reader's name for the experiment.
        order: the place in a report.
        study: the study of the experiment.
        analysis: judges the experiment.
        lead: what a reader of the page has to know.
        contents: what the page shows, from top to bottom.
        metrics: figures of a launch (see `timed`); by default all figures of the analysis.
        published: the source's numbers of the first figure, by the number of processes.
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

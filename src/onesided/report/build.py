"""The report of a campaign: its pages, the content of each page, and the files beside the pages."""

import shutil
import zipfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from markupsafe import Markup

from onesided.cells.experiment import Experiment, Study
from onesided.report import (
    claims_page,
    comparison,
    containers,
    figures,
    grid,
    provenance,
    scope,
)
from onesided.report.document import (
    INDEX,
    Content,
    columns_table,
    document,
    files_of,
    has_figure,
    write_files,
)
from onesided.report.links import TYPED, with_links
from onesided.report.material import Loaded, Material
from onesided.report.parts import Headline, RowsOf, Section
from onesided.report.words import listed
from onesided.system import writing
from onesided.system.errors import OnesidedError

ARCHIVE = "data.zip"
"""The archive with every file that is beside the pages: tables, drawings, advice."""

ANSWERS = "The answers"


@dataclass(frozen=True)
class Sheet:
    """An HTML file of the report, which needs no other file.

    Attributes:
        title: the name of the file in the navigation.
        headlines: the answers at the top of the file, each with its experiment and the address of
            the whole answer.
        sections: the sections below the answers.
        one_round: says which parts of the file are based on only one round; None if no part is.
        lines: what the top of the file says about claims.
    """

    file: str
    title: str
    heading: str
    headlines: Sequence[tuple[Experiment, Headline, str]]
    sections: Sequence[Section]
    one_round: str | None = None
    lines: Sequence[Markup] = ()


Sections = Mapping[str, Sequence[Section]]
"""For each kernel: the report's sections on the kernel's experiment."""


def _answers(
    materials: Sequence[Material], files: Mapping[str, str], sections: Sections
) -> list[tuple[Experiment, Headline, str]]:
    """Return the answer of each experiment, with a link to the experiment's first section.

    A verdict in an answer links to the cells that have this verdict.
    """
    answers = []
    for material in materials:
        experiment, kernel = material.experiment, material.experiment.kernel
        headline = experiment.page.headline(material)
        if headline is not None:
            page = "" if files[kernel] == INDEX else files[kernel]
            table = with_links(headline.table, page, kernel, material.environments)
            first = f"{page}#{sections[kernel][0].identifier}" if sections[kernel] else page
            answers.append((experiment, replace(headline, table=table), first))
    return answers


def _with_command(lead: str) -> Markup:
    """Return the text above a table of cells; it also says how to run a cell of the table again."""
    words = "{} The command under <em>run again</em> launches the cell once more. {}"
    return Markup(words).format(lead, TYPED)


def _every_cell(
    loaded: Loaded, materials: Sequence[Material], files: Mapping[str, str], whole: bool
) -> Section:
    """Return the section that counts the cells with each verdict.

    With `whole`, the section also lists the cells.
    """
    lead = (
        "Nothing that was declared is left out: a cell that failed, was not supported or was not "
        "run is here with its reason."
    )
    if not whole:
        lead = (
            "Nothing that was declared is left out. The page of each study has every cell of its "
            "experiments, with the reason for a failure or a hole."
        )
    known = {material.experiment.kernel for material in materials}
    others = sorted({cell.kernel for cell in loaded.cells} - known)
    if others:
        lead += f" No page is made for: {listed(others)}."
    cells = map(grid.cells_table, materials) if whole else ()
    said = _with_command(lead) if whole else lead
    return Section("grid", "Every cell", said, (grid.tally_table(loaded, files), *cells))


def _joined(sections: Sequence[Section]) -> list[Section]:
    """Join sections with the same identifier into one, in the place of the first section."""
    joined: dict[str, Section] = {}
    for one in sections:
        first = joined.get(one.identifier)
        joined[one.identifier] = replace(first, parts=(*first.parts, *one.parts)) if first else one
    return list(joined.values())


def _study_file(experiment: Experiment) -> str:
    return f"{experiment.study.name}.html"


def sheets(loaded: Loaded, materials: Sequence[Material], single_file: bool) -> list[Sheet]:
    """Return the campaign's page, which has the answers, and after it a page for each study.

    If `single_file` is true, everything is on the campaign's page.
    """
    studies: dict[str, list[Material]] = {}
    for material in materials:
        studies.setdefault(_study_file(material.experiment), []).append(material)
    files = {
        material.experiment.kernel: INDEX if single_file else file
        for file, own in studies.items()
        for material in own
    }
    sections = {m.experiment.kernel: m.experiment.page.sections(m) for m in materials}
    answers = _answers(materials, files, sections)
    entries = RowsOf(loaded.cells, attrgetter("entry"))
    closing = containers.sections(loaded.campaign, loaded.experiments, entries, loaded.summary)
    other = loaded.campaign.record.get("declared", {}).get("beside")
    if other:
        closing.append(comparison.section(loaded.campaign.folder, other, loaded.experiments))
    closing += _known(loaded, answers)
    closing += [_every_cell(loaded, materials, files, single_file), provenance.section(loaded)]
    heading = "Which MPI progresses while the target computes?"
    claims = _claims(loaded, materials, sections, files)
    if single_file:
        own = [section for m in materials for section in sections[m.experiment.kernel]]
        own = [*_joined(own), *(claims.sections() if claims.every else ())]
        rests, lines = _one_round(materials), claims.lines("")
        return [Sheet(INDEX, ANSWERS, heading, answers, [*own, *closing], rests, lines)]
    rests = _one_round([m for m in materials if m.experiment in [one for one, *_ in answers]])
    lines = claims.lines(claims_page.FILE)
    pages = [Sheet(INDEX, ANSWERS, heading, answers, closing, rests, lines)]
    if claims.every:
        pages.append(_claims_sheet(claims, materials))
    for file, own in studies.items():
        study = own[0].experiment.study
        shown = [section for m in own for section in sections[m.experiment.kernel]]
        lead = "Every cell of this page's experiments, with the reason for a failure or a hole."
        tables = [grid.cells_table(m) for m in own]
        cells = Section("cells", "Every cell", _with_command(lead), tables)
        shown = [*_joined(shown), cells]
        # if the first screen has a brief of an answer, the full answer is here
        here = [answer for answer in answers if answer[1].brief and answer[0].study == study]
        pages.append(Sheet(file, study.title, study.title, here, shown, _one_round(own)))
    return pages


def _claims(
    loaded: Loaded, materials: Sequence[Material], sections: Sections, files: Mapping[str, str]
) -> claims_page.ClaimsPage:
    """Return the page that has all claims, with the answers that the pages of the studies have."""
    at = {kernel: "" if file == INDEX else file for kernel, file in files.items()}
    every = claims_page.judged([m.experiment for m in materials], sections, at)
    return claims_page.ClaimsPage(every, claims_page.untested(loaded.experiments, at))


def _claims_sheet(claims: claims_page.ClaimsPage, materials: Sequence[Material]) -> Sheet:
    """Return the report's file with the page of all claims of the papers."""
    asked = {one.experiment.kernel for one in claims.every}
    rests = _one_round([m for m in materials if m.experiment.kernel in asked])
    title, heading = claims_page.TITLE, claims_page.HEADING
    return Sheet(claims_page.FILE, title, heading, (), claims.sections(), rests)


def _one_round(materials: Sequence[Material]) -> str | None:
    return scope.one_round({m.experiment.title: m.cells for m in materials}, "this page")


def cite(loaded: Loaded, measured_on: Sequence[str]) -> str:
    """Return what a paper must say about the campaign whose results it uses: name, dates, commit.

    `measured_on` has the sentences that `scope.sentences` returns.
    """
    record = loaded.campaign.record
    started = loaded.campaign.started
    days = list(dict.fromkeys(at[:10] for at in started))
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "not measured"
    commit = record.get("commit") or "not known"
    names = listed(list(dict.fromkeys(cell.environment for cell in loaded.cells)))
    return (
        f"onesided, campaign {loaded.campaign.name}, {when}, commit {commit}, with {names}. "
        f"{' '.join(measured_on)}"
    )


Answers = Sequence[tuple[Experiment, Headline, str]]


def _on_its_page(study: Study, answers: Answers) -> Headline | None:
    """Return the answer to a study's question; None if this campaign has no answer."""
    own = (headline for experiment, headline, _ in answers if experiment.study == study)
    return next(own, None)


def _known(loaded: Loaded, answers: Answers) -> list[Section]:
    """Return sections on the studies that have a `brief`, but no answer in this campaign."""
    silent = [one for one in loaded.experiments.briefs if not _on_its_page(one, answers)]
    sections = (study.brief.section(loaded.campaign.record) for study in silent)
    return [section for section in sections if section is not None]


def _brief(loaded: Loaded, study: Study, every: Sequence[Sheet]) -> Markup | None:
    """Return what the report's first screen says about a study, with a link to the full answer."""
    brief = study.brief
    said = brief.sentences(loaded.campaign.record, _on_its_page(study, every[0].headlines))
    places = [
        f"{sheet.file if sheet != every[0] else ''}#{section.identifier}"
        for sheet in every
        for section in sheet.sections
        if section.identifier in (brief.SECTION, brief.PAGE)
    ]
    if not said:
        return None
    words = Markup("<strong>{}</strong> {}").format(study.title, Markup(" ").join(said))
    link = Markup(' <a href="{}">Details, and programs that show it</a>')
    return words + link.format(places[0]) if places else words


def _briefs(loaded: Loaded, every: Sequence[Sheet]) -> list[Markup]:
    sentences = (_brief(loaded, study, every) for study in loaded.experiments.briefs)
    return [said for said in sentences if said is not None]


def _again(materials: Sequence[Material]) -> str | None:
    """Return the shortest of the commands that run a cell again; None if there are no cells."""
    lines = (material.lines.line(material.cells[0]) for material in materials if material.cells)
    return min(lines, key=len, default=None)


def render(loaded: Loaded, sheet: Sheet, every: Sequence[Sheet], again: str | None = None) -> str:
    """Return the HTML of one of the report's files.

    `again` is a command that runs a cell again.
    """
    measured_on = scope.sentences(loaded)
    library = figures.packed_library() if has_figure(sheet.sections) else ""
    started = loaded.campaign.started
    return document(
        "index.html.j2",
        campaign=loaded.campaign.name,
        date=started[-1][:10] if started else None,
        environments=len({cell.environment for cell in loaded.cells}),
        launches=loaded.campaign.launches.height,
        cells=len(loaded.cells),
        sheet=sheet,
        sheets=every,
        scope=measured_on,
        again=again,
        briefs=_briefs(loaded, every) if sheet == every[0] else [],
        caveat=scope.caveat(loaded.campaign.record),
        cite=cite(loaded, measured_on),
        repository=loaded.campaign.record.get("repository"),
        dark_figures=Markup(figures.dark_style()),
        library=library,
    )


def _write_archive(folder: Path, names: Iterable[str]) -> None:
    """Write an archive of a folder's files into this folder; equal files give an equal archive."""
    with (
        writing.whole_file(folder / ARCHIVE) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        for name in sorted(names):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.file_size = (folder / name).stat().st_size
            with (folder / name).open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target, 2**20)


def _remove_stale(folder: Path, kept: Container[str]) -> None:
    """Remove the files of an earlier report that this report does not have."""
    patterns = ("*.csv", "*.svg", "*.html", "advice/*.sh", "advice/*.txt", "defects/*")
    for path in [path for pattern in patterns for path in folder.glob(pattern)]:
        if path.relative_to(folder).as_posix() not in kept:
            try:
                path.unlink()
            except OSError as fault:
                raise OnesidedError(f"{path}: cannot be removed: {fault.strerror}") from fault


def build(loaded: Loaded, single_file: bool = False) -> Path:
    """Write the report of a campaign; return the path of its page. The page is written last.

    If `single_file` is true, everything is on the campaign's page.

    Raises:
        OnesidedError: a file cannot be written.
    """
    materials = loaded.materials()
    every, again = sheets(loaded, materials, single_file), _again(materials)
    files: dict[str, Content] = {}
    for sheet in every:
        files |= files_of(sheet.sections, [headline.table for _, headline, _ in sheet.headlines])
    columns = columns_table(files)
    files[f"{columns.name}.csv"] = columns
    (_, index), *pages = ((sheet.file, render(loaded, sheet, every, again)) for sheet in every)
    target = loaded.campaign.folder / "report"
    write_files(target, {**files, **dict(pages)})
    _write_archive(target, files)
    _remove_stale(target, {*files, *(sheet.file for sheet in every)})
    writing.write_text(target / INDEX, index)
    return target / INDEX

"""A page has every claim of the papers, and its outcome with each MPI on each transport."""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
import yaml
from made_up import dinan, generator, messages, patterns, progress, windows
from made_up.generator import MPICH, OPENMPI
from opened import WIDTHS, network, opened
from unpacked import whole

from onesided import report
from onesided.measure.analyse import analyse
from onesided.report import claims_page
from onesided.report.build import Sheet, render
from onesided.report.claims import Answer, Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, Outcome
from onesided.studies import find
from onesided.system import paths

WORDS = (HOLDS, DOES_NOT_HOLD, OPEN, NOT_MEASURED)
READ_FASTER = "A pointer is read faster inside one lock_all than with a shared lock of its own."
JUMPS = (
    "With MPI_Isend the time jumps at 4096 bytes "
    "(here: 8 bytes more take 1.2 times as long, at least)."
)
JUMPED = "interface=isend_recv,flavor=none,size_bytes=4104"
FASTER = "operation=read,idiom=lock_all,target_state=idle"


def rows_of(folder, name):
    with (folder / "report" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def reported(folder):
    analyse(folder, find())
    report.build(report.load(folder, find()))
    return folder


def page_of(folder, name="claims"):
    return (folder / "report" / f"{name}.html").read_text("utf-8")


def answers(folder, **chosen):
    """Return the rows of the page's CSV with these values."""
    rows = rows_of(folder, "claims_answers")
    return [row for row in rows if all(row[key] == value for key, value in chosen.items())]


def changed(folder, factors, cell=FASTER, **chosen):
    """Multiply a cell's times by a factor in each round, in launches with these values."""
    path = folder / "samples.parquet"
    samples = pl.read_parquet(path)
    is_meant = (pl.col("cell") == cell) & (pl.col("metric") == "time")
    for name, value in chosen.items():
        is_meant &= pl.col(name).str.contains(value)
    assert samples.filter(is_meant).height
    factor = pl.col("round").replace_strict(factors, return_dtype=pl.Float64)
    samples.with_columns(
        pl.when(is_meant).then(pl.col("value") * factor).otherwise(pl.col("value")).alias("value")
    ).write_parquet(path)


def crashed(folder, cell=FASTER):
    """Make each launch of a cell end with a crash, and remove its samples."""
    is_meant = pl.col("cell") == cell
    for name in ("cells", "samples"):
        path = folder / f"{name}.parquet"
        table = pl.read_parquet(path)
        if name == "cells":
            status, detail = (pl.when(is_meant).then(pl.lit(one)) for one in ("crash", "signal 11"))
            table = table.with_columns(
                status.otherwise(pl.col("status")).alias("status"),
                detail.otherwise(pl.col("detail")).alias("detail"),
            )
        else:
            table = table.filter(~is_meant)
        table.write_parquet(path)


def lists(folder, **options):
    return dinan.campaign(folder, kernels=["linked_list"], ranks=(2, 4), cores=8, **options)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Two studies, one of which has a setting without shared memory; no time jumps."""
    folder = tmp_path_factory.mktemp("several")
    first = messages.ENVIRONMENTS[0]
    ways = [replace(first, setting="tcp", factor=1.5), first, messages.ENVIRONMENTS[1]]
    exchanges = messages.campaign(
        folder / "messages", environments=ways, kernels=["two_way_exchange"], cores=4
    )
    changed(exchanges, dict.fromkeys(range(1, 7), 0.3), JUMPED, test="tcp")
    return reported(generator.together(folder / "all", [lists(folder / "lists"), exchanges]))


@functools.cache
def all_claims():
    """Return each claim's words and place in the project's files, by kernel."""
    folder = paths.project_root() / "results" / "published" / "claims"
    documents = [yaml.safe_load(path.read_text("utf-8")) for path in folder.glob("*.yaml")]
    return {
        kernel: [(claim["says"], claim["place"]) for claim in own["claims"]]
        for document in documents
        for kernel, own in document["experiments"].items()
    }


#: The claims of the two studies; some claims on exchanges compare two settings.
LISTS, EXCHANGES = (len(all_claims()[kernel]) for kernel in ("linked_list", "two_way_exchange"))
OF_SETTINGS = sum("shared memory" in words for words, _ in all_claims()["two_way_exchange"])


def test_every_claim_on_a_kernel_of_the_campaign_is_there_for_each_mpi(several):
    for kernel in ("linked_list", "two_way_exchange"):
        for mpi in (MPICH, OPENMPI):
            own = answers(several, mpi=mpi)
            found = [(row["claim"], row["place"]) for row in own if row["mark"].endswith(kernel)]
            assert found == all_claims()[kernel]


def test_the_page_says_how_many_claims_the_campaign_does_not_ask(several):
    every = all_claims()
    others = sum(len(own) for kernel, own in every.items()) - sum(
        len(every[kernel]) for kernel in ("linked_list", "two_way_exchange")
    )
    assert others > 100
    assert f"This campaign does not measure {others} further claims, on: " in page_of(several)


def test_an_answer_is_the_one_on_the_page_of_the_study(several):
    compared = 0
    for kernel in ("linked_list", "two_way_exchange"):
        for row in rows_of(several, f"{kernel}_claims"):
            for mpi in (MPICH, OPENMPI):
                (own,) = (
                    one
                    for one in answers(several, mpi=mpi)
                    if f"{one['source']}, {one['place']}" == row["source"]
                    and one["claim"] == row["claim"]
                )
                assert own["answer"] == row[mpi]
                assert own["value"] == row[f"value_{mpi}"]
                assert own["value"] or own["why"] == row[f"words_{mpi}"]
                compared += 1
    assert compared == 2 * (LISTS + EXCHANGES)


def test_the_link_of_a_claim_leads_to_its_row_on_the_page_of_the_study(several):
    links = re.findall(r'<a href="(dinan|redbook)\.html#([^"]+)">', whole(page_of(several)))
    # two_way_exchange with tcp has no claim that compares settings
    assert len(set(links)) == LISTS + EXCHANGES + EXCHANGES - OF_SETTINGS
    for study in ("dinan", "redbook"):
        page = whole(page_of(several, study))
        assert all(f'id="{row}"' in page for name, row in links if name == study)


def test_a_setting_without_shared_memory_has_answers_of_its_own(several):
    of_tcp = answers(several, setting="tcp")
    assert {row["environment"] for row in of_tcp} == {MPICH}
    # the claim that compares settings has one outcome
    named = [row for row in answers(several) if "shared memory" in row["claim"]]
    assert len(of_tcp) == EXCHANGES - OF_SETTINGS
    assert {row["setting"] for row in named} == {"default"}
    names = {row["mpi"] for row in rows_of(several, "claims_counts")}
    assert names == {MPICH, OPENMPI, f"{MPICH} (tcp)"}
    jumps = {row["mpi"]: row["answer"] for row in answers(several, claim=JUMPS)}
    assert jumps == {MPICH: HOLDS, OPENMPI: HOLDS, f"{MPICH} (tcp)": DOES_NOT_HOLD}
    folded = rows_of(several, "two_way_exchange_claims_tcp")
    assert [row[MPICH] for row in folded] == [row["answer"] for row in of_tcp]


def test_an_answer_that_only_another_setting_decides_does_not_claim_the_default(tmp_path):
    first = messages.ENVIRONMENTS[0]
    folder = messages.campaign(
        tmp_path,
        environments=[replace(first, setting="tcp"), first],
        kernels=["two_way_exchange"],
        cores=4,
    )
    path = folder / "samples.parquet"
    samples = pl.read_parquet(path)
    samples.filter(pl.col("test").str.contains("tcp")).write_parquet(path)
    reported(folder)
    found = {row["setting"] for row in answers(folder) if row["answer"] != NOT_MEASURED}
    assert found == {"any setting", "tcp"}


def slower(*rounds):
    """Return a change: in these rounds, a read inside one lock_all takes nine times as long."""
    return lambda folder: changed(folder, {n: 9.0 if n in rounds else 1.0 for n in range(1, 7)})


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("change", "word", "value"),
    [
        (slower(), HOLDS, 2),
        (slower(1, 2, 3, 4, 5, 6), DOES_NOT_HOLD, 2 / 9),
        (slower(4, 5, 6), OPEN, None),
        (crashed, NOT_MEASURED, None),
    ],
    ids=WORDS,
)
def test_a_changed_number_turns_an_answer_into_each_other_kind(tmp_path, change, word, value):
    folder = lists(tmp_path)
    change(folder)
    reported(folder)
    found = answers(folder, claim=READ_FASTER)
    assert [row["answer"] for row in found] == [word] * 2
    for row in found:
        assert bool(row["value"]) == (word != NOT_MEASURED)
        assert bool(re.fullmatch("crash: .*signal 11.*", row["why"])) == (word == NOT_MEASURED)
        assert value is None or float(row["value"]) == pytest.approx(value, rel=0.1)
    (shown,) = (row for row in rows_of(folder, "claims_dinan") if row["claim"] == READ_FASTER)
    names = {one: f"{MPICH}, {OPENMPI}" if one == word else "" for one in WORDS}
    assert {one: shown[one] for one in WORDS} == names
    counts = Counter(row["answer"] for row in answers(folder, mpi=MPICH))
    (row,) = (row for row in rows_of(folder, "claims_counts") if row["mpi"] == MPICH)
    assert {one: int(row[one]) for one in WORDS} == {one: counts[one] for one in WORDS}


def test_a_number_that_changed_on_one_partition_changes_only_its_answer(tmp_path):
    parts = [lists(tmp_path / place, partition=place) for place in ("node", "network")]
    folder = generator.together(tmp_path / "all", parts)
    changed(folder, dict.fromkeys(range(1, 7), 9.0), partition="network")
    reported(folder)
    found = {(row["mpi"], row["answer"]) for row in answers(folder, claim=READ_FASTER)}
    assert found == {
        (f"{name} ({place})", word)
        for name in (MPICH, OPENMPI)
        for place, word in (("node", HOLDS), ("network", DOES_NOT_HOLD))
    }
    assert {row["environment"] for row in answers(folder)} == {MPICH, OPENMPI}
    assert {row["partition"] for row in answers(folder)} == {"laptop:node", "laptop:network"}
    assert "1 with some" in page_of(folder, "index")


def test_what_was_not_measured_has_a_reason(tmp_path):
    folder = tmp_path / "windows"
    missing = replace(windows.ENVIRONMENTS[0], unavailable="no wheel for this machine")
    windows.campaign(folder, environments=[missing, *windows.ENVIRONMENTS[1:]], rounds=1)
    small = patterns.campaign(tmp_path / "patterns", kernels=["naive_broadcast"], ranks=[2, 4])
    for one in (reported(folder), reported(small)):
        found = answers(one, answer=NOT_MEASURED)
        assert found and all(row["why"] for row in found)
    said = {row["why"] for row in answers(folder, environment=missing.name)}
    assert "no wheel for this machine" in " ".join(said)


def test_counts_agree_with_the_rows(several):
    titles = {f"{one.study.name}:": one.study.title for one in find().values()}
    rows = Counter(
        (row["mpi"], titles[row["mark"].partition(" ")[0]], row["answer"])
        for row in answers(several)
    )
    counted = rows_of(several, "claims_counts")
    for row in counted:
        found = {word: rows.pop((row["mpi"], row["study"], word), 0) for word in WORDS}
        assert {word: int(row[word]) for word in WORDS} == found
        assert int(row["claims"]) == sum(found.values())
    assert not rows
    assert sum(int(row["claims"]) for row in counted) == len(answers(several))


def test_the_claims_of_a_study_name_the_mpis_of_each_answer(several):
    shown = [*rows_of(several, "claims_dinan"), *rows_of(several, "claims_redbook")]
    for row in shown:
        own = [
            one
            for one in answers(several, claim=row["claim"])
            if f"{one['source']}, {one['place']}" == row["source"]
        ]
        counts = Counter(one["answer"] for one in own)
        for word in WORDS:
            told = row[word]
            many = (
                int(told[4:]) if told.startswith("all ") else len(told.split(", ")) if told else 0
            )
            assert many == counts[word]


def first_lines(folder):
    page = page_of(folder, "index")
    start = page.find("Do the papers&#39; claims hold today?</strong>")
    return [re.sub("<[^>]+>", "", one) for one in re.findall(
        r'<p class="on-data">(.*?)</p>', page[start - 60 :]
    )][:2] if start > 0 else []  # fmt: skip


def test_the_first_screen_has_two_lines_on_claims(several):
    first, second = first_lines(several)
    by_claim = {}
    for row in answers(several):
        by_claim.setdefault((row["claim"], row["place"], row["mark"]), []).append(row["answer"])
    kinds = [set(words) & {HOLDS, DOES_NOT_HOLD} for words in by_claim.values()]
    every, some, none = (
        kinds.count(of) for of in ({HOLDS}, {HOLDS, DOES_NOT_HOLD}, {DOES_NOT_HOLD})
    )
    assert f"Of {LISTS + EXCHANGES} claims of Dinan et al. and IBM SG24-5611, {every} hold" in first
    assert f"{some} with some, {none} with none." in first
    rest = [words for words in by_claim.values() if not set(words) & {HOLDS, DOES_NOT_HOLD}]
    opened = sum(OPEN in words for words in rest)
    assert f"Not decided: {opened}; not measured: {len(rest) - opened}." in first
    assert first.endswith("Every claim, and why")
    for name in (MPICH, OPENMPI, f"{MPICH} (tcp)"):
        counts = Counter(row["answer"] for row in answers(several, mpi=name))
        decided = counts[HOLDS] + counts[DOES_NOT_HOLD]
        assert f"{counts[HOLDS]} of {decided} with {name}" in second


def test_a_campaign_without_claims_has_neither_the_page_nor_the_lines(tmp_path):
    pages = reported(progress.campaign(tmp_path, progress.ENVIRONMENTS[:1], rounds=2)) / "report"
    assert not (pages / "claims.html").exists()
    index = (pages / "index.html").read_text("utf-8")
    assert "claims hold" not in index


def test_a_report_in_one_file_has_the_claims_with_links_into_itself(tmp_path):
    folder = lists(tmp_path)
    analyse(folder, find())
    page = report.build(report.load(folder, find()), single_file=True).read_text("utf-8")
    assert 'href="#claims"' in page and 'id="claims-dinan"' in page
    assert not (folder / "report" / "claims.html").exists()
    links = re.findall(r'href="(#linked_list_claims-[^"]+)"', page)
    assert links and all(f'id="{link[1:]}"' in page for link in links)


class Nodes(HTMLParser):
    """Counts a page's elements."""

    number = 0

    def handle_starttag(self, tag, attrs):
        self.number += 1


def test_the_page_stays_small_with_every_claim_and_many_mpis(several):
    loaded = report.load(several, find())
    every = [
        claims_page.Judged(
            experiment,
            Answer(
                claim,
                f"environment-{number}",
                "system:partition",
                "default",
                Outcome(WORDS[(number + at) % 4], f"a reason of some length with number {number}"),
                f"{experiment.kernel}_claims-{at}",
            ),
            f"environment-{number} (partition, setting)",
            f"study.html#{experiment.kernel}-{at}",
        )
        for experiment in find().values()
        for one in getattr(experiment.page, "contents", ())
        if isinstance(one, Claims)
        for at, claim in enumerate(one.claims)
        for number in range(24)
    ]
    assert len(every) == 24 * sum(map(len, all_claims().values()))
    page = claims_page.ClaimsPage(every)
    sheet = Sheet("claims.html", "", "", (), page.sections())
    html = render(loaded, sheet, [sheet])
    nodes = Nodes()
    nodes.feed(html)
    assert nodes.number < 10_000
    assert len(html.encode()) < 1_500_000
    assert len(str(page.lines("claims.html"))) < 1000


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_says_nothing_and_is_small(browser, several, width):
    path = several / "report" / "claims.html"
    assert path.stat().st_size < 1_500_000
    with opened(browser, path, width) as page:
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelectorAll('*').length") < 10_000
        assert page.said == []
        assert network(page) == []


def test_a_count_leads_to_as_many_answers(browser, several):
    with opened(browser, several / "report" / "claims.html") as page:
        links = page.locator('[data-table="claims_counts"] td a')
        assert links.count() > 4
        for link in links.all():
            number = link.inner_text()
            link.click()
            page.get_by_text(re.compile(rf"^{number} of [0-9]+ answers$")).wait_for()
            shown = page.locator('[data-table="claims_answers"] tbody tr:not(.group)')
            assert shown.count() == int(number)


def test_axe_finds_no_serious_fault_on_the_page(browser, several):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with opened(browser, several / "report" / "claims.html", 400) as page:
        found = axe.run(page).response["violations"]
    assert not [one["id"] for one in found if one["impact"] in ("serious", "critical")]

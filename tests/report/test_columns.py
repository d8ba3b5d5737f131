"""columns.csv describes every column of every file of a report, with its unit."""

import csv
import io
import re
import zipfile

import polars as pl
import pytest

from onesided.report.document import PARQUET, columns_table
from onesided.report.parts import Column, Table

MEASURED = re.compile(r"_(s|bytes|percent|us|ms)(?:_low|_high)?$")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def described(pages):
    text = (pages / "columns.csv").read_text("utf-8")
    return {(row["file"], row["column"]): row for row in rows_of(text)}


def test_every_column_of_every_csv_is_described(pages, described):
    found = set()
    for path in pages.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as stream:
            found |= {(path.name, name) for name in next(csv.reader(stream))}
    assert len(found) > 100
    in_csv = {key for key in described if not key[0].endswith(".parquet")}
    assert found == in_csv
    assert [key for key in found if not described[key]["meaning"].strip()] == []
    assert [key for key in found if not described[key]["table"].strip()] == []


def test_a_column_whose_name_has_a_unit_has_that_unit(described):
    found = {key: unit[1] for key in described if (unit := MEASURED.search(key[1]))}
    assert set(found.values()) >= {"s", "percent", "ms"}
    assert {key: described[key]["unit"] for key in found} == found


#: A number as a page writes it: with a mark, a sign, a unit, an interval, or another number.
DISPLAYED = re.compile(
    "[✓✗] [0-9].*|[0-9.,\\s]+\\s?([\u00d7%]|[a-zµKMG]?i?[sB](/s)?|K?M?bytes?|[KM]i|launch(es)?)"
    "|[0-9.]+\u00d7;.*|[0-9]+ of [0-9]+( launches)?"
    "|[0-9.]+[^,]*, [0-9.]+.* \u2013 .*|[0-9.]+ \u2013 .*"
)


def test_no_csv_has_a_number_as_a_page_writes_it(pages):
    found = set()
    for path in pages.glob("*.csv"):
        if path.stem.endswith("_published"):  # as in the source
            continue
        for row in rows_of(path.read_text("utf-8")):
            found |= {(path.name, name, value) for name, value in row.items() if value}
    assert len(found) > 1000
    assert [one for one in found if DISPLAYED.fullmatch(one[2])] == []


def test_words_for_a_reader_are_on_the_page_and_their_numbers_in_the_csv():
    columns = [
        Column("value", "value", header=True),
        Column("mpi", "MPI", page_only=True),
    ]
    row = {"value": "put", "mpi": "✓ 66", "mpi run": 66}
    table = Table("t", "caption", columns, [row], csv_only=[Column("mpi run", "run")])
    assert table.csv_text().splitlines() == ["value,mpi run", "put,66"]
    described = columns_table({"t.csv": table}).rows
    own = [one["column"] for one in described if one["file"] == "t.csv"]
    assert own == ["value", "mpi run"]


def test_every_column_of_every_parquet_file_is_described(campaign_that_ran, described):
    results = campaign_that_ran.parent / "results" / "tiny"
    paths = list(results.glob("*.parquet"))
    assert {path.stem for path in paths} == set(PARQUET)
    for path in paths:
        names = list(pl.read_parquet_schema(path))
        assert names == [name for file, name in described if file == path.name]
    with_unit = [one for one in described if one[1].endswith("_s") and one[0].endswith("parquet")]
    assert {described[one]["unit"] for one in with_unit} == {"s"}


def test_the_archive_has_the_dictionary_and_the_page_links_it_and_the_parquet_files(pages):
    with zipfile.ZipFile(pages / "data.zip") as archive:
        assert archive.read("columns.csv") == (pages / "columns.csv").read_bytes()
    html = (pages / "index.html").read_text("utf-8")
    assert 'href="columns.csv"' in html
    for name in PARQUET:
        assert f'href="../{name}.parquet"' in html

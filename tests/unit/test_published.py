"""A published table is shown as printed, with its source; a fault gives one line."""

import pytest
import yaml

from onesided import studies
from onesided.report.published import FOLDER, PublishedTable
from onesided.system import paths
from onesided.system.errors import InputError

DOCUMENT = {
    "schema": "onesided/published/1",
    "source": {"short": "the report", "authors": "One, Two", "title": "A title", "year": 2004},
    "place": "Table I",
    "what": "times in milliseconds",
    "columns": {
        "message": {"title": "message"},
        "here_ms": {"title": "Here", "unit": "ms"},
        "rate": {"title": "Rate", "unit": "MB/s"},
    },
}
CSV = """row,message,here_ms,rate,suspect,note
1,8 bytes,0.8160,N/A,here_ms,too high
2,1 Mbyte,7.74,320,,
"""


def test_each_published_table_is_on_a_page():
    """Except the table of the shared counter, whose page has its own tables."""
    pages = [experiment.page for experiment in studies.find().values()]
    contents = [one for page in pages for one in getattr(page, "contents", ())]
    shown = {one.name for one in contents if isinstance(one, PublishedTable)}
    names = {path.stem for path in (paths.project_root() / FOLDER).glob("*.csv")}
    patterns = {name for name in names if name.startswith("luecke_")}
    assert names - patterns - {"shared_counter_table1"} == shown - patterns


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    folder = tmp_path / "results" / "published"
    folder.mkdir(parents=True)

    def written(text=CSV, **changes):
        (folder / "table1.csv").write_text(text, "utf-8")
        (folder / "table1.yaml").write_text(
            yaml.safe_dump(DOCUMENT | changes, sort_keys=False), "utf-8"
        )
        return PublishedTable("table1")

    return written


def test_digits_are_as_printed_and_the_source_is_named(write):
    table = write().table()
    assert [column.title for column in table.columns] == ["message", "Here", "Rate"]
    assert [row["here_ms"] for row in table.rows] == ["0.8160", "7.74"]
    assert table.name == "table1_published"
    for said in ("2004: Table I of the report", "times in milliseconds", "One, Two, A title"):
        assert said in table.caption


def test_a_suspect_number_has_a_footnote(write):
    table = write().table()
    assert table.notes == [("a", "too high.")]
    assert [str(column.html(table.rows[0])) for column in table.columns] == [
        "8 bytes", "<span>0.8160<sup>a</sup></span>", "N/A",
    ]  # fmt: skip
    elsewhere = write(CSV.replace("here_ms,too high", ",of the row")).table()
    assert str(elsewhere.columns[0].html(elsewhere.rows[0])) == "<span>8 bytes<sup>a</sup></span>"


def test_the_meaning_of_a_column_is_below_the_table(write):
    columns = DOCUMENT["columns"] | {
        "rate": {"title": "Rate", "unit": "MB/s", "meaning": "a mean."}
    }
    assert write(columns=columns).table().notes == [("", "Rate: a mean."), ("a", "too high.")]


@pytest.mark.parametrize("word", ["N/A", "NA", "--"])
def test_each_word_for_no_number_is_shown_as_printed(write, word):
    table = write(CSV.replace("N/A", word))
    assert table.number(table.rows[0], "rate") is None
    assert str(table.table().columns[-1].html(table.rows[0])) == word


def test_numbers_are_in_units_that_can_be_compared(write):
    table = write()
    first, second = table.rows
    assert table.number(first, "here_ms") == pytest.approx(816e-6)
    assert table.number(first, "rate") is None
    assert table.number(second, "rate") == pytest.approx(320e6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CSV.replace("here_ms", "there_ms"), "columns: found message, there_ms, rate; expected"),
        (CSV.replace("7.74", "7,74"), "table1.csv: row 2: found too many fields"),
        (
            CSV.replace("7.74", "7.7.4"),
            "here_ms: found 7.7.4; expected a number, N/A, NA or --",
        ),
        (CSV.replace(",suspect", "").replace("here_ms,too", "too"), "suspect: found no such col"),
        (CSV.replace("7.74", "nan"), "here_ms: found nan; expected a number, N/A, NA or --"),
        (CSV.replace("here_ms,too", "where,too"), "row 1, suspect: found where; expected names of"),
        (CSV.replace("here_ms,rate", "rate,rate"), "columns: found row, message, rate, rate"),
        (CSV.replace("1 Mbyte", "1\0Mbyte"), r"line 3: found '\x00'; expected characters that can"),
        (CSV.replace("1 Mbyte", "x" * 200_000), "line 3: found field larger than field limit"),
    ],
)
def test_what_does_not_fit_is_said(write, text, words):
    with pytest.raises(InputError, match="table1") as fault:
        _ = write(text).rows
    assert words in str(fault.value)


def test_a_unit_that_nobody_knows_is_said(write):
    columns = DOCUMENT["columns"] | {"rate": {"title": "Rate", "unit": "furlongs"}}
    with pytest.raises(InputError, match=r"table1.yaml: columns.rate.unit: found .*furlongs"):
        _ = write(columns=columns).rows


def test_a_table_that_is_not_there_is_said(write):
    write()
    with pytest.raises(InputError, match=r"other.*"):
        _ = PublishedTable("other").rows

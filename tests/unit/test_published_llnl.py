"""The tables of LLNL are whole, and their numbers fit each other but where they are flagged."""

from collections import Counter

import pytest
from llnl_tables import GIVEN, ROWS_AND_NUMBERS

from onesided.report.published import PublishedTable

SIZE_MEAN_BYTES = 131072
MESSAGES_OF_A_PROCESS = 6


def llnl(name):
    return PublishedTable(f"llnl_{name}")


def measured(table):
    """Return each number that the source measured, with its row and column."""
    for row in table.rows:
        for column in table.document["columns"]:
            if column not in GIVEN and table.number(row, column) is not None:
                yield row, column, table.number(row, column)


@pytest.mark.parametrize("name", ROWS_AND_NUMBERS)
def test_each_number_of_the_source_is_there(name):
    table = llnl(name)
    assert (len(table.rows), len(list(measured(table)))) == ROWS_AND_NUMBERS[name]
    assert all(number > 0 for _, _, number in measured(table))


def test_each_machine_has_the_same_message_sizes():
    rows = llnl("lbw_sizes").rows
    sizes = Counter(row["size_bytes"] for row in rows)
    assert len(sizes) == 13
    assert set(sizes.values()) == {8}


def test_a_small_message_takes_the_latency():
    table, latencies = llnl("lbw_sizes"), llnl("lbw")
    latency_s = {
        (row["machine"], column.removeprefix("latency_").removesuffix("_us")): number
        for row, column, number in measured(latencies)
        if column.startswith("latency")
    }
    for row, placement, bandwidth in measured(table):
        if row["size_bytes"] == "40":
            expected = latency_s.pop((row["machine"], placement))
            assert 40 / bandwidth == pytest.approx(expected, rel=0.12), row
    assert not latency_s


def test_the_messages_of_a_pass_are_as_long_on_every_machine():
    table, odd = llnl("sts"), set()
    for row in table.rows:
        found = {name: table.number(row, name) for name in table.document["columns"] if "_" in name}
        if int(row["processes"]) >= 16 and None not in found.values():
            for style, messages in (("single", 1), ("double", 2)):
                bytes_found = found[f"{style}_bandwidth"] * found[f"{style}_ms"]
                expected = messages * MESSAGES_OF_A_PROCESS * SIZE_MEAN_BYTES
                if bytes_found != pytest.approx(expected, rel=0.2):
                    odd.add((row["machine"], row["processes"], f"{style}_ms"))
    assert odd <= {
        (row["machine"], row["processes"], column)
        for row in table.rows
        for column in row["suspect"].split()
    }
    assert ("uP", "16", "double_ms") in odd


def test_the_summary_repeats_the_machines_tables():
    own = {(row["machine"], column): number for row, column, number in measured(llnl("lbw"))}
    for row, column, number in measured(llnl("summary_lbw")):
        # the summary has no decimals of a bandwidth
        same = number == pytest.approx(own[row["machine"], column], abs=0.5e6, rel=1e-9)
        if "latency" in column:
            same = number == pytest.approx(own[row["machine"], column])
        assert same != (column in row["suspect"].split()), (row, column)
    for name, processes, columns in (
        ("ata", "4", {"bandwidth": "bandwidth"}),
        ("sts", "16", {"bandwidth": "single_bandwidth", "run_ms": "single_ms"}),
    ):
        table, summary = llnl(name), llnl(f"summary_{name}")
        rows = {row["machine"]: row for row in table.rows if row["processes"] == processes}
        for row, column, number in measured(summary):
            expected = table.number(rows[row["machine"]], columns[column])
            same = number == pytest.approx(expected, rel=0.005)
            assert same != (column in row["suspect"].split()), (row, column)


def test_where_the_source_has_no_field_there_is_no_number():
    table = llnl("lbw")
    (row,) = [row for row in table.rows if row["machine"] == "BG/L"]
    assert row["bandwidth_intranode"] == ""
    assert table.number(row, "bandwidth_intranode") is None
    assert table.number(row, "bandwidth_internode") == pytest.approx(154e6)

"""The page of round trips: a count for each call, or an interval if the times give no count."""

import csv
from functools import partial

import pytest
from made_up import generator
from made_up.generator import IMPI, MPICH, OPENMPI, Environment, Series
from shown import materials, parts

from onesided import cli
from onesided.cells.verdicts import TIMED_OUT
from onesided.measure.statistics import Line, line_through
from onesided.studies.wire import round_trips
from onesided.studies.wire.round_trips import ByWay, Calls, HeldOut, WhileComputing
from onesided.studies.wire.trips import Point, Trips, missed, trips_of

DELAYS_US = (250, 500, 1000, 1500)
WORK_S = 20e-6
#: Round trips of each call, by operation and synchronisation: of the lock, of the operation, and of
#: the completing call.
TRIPS = {
    ("put", "lock_all_flush"): (0, 0, 1),
    ("fetch_and_op", "lock_all_flush"): (0, 0, 1),
    ("put", "lock_exclusive"): (1, 0, 2),
    ("fetch_and_op", "lock_exclusive"): (1, 0, 2),
}
#: The second MPI: fetches differ, and a lock.
OTHER = {
    **TRIPS,
    ("fetch_and_op", "lock_all_flush"): (0, 2, 1),
    ("put", "lock_exclusive"): (2, 0, 0.5),
}
#: With the third MPI, no times are on a line.
ENVIRONMENTS = (
    Environment(MPICH, "mpich"),
    Environment(OPENMPI, "openmpi"),
    Environment(IMPI, "impi"),
)


def cells(delays_us):
    points = generator.points(
        operation=("put", "fetch_and_op"),
        flavor="allocate",
        synchronisation=("lock_exclusive", "lock_all_flush"),
        size_bytes=8,
        target_state=("idle", "computes", "computes_probing"),
        delay_us=delays_us,
    )
    return {"round_trips": points}


CELLS = cells(DELAYS_US)
#: The round trips after the compute of a target whose processor an access needs: the answer alone.
ANSWER = 0.5


def series(cell, changed=None):
    """Yield the series of a cell in a launch; one round in three is disturbed."""
    way = cell.at["operation"], cell.at["synchronisation"]
    own = (OTHER if cell.environment.name == OPENMPI else TRIPS) | (changed or {})
    message_s = 2e-6 * float(cell.at["delay_us"]) + WORK_S
    late_s = 0.004 if cell.turn % 3 == 0 else 0.0
    if cell.environment.name == IMPI:
        late_s = cell.source.uniform(0, 0.2)
    begin, issue, complete = (trips * message_s + WORK_S for trips in own[way])
    issue += own.get("work_s", 0.0)
    total = begin + issue + complete + late_s
    parts = {"begin": begin, "issue": issue, "complete": complete + late_s, "access": total}
    state = cell.at["target_state"]
    waits = (changed or {}).get("waits", lambda _: state == "computes")(cell)
    if waits:
        parts["access"] = 0.02 + late_s
    for metric, time_s in {"message": message_s, "first": total + message_s, **parts}.items():
        yield Series(metric, [time_s * cell.source.uniform(1.0, 1.02) for _ in range(5)], 1)
    if state != "idle":
        after_s = ANSWER * message_s + WORK_S + late_s if waits else 0.0
        yield Series("after", [after_s] * 5, 1)


def made(folder, points=CELLS, **changes):
    make = partial(
        generator.campaign, partial(series, **changes), points, environments=ENVIRONMENTS
    )
    return materials(make, folder)["round_trips"]


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    return made(tmp_path_factory.mktemp("round-trips"))


def rows_of(material):
    (table,) = parts(material, ByWay)
    return {(row["operation"], row["synchronisation"]): row for row in table.rows}


def test_the_round_trips_of_an_access_are_those_of_its_calls(material):
    rows = rows_of(material)
    for name, trips in ((MPICH, TRIPS), (OPENMPI, OTHER)):
        assert {way: row[name] for way, row in rows.items()} == {
            way: f"{sum(own):g}" for way, own in trips.items()
        }
    assert rows["put", "lock_exclusive"][f"calls_{MPICH}"] == "MPI_Win_lock 1, MPI_Win_unlock 2"
    assert rows["fetch_and_op", "lock_all_flush"][f"calls_{OPENMPI}"] == (
        "MPI_Fetch_and_op 2, MPI_Win_flush 1"
    )


def test_one_way_is_half_a_round_trip(material):
    row = rows_of(material)["put", "lock_exclusive"]
    assert row[OPENMPI] == "2.5"
    assert row[f"calls_{OPENMPI}"] == "MPI_Win_lock 2, MPI_Win_unlock 0.5"


def test_times_that_are_on_no_line_leave_the_number_open(material):
    assert all(row[IMPI] == "open" for row in rows_of(material).values())


def test_a_way_with_two_delays_left_has_the_verdict_of_the_failed_cells(tmp_path):
    def ended(cell):
        late = float(cell.at["delay_us"]) > DELAYS_US[1]
        return ("timed_out", "the launch had its time") if late else ("ok", None)

    mpi = Environment(MPICH, "mpich", statuses=ended)
    make = partial(generator.campaign, series, CELLS, environments=(mpi,))
    own = materials(make, tmp_path)["round_trips"]
    tables = [*parts(own, ByWay), *parts(own, WhileComputing)]
    assert len(tables) > 1
    for table in tables:
        assert {row[MPICH] for row in table.rows} == {TIMED_OUT}
        assert TIMED_OUT in table.html(table.rows)


def test_a_call_that_waits_once_more_moves_its_own_cells_and_no_others(material, tmp_path):
    changed = {("put", "lock_all_flush"): (0, 0, 2)}
    before, after = rows_of(material), rows_of(made(tmp_path, changed=changed))
    differ = {way for way in before if before[way][MPICH] != after[way][MPICH]}
    assert differ == {("put", "lock_all_flush")}
    assert after["put", "lock_all_flush"][MPICH] == "2"


def test_a_comparison_of_campaigns_names_each_number_that_changed(tmp_path, capsys):
    first, second, page = (tmp_path / name for name in ("first", "second", "page"))
    made(first)
    made(second, changed={("put", "lock_all_flush"): (0, 0, 2)})
    assert cli.main(["compare", str(first), str(second), "--page", str(page)]) == 0
    said, *named = capsys.readouterr().out.splitlines()[:3]
    # the third MPI's numbers are open
    assert said == "Round trips that changed: 2 of 8; 4 more are not known in both campaigns"
    way = "operation=put, synchronisation=lock_all_flush, flavor=allocate, size_bytes=8"
    assert named == [f"  {name} default {way}: 1 -> 2" for name in (MPICH, OPENMPI)]
    with (page / "compare_counts.csv").open(newline="") as stream:
        rows = [(row["environment"], row["what"]) for row in csv.DictReader(stream)]
    assert rows == [(MPICH, way), (OPENMPI, way)]
    assert f"{said}." in (page / "index.html").read_text("utf-8")


def test_equal_numbers_of_two_campaigns_have_not_changed(tmp_path, capsys):
    made(tmp_path)
    assert cli.main(["compare", str(tmp_path), str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("Round trips that changed: 0 of 8; 4 more")


def test_numbers_of_campaigns_with_other_delays_are_compared(tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    made(first)
    made(second, cells((400, *DELAYS_US[1:])), changed={("put", "lock_all_flush"): (0, 0, 2)})
    assert cli.main(["compare", str(first), str(second)]) == 0
    assert capsys.readouterr().out.startswith("Round trips that changed: 2 of 8; 4 more")


def trips(low, high, *calls):
    line = Line(slope=(low + high) / 2, low=low, high=high)
    return Trips([(0.0, 0.0)], line, 4, dict(enumerate(calls)))


def test_an_access_whose_interval_allows_several_numbers_has_the_sum_of_its_calls():
    calls = [trips(1.95, 2.02), trips(0.9, 1.05)]
    assert trips(2.7, 3.4).words == "2.7 to 3.4"
    assert trips(2.7, 3.4, *calls).words == "3"
    # numbers outside the interval, or a call without a number, are not reported
    assert trips(3.3, 4.4, *calls).number is None
    assert trips(2.7, 3.4, *calls, trips(-0.2, 0.5)).number is None


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.7, 1.9, "open"), (3.3, 4.8, "3.3 to 4.8"), (240.2, 300.1, "240 to 300")],
)
def test_an_interval_is_open_where_it_says_too_little(low, high, words):
    assert trips(low, high).words == words


def test_the_least_of_all_launches_with_a_delay_counts():
    points = [Point(str(d), 2.0 * d, 6.0 * d + late) for d in DELAYS_US for late in (0.0, 900.0)]
    assert trips_of(points).number == 3
    assert trips_of(points).launches == len(points)


def late_at(late_s, trips=3):
    """Return the points of a call; a delay's number in `late_s` says by how much it is late."""
    return [
        Point(str(delay), 2e-6 * delay, 2e-6 * trips * delay + WORK_S + late)
        for delay, late in zip(range(400, 4000, 400), late_s, strict=False)
    ]


@pytest.mark.parametrize("place", range(4))
def test_a_delay_with_late_launches_only_is_left_out(place):
    points = late_at([4e-3 if index == place else 0.0 for index in range(4)])
    assert trips_of(points).number == 3
    assert trips_of(points).launches == len(points) - 1
    assert trips_of(points).work_s == pytest.approx(WORK_S)


@pytest.mark.parametrize(
    "late_s",
    [
        (0.0, 0.0, -1e-3, 0.0),  # a time that is too short says that the line is wrong
        (0.0, 2e-3, 5e-3, 0.0),  # two late delays may lie on a wrong line
        (0.0, 0.6e-3, 1.1e-3, 4e-3),  # the times at the other delays allow no number
    ],
)
def test_no_delay_is_left_out_if_the_others_do_not_prove_a_number(late_s):
    points = late_at(late_s)
    assert trips_of(points).number is None
    assert trips_of(points).launches == len(points)


def test_a_known_number_predicts_where_the_slopes_of_few_times_would_not():
    times = {"400": (1.0, 3.3), "800": (2.0, 6.0), "1200": (3.0, 9.25), "1600": (10.0, 30.0)}
    shares = missed([Point(delay, *time) for delay, time in times.items()])
    assert shares["1600"] < 0.01


def test_a_delay_that_is_left_out_is_not_predicted_and_predicts_nothing():
    shares = missed(late_at((0.0, 0.0, 5e-3, 0.0, 0.0)))
    assert shares["1200"] is None
    assert [shares[delay] for delay in ("400", "800", "1600", "2000")] == pytest.approx([0.0] * 4)


def test_each_call_has_its_interval_and_its_work(material):
    (folded,) = parts(material, Calls)
    rows = [row for row in folded.part.rows if row["environment"] == MPICH]
    lock = [
        row
        for row in rows
        if (row["operation"], row["synchronisation"]) == ("put", "lock_exclusive")
    ]
    found = {row["call"]: row for row in lock}
    assert [*found] == [
        "MPI_Put", "MPI_Win_lock", "MPI_Win_unlock", "all of an access", "the window's first",
    ]  # fmt: skip
    assert found["the window's first"]["trips"] == "4"
    assert found["MPI_Put"]["work"] == pytest.approx(WORK_S, rel=0.1)
    assert found["MPI_Win_lock"]["low"] < 1 < found["MPI_Win_lock"]["high"] + 0.1


def computing(material):
    (table,) = parts(material, WhileComputing)
    return {
        (row["target_state"], row["operation"], row["synchronisation"]): row for row in table.rows
    }


def test_an_access_that_needs_the_targets_processor_waits_for_the_end_of_its_compute(material):
    rows = computing(material)
    assert rows["computes", "put", "lock_all_flush"][MPICH] == "waits, then 0.5"
    # times on no line leave the number open, and change nothing else
    assert rows["computes", "put", "lock_all_flush"][IMPI] == "waits"
    assert {row[IMPI] for (state, *_), row in rows.items() if "MPI_Iprobe" in state} == {
        "does not wait"
    }
    probing = {row[OPENMPI] for (state, *_), row in rows.items() if "MPI_Iprobe" in state}
    assert probing == {"1", "2.5", "3"}


def test_nothing_is_counted_where_a_call_has_work_for_longer_than_a_message_takes(tmp_path):
    slow = {("put", "lock_all_flush"): (0, 0, 1)}
    material = made(tmp_path, changed={**slow, "work_s": 4e-3, "waits": lambda _: False})
    assert computing(material)["computes", "put", "lock_all_flush"][MPICH] == "does not wait"


def test_an_access_that_waits_in_some_launches_only_is_said_to_do_so(tmp_path):
    material = made(tmp_path, changed={"waits": lambda cell: cell.turn == 1})
    assert (
        computing(material)["computes", "put", "lock_all_flush"][MPICH] == "waits in some launches"
    )
    assert (
        computing(material)["computes", "put", "lock_all_flush"][IMPI] == "waits in some launches"
    )


def test_a_delay_is_predicted_from_the_others_where_the_times_are_on_a_line(material):
    (table,) = parts(material, HeldOut)
    within = {(row["environment"], row["delay_us"]): row["within"] for row in table.rows}
    for delay_us in DELAYS_US:
        assert within[MPICH, delay_us] == within[OPENMPI, delay_us] == 1.0
        assert within[IMPI, delay_us] < 0.5


def test_the_answer_says_the_number_under_each_mpi(material):
    headline = material.experiment.page.headline(material)
    assert headline.table.rows[1]["fetch_flush"] == "3"
    assert str(headline.sentences[1]) == (
        "A fetch_and_op with lock_all and flush: "
        f"1 under {MPICH}, 3 under {OPENMPI} and open under {IMPI}."
    )
    assert headline.table.rows[0]["put_computing"] == "waits, then 0.5"


def test_an_estimate_is_the_round_trips_times_twice_the_latency(material):
    found = {
        (row["environment"], row["operation"], row["synchronisation"]): row["network"]
        for row in round_trips.estimated(material, 1.3e-6)
    }
    assert found[MPICH, "put", "lock_exclusive"] == pytest.approx(3 * 2.6e-6)
    assert found[OPENMPI, "fetch_and_op", "lock_all_flush"] == pytest.approx(3 * 2.6e-6)


def test_an_estimate_for_several_origins_is_that_of_a_queue(material):
    found = {
        (row["environment"], row["operation"], row["synchronisation"]): row
        for row in round_trips.estimated(material, 1.3e-6, origins=6)
    }
    assert {operation for _, operation, _ in found} == {"fetch_and_op"}
    locked = found[MPICH, "fetch_and_op", "lock_exclusive"]
    assert (locked["trips"], locked["network"]) == ("12", pytest.approx(12 * 2.6e-6))
    flushed = found[MPICH, "fetch_and_op", "lock_all_flush"]
    assert (flushed["trips"], flushed["network"]) == ("1", pytest.approx(2.6e-6))


def test_the_command_prints_the_estimate_of_one_mpi(material, tmp_path, capsys):
    made(tmp_path)
    words = ["estimate", str(tmp_path), "--latency", "1.3us", "--environment", MPICH]
    assert cli.main([*words, "--origins", "6"]) == 0
    printed = capsys.readouterr().out.replace("\u202f", " ").splitlines()
    flushed, locked = sorted(printed, key=lambda line: "lock_exclusive" in line)
    assert "12 round trips    31.2 µs on the network" in locked
    assert " 1 round trips    2.60 µs on the network" in flushed


@pytest.mark.parametrize(
    ("option", "value"), [("--latency", "1.3"), ("--latency", "fast"), ("--origins", "0")]
)
def test_an_option_without_a_meaning_is_one_line(option, value, tmp_path, capsys):
    options = {"--latency": "1us", option: value}
    words = [word for pair in options.items() for word in pair]
    assert cli.main(["estimate", str(tmp_path), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert option in line and value in line and "expected" in line


def test_three_of_ten_points_may_be_anywhere_and_the_line_stays():
    right = [(x, 2.0 * x + 1.0) for x in range(10)]
    for wrong in (0.0, 1e6):
        points = [(x, wrong if x in (1, 4, 8) else y) for x, y in right]
        line = line_through(points)
        assert line.slope == pytest.approx(2.0)
    assert line_through([(1.0, 1.0), (1.0, 2.0)]) is None

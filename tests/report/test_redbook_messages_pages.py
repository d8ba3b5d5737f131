"""The pages of messages and puts: limits, hangs, the best kind, the clock, and the claims."""

from dataclasses import replace

import polars as pl
import pytest
from made_up import messages as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts, words_with

from onesided.cells.verdicts import UNSUPPORTED
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.report.published import PublishedTable
from onesided.report.ratios import OPEN, Ratio, Ratios
from onesided.studies.parts.faster import Faster
from onesided.studies.redbook import eager_limit
from onesided.studies.redbook.kinds import COLLECTIVE, ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook.limits import AGREES, DIFFERS, NOT_TOLD, AroundLimit, Limits
from onesided.studies.redbook_threads.completion import EARLIER, Clocks


def test_a_limit_agrees_where_a_header_explains_the_difference(two_cores):
    prose, table = parts(two_cores["eager_limit"], Limits)
    first, second = table.rows
    assert (first["environment"], first["limit"].value) == (MPICH, made.LIMIT)
    assert (first["word"], first["reported"]) == (AGREES, made.REPORTED)
    assert first["why"].startswith("80 bytes less: ")
    assert (second["word"], second["reported"]) == (NOT_TOLD, None)
    assert "is -1: the library chooses" in second["why"]
    assert prose.sentences[0] == (
        f"{MPICH}: with no receive posted MPI_Send returns up to 4016 bytes while the receiver is "
        "in MPI, and up to 256 bytes while it is outside."
    )


def test_the_limit_has_a_column_for_each_number_of_ranks(tmp_path):
    options = {"kernels": ["eager_limit"], "ranks": (2, 4, 8), "cores": 4}
    material = materials(made.campaign, tmp_path, **options)["eager_limit"]
    (table,) = parts(material, eager_limit.LimitsByRanks)
    assert [c.key for c in table.columns if c.measure] == ["ranks_2", "ranks_4", "ranks_8"]
    own = {(row["environment"], row["receiver"]): row for row in table.rows}
    # eight ranks share four cores
    for ranks in (2, 4, 8):
        assert own[MPICH, "in MPI"][f"ranks_{ranks}"].value == made.LIMIT
        assert own[MPICH, "outside MPI"][f"ranks_{ranks}"].value == 256


def test_a_limit_at_the_end_of_the_search_is_said_to_be_no_limit(tmp_path, two_cores):
    options = {"kernels": ["eager_limit"], "changed": {"default": made.LARGEST}}
    material = materials(made.campaign, tmp_path, **options)["eager_limit"]
    (by_ranks,) = parts(material, eager_limit.LimitsByRanks)
    _, reported = parts(material, Limits)
    assert {row["note_2"] for row in by_ranks.rows} == {"every size that was tried"}
    assert {row["every"] for row in reported.rows} == {"every size that was tried"}
    (by_ranks,) = parts(two_cores["eager_limit"], eager_limit.LimitsByRanks)
    _, reported = parts(two_cores["eager_limit"], Limits)
    assert {row["note_2"] for row in by_ranks.rows} == {None}
    assert {row["every"] for row in reported.rows} == {None}


def test_unanswered_messages_say_whether_a_send_waited(two_cores):
    (table,) = parts(two_cores["eager_limit"], eager_limit.Unanswered)
    own = {(row["environment"], row["receiver"], row["ranks"]): row for row in table.rows}
    inside, outside = (own[MPICH, receiver, 2] for receiver in ("in MPI", "outside MPI"))
    assert (inside["messages"].value, inside["bytes"].value) == (1000, 1000 * made.LIMIT)
    assert (outside["messages"].value, outside["bytes"].value) == (64, 64 * 256)
    assert [inside["then"], outside["then"]] == ["all that were tried", "a send waits"]
    assert words_with(two_cores["eager_limit"], MPICH)[-2:] == [HOLDS, DOES_NOT_HOLD]


def test_each_path_has_a_limit_of_its_own_and_only_its_variables_are_compared(tmp_path):
    paths = [replace(made.ENVIRONMENTS[0], setting=setting) for setting in ("default", "tcp")]
    options = {"environments": paths, "kernels": ["eager_limit"]}
    prose, table = parts(materials(made.campaign, tmp_path, **options)["eager_limit"], Limits)
    assert [row["environment"] for row in table.rows] == [MPICH, f"{MPICH}, tcp"]
    assert [row["word"] for row in table.rows] == [AGREES, NOT_TOLD]
    assert prose.sentences[1].startswith(f"{MPICH}, tcp: ")


@pytest.mark.parametrize(
    ("raised", "lowered", "said", "words"),
    [
        (8000, 0, "raises the limit to 8000 bytes, lowers the limit to 0 bytes", [HOLDS] * 2),
        (
            4016,
            256,
            "does not raise the limit (4016 bytes), lowers the limit to 256 bytes",
            [DOES_NOT_HOLD] * 2,
        ),
        (
            4416,
            4016,
            "raises the limit to 4416 bytes, does not lower the limit (4016 bytes)",
            [DOES_NOT_HOLD] * 2,
        ),
    ],
)
def test_the_settings_that_change_the_limit_are_compared_with_the_default(
    tmp_path, raised, lowered, said, words
):
    first = made.ENVIRONMENTS[0]
    settings = [replace(first, setting=name) for name in ("eager_lowered", "default")]
    settings.append(replace(first, setting="eager_raised"))
    changed = {"eager_raised": raised, "eager_lowered": lowered}
    options = {"environments": settings, "kernels": ["eager_limit"], "changed": changed}
    material = materials(made.campaign, tmp_path, **options)["eager_limit"]
    prose, table = parts(material, Limits)
    raises, lowers = said.split(", ")
    assert prose.sentences[-2] == (
        f"{MPICH}, by settings: the default is 4016 bytes; eager_raised {raises} and eager_lowered "
        f"{lowers}."
    )
    assert words_with(material, MPICH)[5:7] == words
    # claims without a setting are about the default
    assert words_with(material, MPICH)[:3] == [DOES_NOT_HOLD, DOES_NOT_HOLD, HOLDS]
    whys = {row["environment"]: (row["word"], row["why"]) for row in table.rows}
    if not lowered:
        assert whys[f"{MPICH}, eager_lowered"] == (DIFFERS, "another variable decides")


@pytest.mark.parametrize(("slower", "word"), [(3.0, HOLDS), (1.5, DOES_NOT_HOLD)])
def test_what_shared_memory_gains_in_latency_and_in_rate_is_the_ratio_of_two_settings(
    tmp_path, slower, word
):
    first = made.ENVIRONMENTS[0]
    paths = [replace(first, setting="tcp", factor=slower), first]
    options = {"environments": paths, "kernels": ["two_way_exchange"]}
    material = materials(made.campaign, tmp_path, **options)["two_way_exchange"]
    assert words_with(material, MPICH) == [HOLDS] * 9 + [word] * 2
    assert {row["where"] for row in parts(material, Faster)[1].rows} == {
        "laptop:node, 2 ranks, default, unbound, single",
        "laptop:node, 2 ranks, tcp, unbound, single",
    }


def test_one_limit_is_said_and_a_size_below_it_that_did_not_return_is(two_cores, tmp_path):
    searches = 6 * 2 * 2 * 5  # rounds, MPIs, numbers of ranks, cells
    prose, _ = parts(two_cores["eager_limit"], Limits)
    assert prose.sentences[-1].startswith(f"In each of {searches} searches every size")

    def with_a_gap(folder):
        made.campaign(folder, kernels=["eager_limit"])
        path = folder / "samples.parquet"
        is_gap = (
            (pl.col("metric") == "returned")
            & (pl.col("index") == 3)
            & (pl.col("round") == 1)
            & (pl.col("environment") == MPICH)
            & pl.col("cell").str.contains("call=send,receiver=in_mpi")
        )
        samples = pl.read_parquet(path)
        samples.with_columns(
            pl.when(is_gap).then(0.0).otherwise(pl.col("value")).alias("value")
        ).write_parquet(path)

    own = materials(with_a_gap, tmp_path)
    prose, _ = parts(own["eager_limit"], Limits)
    assert prose.sentences[-1].startswith(f"In 2 of {searches} searches a size below the limit")


def test_a_hang_is_a_word_and_what_the_source_says_of_it_a_claim(two_cores):
    material = two_cores["in_place_all_to_all"]
    assert words_with(material, MPICH) == [*[HOLDS] * 4, *[NOT_MEASURED] * 2, HOLDS]
    assert words_with(material, OPENMPI) == [
        HOLDS, DOES_NOT_HOLD, *[NOT_MEASURED] * 4, HOLDS,
    ]  # fmt: skip
    _, table = parts(material, Kinds)
    assert {row[MPICH] for row in table.rows} == {COLLECTIVE}


def test_a_hang_at_a_lower_limit_is_a_claim_of_its_own(tmp_path):
    def hangs(cell):
        return "hang", "rank 0 in operations, MPI_Waitany"

    first = made.ENVIRONMENTS[0]
    lowered = replace(first, setting="eager_lowered", statuses=hangs)
    options = {"environments": [lowered, first], "kernels": ["in_place_all_to_all"]}
    material = materials(made.campaign, tmp_path, **options)["in_place_all_to_all"]
    # claims without a setting are about the default
    assert words_with(material, MPICH) == [*[HOLDS] * 4, NOT_MEASURED, HOLDS, HOLDS]


def test_claims_hold_where_the_source_is_right(two_cores):
    assert words_with(two_cores["eager_limit"], MPICH) == [
        DOES_NOT_HOLD, DOES_NOT_HOLD, HOLDS, HOLDS, DOES_NOT_HOLD, *[NOT_MEASURED] * 3,
        HOLDS, DOES_NOT_HOLD,
    ]  # fmt: skip
    assert words_with(two_cores["two_way_exchange"], MPICH) == [HOLDS] * 9 + [NOT_MEASURED] * 2
    assert words_with(two_cores["completion"], MPICH) == [HOLDS] * 5
    assert words_with(two_cores["put_ordering"], MPICH) == [HOLDS] * 4


def test_the_time_above_an_mpis_own_limit_is_compared_with_the_time_at_the_limit(two_cores):
    prose, table = parts(two_cores["two_way_exchange"], AroundLimit)
    row = next(row for row in table.rows if row["way"] == "MPI_Isend, MPI_Recv")
    assert (row["environment"], row["limit"].value) == (MPICH, made.LIMIT)
    # 1 µs at both limits, and 3 µs above
    for ratio in (row["own"], row["source"]):
        assert ratio.value == pytest.approx(3, rel=0.02)
        assert ratio.low < 3 * 1.02
        assert ratio.launches == 6
    assert prose.sentences[0].startswith(
        f"{MPICH} (2 ranks, default, unbound, single): 8 bytes above its eager limit of 4016 bytes "
        "messages take 1.6"
    )
    assert "8 bytes above 4096 they take 1.6" in prose.sentences[0]


def test_an_mpi_without_a_limit_says_so_in_words_table_and_claims(two_cores):
    material = two_cores["two_way_exchange"]
    prose, table = parts(material, AroundLimit)
    row = next(row for row in table.rows if row["environment"] == OPENMPI)
    why = f"in 6 of 6 launches: {made.NO_LIMIT}"
    assert (row["limit"], row["why"], row["own"]) == (UNSUPPORTED, why, UNSUPPORTED)
    assert row["source"].value == pytest.approx(3, rel=0.02)
    assert f"): {why}; 8 bytes above 4096" in prose.sentences[1]
    (claims,) = parts(material, Claims)
    whys = [claim[f"why_{OPENMPI}"] for claim in claims.rows]
    assert whys.count(why) == 2


def test_in_place_the_word_for_what_is_above_the_limit_may_be_a_hang(two_cores):
    _, table = parts(two_cores["in_place_all_to_all"], AroundLimit)
    own = {row["way"]: row["own"] for row in table.rows if row["environment"] == MPICH}
    assert own["MPI_Isend to all, MPI_Waitany, MPI_Recv"] == "hang"
    assert own["MPI_Sendrecv_replace"].value == pytest.approx(1.5, rel=0.02)


def test_a_time_that_does_not_jump_at_the_mpis_own_limit_turns_its_claims_alone(tmp_path):
    def level(kernel, ranks, at):
        at = {**at, "size_bytes": "4016"} if at.get("size_bytes") in made.AROUND else at
        return made.as_claimed(kernel, ranks, at)

    options = {"kernels": ["two_way_exchange"], "times": level}
    own = materials(made.campaign, tmp_path, **options)["two_way_exchange"]
    jumps = [HOLDS, HOLDS, DOES_NOT_HOLD, DOES_NOT_HOLD]
    assert words_with(own, MPICH) == [*jumps, *[HOLDS] * 5, NOT_MEASURED, NOT_MEASURED]


@pytest.mark.parametrize(
    ("small", "large", "words"),
    [
        (3.0, 1.0, [HOLDS, HOLDS]),
        (7.0, 1.0, [DOES_NOT_HOLD, HOLDS]),
        (3.0, 0.4, [HOLDS, DOES_NOT_HOLD]),
    ],
)
def test_the_two_cures_of_a_ready_send_are_compared(tmp_path, small, large, words):
    def cured(kernel, ranks, at):
        if at["interface"] == "ready_send":
            return {"8": small, "1048576": 90.0 / large}.get(at["size_bytes"], 3.0)
        return made.as_claimed(kernel, ranks, at)

    options = {"kernels": ["two_way_exchange"], "times": cured}
    own = materials(made.campaign, tmp_path, **options)["two_way_exchange"]
    assert words_with(own, MPICH)[7:9] == words


def test_the_bandwidth_at_a_limit_is_of_the_size_that_was_used(two_cores):
    material = two_cores["two_way_exchange"]
    cell = next(
        cell
        for cell in material.cells
        if cell.environment == MPICH and cell.has({"size_bytes": "above_limit"})
    )
    time, rate = (material.measure(cell, name, "median") for name in ("time", "bandwidth"))
    assert time.value * rate.value == pytest.approx(made.LIMIT + 8, rel=0.02)


def test_claims_do_not_hold_where_it_is_wrong(tmp_path):
    own = materials(made.campaign, tmp_path, times=made.reversed_times)
    assert words_with(own["two_way_exchange"], MPICH)[:7] == [DOES_NOT_HOLD] * 7
    assert (
        words_with(own["completion"], MPICH) == [DOES_NOT_HOLD] * 2 + [HOLDS] + [DOES_NOT_HOLD] * 2
    )
    assert words_with(own["put_ordering"], MPICH)[:2] == [DOES_NOT_HOLD] * 2


@pytest.mark.parametrize(
    ("kernel", "kind", "factor"),
    [("completion", TWO_SIDED, 6 / 9), ("put_ordering", ONE_SIDED, 2 / 3)],
)
def test_the_answer_names_the_faster_kind(two_cores, kernel, kind, factor):
    prose, table = parts(two_cores[kernel], Kinds)
    assert len(prose.sentences) == 2
    row = next(row for row in table.rows if row.get("distance", 8) == 8)
    assert row[MPICH] == kind
    assert row[f"ratio_{MPICH}"].value == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(("launches", "is_open"), [(1, True), (6, False)])
def test_of_one_launch_a_kind_that_takes_as_long_as_another_is_not_the_faster(
    two_cores, launches, is_open
):
    material = two_cores["put_ordering"]
    (kinds,) = (one for one in material.experiment.page.contents if isinstance(one, Kinds))
    cell = next(cell for cell in material.cells if kinds.shown(cell))
    tie = Measure(0.9998, 0.9997, 0.9999, 0.97, "interval", launches)
    (said,) = kinds._say(MPICH, [Ratio(cell.labels, cell, cell, tie)])
    assert said.startswith(f"{MPICH}: open at") == is_open


def test_an_exchange_has_the_faster_side(two_cores):
    prose, table = parts(two_cores["two_way_exchange"], Faster)
    assert "one-sided is faster" in prose.sentences[0]
    assert table.rows[0][f"ratio_{MPICH}"].value == pytest.approx(0.5, rel=0.02)


def test_local_completion_is_earlier_where_it_is(two_cores):
    prose, table = parts(two_cores["completion"], Ratios)
    assert [(row["size"], row["flavor"], row[MPICH]) for row in table.rows] == [
        (8, "allocate", EARLIER),
        (8, "create", EARLIER),
        (1048576, "allocate", OPEN),
        (1048576, "create", OPEN),
    ]
    assert table.rows[0][f"ratio_{MPICH}"].value == pytest.approx(1 / 2, rel=0.02)
    assert prose.sentences[0].startswith(f"{MPICH}, create: earlier at 8\u202fB; open at 1.05")


def test_published_tables_are_as_printed(two_cores):
    limits, buffers = parts(two_cores["eager_limit"], PublishedTable)
    assert [row["limit_bytes"] for row in limits.rows] == ["4096", "2048", "1024", "512"]
    assert [row["size"] for row in buffers.rows] == ["65536", "1 MB", "64 MB"]
    (codes,) = parts(two_cores["two_way_exchange"], PublishedTable)
    assert [row["two_processors"] for row in codes.part.rows].count("N/A") == 2
    assert codes.part.rows[4]["eight_processors"] == "433"
    (clocks,) = parts(two_cores["completion"], PublishedTable)
    assert [row["used"] for row in clocks.rows].count("Error") == 2
    assert len(clocks.rows) == 12


def test_the_clock_of_every_launch_is_counted(two_cores_folder, two_cores):
    assert parts(two_cores["completion"], Clocks) == []

    def with_clocks(own):
        made.campaign(own, kernels=["completion"])
        cells = pl.read_parquet(own / "cells.parquet")
        is_odd = (pl.col("environment") == MPICH) & (pl.col("round") == 1)
        cells.with_columns(
            pl.when(is_odd).then(1e-6).otherwise(1e-9).alias("clock_resolution_s"),
            pl.lit(2e-8).alias("clock_overhead_s"),
            pl.when(is_odd).then(False).otherwise(pl.col("clock_global")).alias("clock_global"),
        ).write_parquet(own / "cells.parquet")

    (table,) = parts(materials(with_clocks, two_cores_folder / "clocks")["completion"], Clocks)
    first, second = table.rows
    # two launches a round: with two ranks and with four
    assert (first["environment"], str(first["one"]), first["tick"]) == (MPICH, "10 of 12", 1e-6)
    assert (str(second["one"]), second["tick"], second["reading"]) == ("12 of 12", 1e-9, 2e-8)


def test_the_limit_with_more_tasks_is_not_measured_for_a_reason_that_comes_from_the_cells(
    two_cores,
):
    material = two_cores["eager_limit"]
    (claims,) = parts(material, Claims)
    assert {row[f"why_{name}"] for row in claims.rows[7:8] for name in material.environments} <= {
        "",
        "measured with at most 4 ranks",
    }
    assert f"why_{material.environments[0]}" in claims.rows[7]
    many = [
        Cell({**cell.entry, "ranks": 17, "oversubscribed": False}) if cell.ranks > 2 else cell
        for cell in material.cells
    ]
    assert words_with(replace(material, cells=many), MPICH)[7] in (HOLDS, DOES_NOT_HOLD)

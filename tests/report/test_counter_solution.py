"""Whole runs of the shared counter: their time, the shared computes, and the slowest process."""

import polars as pl
import pytest
from made_up import counter
from made_up.generator import MPICH
from shown import materials

from onesided.campaign.tables import PLACE
from onesided.studies.stfc.shared_counter import analysis, tables

#: A launch: three ranks; rank 2 and the counter are on different nodes.
RUN = {
    "access": {0: [0.01] * 2, 1: [0.02, 0.04], 2: [0.5, 0.7]},
    "compute": {0: [1.0] * 2, 1: [1.0] * 2, 2: [1.0] * 2},
    "wait": {0: [0.3], 1: [0.2], 2: [0.0]},
    "total": {0: [3.1], 1: [3.2], 2: [3.0]},
}


def found(run, nodes=None):
    rows = [
        (rank, metric, index, value)
        for metric, by_rank in run.items()
        for rank, own in by_rank.items()
        for index, value in enumerate(own)
    ]
    columns = ["rank", "metric", "index", "value"]
    place = [pl.lit("x").alias(name) for name in PLACE]
    samples = pl.DataFrame(rows, schema=columns, orient="row").with_columns(*place, round=pl.lit(1))
    labels = pl.lit('{"case": "target_computes", "algorithm": "mpi2_array"}').alias("labels")
    rank_nodes = pl.lit(nodes, pl.String).alias("rank_nodes")
    cells = samples.select(*PLACE, "round").unique().with_columns(labels, rank_nodes)
    own = analysis.launch_values(cells, samples)
    return {f"{row['metric']}.{row['statistic']}": row["value"] for row in own.to_dicts()}


def test_the_time_to_solution_is_over_the_computes_shared_evenly():
    assert found(RUN)["solution.over_computes"] == pytest.approx(3.2 / 2)
    only_two = {**RUN, "compute": {1: [1.0] * 2, 2: [1.0] * 4}}
    assert found(only_two)["solution.over_computes"] == pytest.approx(3.2 / 3)


def test_a_run_without_a_compute_has_no_time_to_solution():
    values = found({**RUN, "compute": {}})
    assert "solution.over_computes" not in values
    assert values["total.slowest"] == 3.2


def test_the_slowest_process_and_the_waits_at_the_end_are_values_of_their_own():
    values = found(RUN)
    assert values["access_mean.rank_1"] == pytest.approx(0.03)
    assert values["access_mean.slowest_rank"] == pytest.approx(0.6)
    assert (values["wait.rank_0"], values["wait.rank_1"]) == (0.3, 0.2)


def test_accesses_from_the_node_of_the_counter_and_from_other_nodes_have_values_of_their_own():
    on_other_node = {2: [0.5, 0.7], 3: [1.0, 1.2]}
    values = found({**RUN, "access": RUN["access"] | on_other_node}, nodes="[0, 0, 1, 2]")
    assert values["access_mean.target_node"] == pytest.approx(0.03)
    assert values["access_mean.other_nodes"] == pytest.approx(0.85)
    assert values["slowdown.other_nodes"] == pytest.approx(0.85 / 0.03)


def test_on_one_node_there_is_no_value_by_node_and_without_a_neighbour_no_ratio():
    assert not {name for name in found(RUN) if "node" in name}
    values = found(RUN, nodes="[0, 1, 2]")
    assert values["access_mean.other_nodes"] == pytest.approx(0.315)
    assert not {"access_mean.target_node", "slowdown.other_nodes"} & set(values)


def test_the_page_has_the_time_of_the_run_of_each_case(tmp_path):
    options = {"environments": counter.ENVIRONMENTS[:1], "rounds": 2, "levels": ("multiple",)}
    made = materials(counter.campaign, tmp_path, **options)["shared_counter"]
    (table,) = tables.solution(made).parts
    row = next(iter(table.rows))
    labels = {"algorithm": "mpi2_array", "flavor": "create", "spread_percent": "0"}
    for case, key in (("target_computes", "case1"), ("target_idle", "case2")):
        (cell,) = (one for one in made.cells if one.has({**labels, "case": case}))
        ratio = made.measure(cell, "solution", "over_computes").value
        assert cell.environment == MPICH
        assert row[f"{key}_total"].value == made.measure(cell, "total", "slowest").value
        assert row[f"{key}_ratio"].value == ratio
        assert row[f"{key}_note"].startswith(f"{ratio:.3g}"[:4])
        assert "slowest" not in row[f"{key}_note"]  # for two processes
    columns = {column.title for column in table.columns}
    assert {"Case 1", "Case 2", "Case 3"} <= columns

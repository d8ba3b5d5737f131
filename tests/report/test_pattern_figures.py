"""Figures of the five patterns without printed numbers: by ranks, by targets, trials in order."""

import json
from dataclasses import replace

import polars as pl
import pytest
from made_up import patterns as made
from shown import materials, parts

from onesided.report.pivot import SIZE
from onesided.report.series import SeriesFigure
from onesided.studies.luecke.analysis import MEDIAN
from onesided.studies.luecke.pattern import (
    TRIAL,
    TimeByRanks,
    TimeBySize,
    TimeByTarget,
    TrialsInSequence,
)

MPICH, OPENMPI, IMPI, SHMEM = (environment.name for environment in made.ENVIRONMENTS)
KERNELS = ("distant_messages", "right_shift", "all_to_all")


@pytest.fixture(scope="module", params=(8, 2))
def cores(request):
    return request.param


@pytest.fixture(scope="module")
def found(cores, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    environments = made.ENVIRONMENTS[0], made.ENVIRONMENTS[-1]
    options = {"environments": environments, "kernels": KERNELS, "cores": cores, "rounds": 2}
    return materials(made.campaign, folder, **options)


def named(material, kind):
    return {figure.name: figure for figure in parts(material, kind)}


def test_larger_messages_have_a_figure_if_several_numbers_of_ranks_have_a_core_each(found, cores):
    figures = named(found["right_shift"], TimeByRanks)
    first = ["right_shift_ranks_published", "right_shift_ranks_measured"]
    larger = "right_shift_ranks_larger_measured"
    assert list(figures) == ([*first, larger] if cores == 8 else first)
    if cores == 8:
        rows = [row for row in figures[larger].table.rows if row["panel"] == MPICH]
        assert {row["series"] for row in rows} == {"MPI-2, 10 Kbytes", "MPI-2, 1 Mbyte"}
        assert {row["x"] for row in rows} == {2, 4, 8}


def test_a_figure_by_targets_has_the_time_of_each_rank_that_a_message_comes_from(found, cores):
    material = found["distant_messages"]
    figures = named(material, TimeByTarget)
    if cores == 2:
        assert figures == {}
        return
    rows = figures["distant_messages_targets_measured"].table.rows
    own = (MPICH, "MPI-2, 10 Kbytes")
    of_mpi2 = [row for row in rows if (row["panel"], row["series"]) == own]
    assert [row["x"] for row in of_mpi2] == list(range(1, 8))
    labels = {"interface": "mpi2", "flavor": "create", "target": "3", "size_bytes": "10000"}
    (cell,) = (
        cell
        for cell in material.cells
        if (cell.environment, cell.ranks) == (MPICH, 8) and cell.has(labels)
    )
    assert of_mpi2[2]["value"] == material.measure(cell, "time", MEDIAN).value


def test_a_figure_by_size_has_the_nearest_and_the_farthest_rank_of_many(found, cores):
    (figure,) = [
        one for one in parts(found["distant_messages"], TimeBySize) if one.name.endswith("measured")
    ]
    series = [row["series"] for row in figure.table.rows if row["panel"] == MPICH]
    if cores == 8:
        assert {words.rpartition(" ")[2] for words in series} == {"1", "7"}
    else:
        assert not any("from rank" in words for words in series)


def test_the_trials_are_those_of_the_first_launch_in_their_order(found, cores):
    material = found["all_to_all"]
    (figure,) = parts(material, TrialsInSequence)
    rows = [row for row in figure.table.rows if row["series"] == "MPI-2"]
    assert {row["panel"] for row in rows} == {MPICH}
    assert [row["x"] for row in rows] == list(range(1, made.TRIALS + 1))
    wanted = "interface=mpi2,flavor=create,order=rotated,size_bytes=10000,target_state=takes_part"
    own = material.samples.filter(
        pl.col("environment") == MPICH,
        pl.col("round") == 1,
        pl.col("cell") == wanted,
        pl.col("test").str.contains(str(8 if cores == 8 else 2)),
    ).sort("index")
    assert own.height == made.TRIALS
    assert [row["value"] for row in rows] == own["value"].to_list()
    assert {row["series"] for row in figure.table.rows} == {"MPI-2", "SHMEM"}


def test_the_trials_stand_in_equal_steps_and_the_ranks_of_a_wide_range_do_not():
    order = TrialsInSequence("one", "", "", "time", TRIAL, "time", is_order=True)
    points = [
        {"panel": "", "series": "", "x": x, "label": str(x), "value": 1.0} for x in range(1, 52)
    ]
    (equal, growing) = (
        json.dumps(figure._chart(points, narrow=False))
        for figure in (order, replace(order, is_order=False))
    )
    assert '"log"' not in equal
    assert '"log"' in growing


def test_the_crowded_part_of_a_series_is_as_the_series_and_its_marks_are_open(found, cores):
    figure = named(found["right_shift"], TimeByRanks)["right_shift_ranks_measured"]
    chart = json.loads(figure.specification)
    encodings = [layer["encoding"] for panel in chart["concat"] for layer in panel["layer"]]
    (looks, *_) = (one for one in encodings if "fill" in one)
    look = {
        name: tuple(looks[channel]["scale"]["range"][at] for channel in ("color", "shape", "fill"))
        for at, name in enumerate(looks["fill"]["scale"]["domain"])
    }
    crowded = [name for name in look if name.endswith("crowded")]
    assert bool(crowded) == (cores == 2)
    for name in crowded:
        colour, shape, fill = look[name.removesuffix(", crowded")]
        assert look[name] == (colour, shape, "transparent") and fill == colour
    assert len(set(look.values())) == len(look)


def test_the_last_tick_has_its_label_and_labels_without_room_are_left_out():
    figure = SeriesFigure("one", "", "", "time", SIZE, "time")
    sizes = (8, 512, 4096, 4104, 65536, 1048576)
    points = [{"panel": "", "series": "", "x": x, "label": str(x), "value": 1.0} for x in sizes]
    for narrow in (False, True):
        (panel,) = figure._chart(points, narrow=narrow)["concat"]
        axis = panel["layer"][0]["encoding"]["x"]["axis"]
        assert axis["values"] == list(sizes)
        labels = json.loads(axis["labelExpr"].partition("(")[2].partition(")[")[0])
        assert {"8", "4104", "1048576"} <= labels.keys()
        assert "4096" not in labels

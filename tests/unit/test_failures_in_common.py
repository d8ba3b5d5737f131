"""Claims about the common properties of failing cells."""

import pytest

from onesided.report.material import Cell
from onesided.studies.data.failures import common


def cells_of(verdict, *labels):
    return [Cell({"verdict": verdict, "setting": "default", "labels": one}) for one in labels]


def test_the_fewest_axes_are_told():
    failed = cells_of("hang", {"a": 0, "b": 0, "c": 0})
    others = [{"a": a, "b": b, "c": 1 - b} for a in (0, 0, 1, 1, 1) for b in (0, 1)]
    # a leaves fewest of the others; after b and c, a leaves no fewer
    assert common(failed, failed + cells_of("right", *others)) == {"b": ["0"], "c": ["0"]}


@pytest.mark.parametrize(
    ("many", "each", "told"), [(1, 1, True), (6, 2, True), (6, 1, False), (7, 2, False)]
)
def test_an_axis_on_which_failures_have_many_values_is_not_told(many, each, told):
    failed = cells_of("crash", *({"count": count} for count in range(many) for _ in range(each)))
    found = common(failed, failed + cells_of("right", {"count": 99}))
    assert ("count" in found) == told


@pytest.mark.parametrize(("failing", "told"), [(2, {}), (12, {"flavor": ["dynamic"]})])
def test_what_only_some_cells_of_a_value_show_is_told_where_it_is_no_chance(failing, told):
    dynamic = {"flavor": "dynamic"}
    failed = cells_of("hang", *[dynamic] * failing)
    others = cells_of("right", *[dynamic] * 20, *[{"flavor": "create"}] * 20)
    assert common(failed, failed + others) == told


def test_any_few_cells_have_nothing_in_common_though_many_axes_tell_them_apart():
    axes = [{axis: int(axis != other) for axis in "abcdefg"} for other in "abcdefg"]
    failed = cells_of("hang", dict.fromkeys("abcdefg", 1))
    assert common(failed, failed + cells_of("right", *axes)) == {}

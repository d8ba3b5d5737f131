"""The pages of halo and adapter sharing: the best kind, what is shared, and the claims."""

from types import SimpleNamespace

import pytest
from made_up import sharing as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts, words

from onesided.report.by_cores import ByCores
from onesided.report.cells import apart_by_cores
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.material import Cell
from onesided.report.parts import Folded
from onesided.report.published import PublishedTable
from onesided.studies.redbook.kinds import ONE_SIDED, Kinds
from onesided.studies.redbook_threads.adapter_sharing import Sharing


def test_the_answer_is_of_exchanges_alone_and_names_the_factor(two_cores):
    _, table = parts(two_cores["halo"], Kinds)
    assert [(row["dimensions"], row["side"], row[MPICH]) for row in table.rows] == [
        (2, 16, ONE_SIDED),
        (3, 16, ONE_SIDED),
    ]
    assert table.rows[0][f"ratio_{MPICH}"].value == pytest.approx(1 / 2, rel=0.02)


def test_tasks_are_beside_tasks_of_threads_and_table_24_is_as_printed(two_cores):
    (published,) = parts(two_cores["halo"], PublishedTable)
    assert [(row["communication_s"], row["total_s"]) for row in published.rows] == [
        ("494", "1755"),
        ("281", "1505"),
    ]
    tables = [one for one in parts(two_cores["halo"], ByCores) if not isinstance(one, Folded)]
    (communication,) = (one for one in tables if one.name == "halo_tasks_communication")
    found = {(row["ranks"], row["threads"]): row[MPICH].value for row in communication.rows}
    assert found.keys() == {(1, 2), (2, 1)}
    assert found[2, 1] / found[1, 2] == pytest.approx(494 / 281, rel=0.02)


def test_claims_hold_where_the_source_is_right(two_cores, eight_cores):
    # all tasks' messages together count: 16 tasks need no cores for this
    assert words(two_cores["halo"]) == [HOLDS] * 5 + [NOT_MEASURED, HOLDS]
    assert words(eight_cores["halo"]) == [HOLDS] * 5 + [NOT_MEASURED, HOLDS]
    assert words(eight_cores["adapter_sharing"]) == [NOT_MEASURED] + [HOLDS] * 4


def test_a_quarter_of_the_tasks_with_four_threads_each_sends_half_as_much(two_cores, tmp_path):
    tables = [getattr(one, "part", one) for one in parts(two_cores["halo"], ByCores)]
    (crowded,) = (one for one in tables if one.name == "halo_tasks_sent_crowded")
    sent = {(row["ranks"], row["threads"]): row[MPICH].value for row in crowded.rows}
    assert sent[16, 1] == 2 * sent[4, 4]
    own = materials(made.campaign, tmp_path, cores=16, kernels=["halo"])
    assert words(own["halo"])[4:6] == [HOLDS] * 2


def test_no_claim_rests_on_more_pairs_than_cores(two_cores):
    assert set(words(two_cores["adapter_sharing"])) == {NOT_MEASURED}


def test_claims_do_not_hold_where_it_is_wrong(tmp_path):
    wrong = {"times": made.reversed_times, "sent_power": 1, "cores": 16}
    own = materials(made.campaign, tmp_path, **wrong)
    assert words(own["halo"])[2:6] == [DOES_NOT_HOLD] * 4
    assert words(own["adapter_sharing"])[2:] == [DOES_NOT_HOLD] * 3


@pytest.mark.parametrize(("cores", "said"), [(2, "more threads than cores"), (8, "a core each")])
def test_added_latency_and_exponent_are_found_again_with_an_interval(tmp_path, cores, said):
    own = materials(made.campaign, tmp_path, cores=cores, kernels=["adapter_sharing"], ranks=[2, 4])
    (table,) = parts(own["adapter_sharing"], Sharing)
    assert [row["environment"] for row in table.rows] == [MPICH, OPENMPI]
    for row, factor in zip(table.rows, (1, 2), strict=True):
        assert (row["arrangement"], row["pairs"], row["cores"]) == ("processes", 2, said)
        unit_s = made.UNIT_S * factor
        assert row["alone"].value == pytest.approx(unit_s, rel=0.02)
        assert row["added"].value == pytest.approx(made.ADDED * unit_s, rel=0.05)
        assert row["exponent"].value == pytest.approx(made.EXPONENT, rel=0.02)
        assert row["exponent"].low <= row["exponent"].value <= row["exponent"].high
        assert row["exponent"].launches == 6


def test_threads_without_cores_take_no_cell_of_fewer_threads_with_them():
    place = {"system": "laptop", "partition": "node", "ranks": 2, "setting": "default"}
    few, many = (
        Cell({**place, "labels": {"threads": threads}, "oversubscribed": threads == "4"})
        for threads in ("1", "4")
    )
    material = SimpleNamespace(cells=[few, many])
    assert apart_by_cores(material, material.cells) == ([few], [many])

"""The page of issue: its tables, and the source's claims, each reversed by a share."""

import pytest
from made_up import issue as made
from made_up.generator import MPICH
from shown import materials, parts

from onesided.report.by_cores import ByCores
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED


def answers(folder, early=made.as_claimed, settings=("default",)):
    """Return the outcome of each claim, by its words."""
    material = materials(made.campaign, folder, early=early, settings=settings)["issue"]
    (table,) = parts(material, Claims)
    return {row["claim"]: row[MPICH] for row in table.rows}


def test_shares_that_bear_the_source_out_make_each_claim_hold(tmp_path):
    found = answers(tmp_path)
    assert list(found.values()) == [HOLDS] * 3 + [NOT_MEASURED]
    both = answers(tmp_path / "merged", settings=("default", "merged_locks"))
    assert list(both.values()) == [HOLDS] * 4


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("a short operation is kept", {"operations": "1", "size_bytes": "8"}),
        ("with much data", {"operations": "1", "size_bytes": "65536"}),
        ("many operations", {"operations": "64", "size_bytes": "8"}),
    ],
)
def test_a_changed_share_turns_its_own_answer_alone(tmp_path, words, changed):
    def early(at):
        share = made.as_claimed(at)
        return 1 - share if changed.items() <= at.items() else share

    found = answers(tmp_path, early)
    turned = [claim for claim, word in found.items() if word == DOES_NOT_HOLD]
    assert [words in claim.lower() for claim in turned] == [True]


def test_each_cell_has_its_share_in_the_table(tmp_path):
    material = materials(made.campaign, tmp_path)["issue"]
    (table,) = parts(material, ByCores)
    assert (table.name, len(table.rows)) == ("issue_early", len(made.CELLS))
    shares = {row[MPICH].value for row in table.rows if row["operations"] == 64}
    assert shares == {1.0}

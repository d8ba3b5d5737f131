"""The answer within a node and between nodes: the first screen of a campaign with both."""

import pytest
from made_up import progress
from made_up.generator import MPICH, OPENMPI
from shown import materials

from onesided.cells import verdicts

CELLS = progress.grid(("put", "fetch_and_op"))


def waits_on_hosts(at, setting):
    if setting == "hosts":
        return "waits"
    return progress.allocate_and_flush(at)


def never_waits(at, setting):
    return "independent"


def headline_of(folder, first, settings=("default", "hosts")):
    """Return the answer for two MPIs; the first MPI has this behaviour."""
    environments = (
        progress.Environment(MPICH, "mpich", first),
        progress.Environment(OPENMPI, "openmpi", never_waits),
    )
    (material,) = materials(
        lambda own: progress.campaign(own, environments, CELLS, settings, ("single",)), folder
    ).values()
    headline = material.experiment.page.headline(material)
    return [str(one.striptags()) for one in headline.sentences], headline.table


def words_of(table, where):
    """Return each MPI's words in the columns of one transport."""
    names = [
        column.key
        for column in table.columns
        if column.verdict and column.title.startswith("Between") == where
    ]
    return {row["environment"]: {row.get(name) for name in names} for row in table.rows}


@pytest.fixture(scope="module")
def differing(tmp_path_factory):
    return headline_of(tmp_path_factory.mktemp("differing"), waits_on_hosts)


def test_what_waits_between_nodes_alone_is_said_for_both(differing):
    said, _ = differing
    assert said[0].startswith("Within a node: Use MPI_Win_allocate with lock_all and flush: ")
    between = [one for one in said if one.startswith("Between nodes (over TCP): ")]
    assert between == [
        "Between nodes (over TCP): Use MPI_Win_create or MPI_Win_allocate with each of the "
        f"2 synchronisations tested: an access completes while the target computes in {OPENMPI} "
        "only."
    ]


def test_ranks_on_hosts_are_no_variable_that_was_tried(differing):
    said, _ = differing
    assert not any("no variable" in one for one in said)


def test_the_table_has_columns_for_both(differing):
    _, table = differing
    assert words_of(table, True) == {
        MPICH: {verdicts.WAITS},
        OPENMPI: {verdicts.INDEPENDENT},
    }
    assert words_of(table, False)[MPICH] == {verdicts.WAITS, verdicts.INDEPENDENT}


def test_where_both_agree_the_sentences_do(tmp_path):
    said, table = headline_of(tmp_path, never_waits)
    first, second = (one.partition(": ")[2] for one in said[:2])
    assert first == second
    assert words_of(table, True) == words_of(table, False)


def test_without_cells_on_hosts_it_is_said_that_between_nodes_is_open(tmp_path):
    said, table = headline_of(tmp_path, waits_on_hosts, ("default",))
    assert not any(one.startswith(("Within", "Between")) for one in said)
    assert any("Between nodes it may be otherwise: onesided run" in one for one in said)
    assert words_of(table, True)[MPICH] == set()

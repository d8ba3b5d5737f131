"""A rank that reads its own element again and again lets ranks of other hosts have the lock."""

from wire_launches import launch

#: With this MPI a rank on another host gets a lock only while the owner makes progress without it.
OPENMPI = "openmpi-5.0.11"


def test_a_rank_gets_the_lock_of_a_rank_that_polls_under_exclusive_locks(
    ready_environment, tmp_path
):
    cells, axes = "operation=build,append;idiom=exclusive", ("operation", "idiom")
    document = ready_environment(OPENMPI)
    found = launch(document, tmp_path, None, 0, {}, cells, axes, name="linked_list")
    assert {*found} == {("build", "exclusive"), ("append", "exclusive")}

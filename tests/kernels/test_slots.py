"""A kernel that calls slots in a wrong order ends the launch with a message."""

import pytest


@pytest.mark.first_mpi
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("prepare_closed", "slots_prepare: expected after slots_open, found after slots_of"),
        ("check_unprepared", "slots_check: expected after slots_prepare, found after slots_open"),
        ("prepare_twice", "slots_prepare: expected after slots_open, found after slots_prepare"),
        ("close_unchecked", "slots_close: expected after slots_open, found after slots_prepare"),
    ],
)
def test_a_call_out_of_its_order_ends_the_launch_and_is_named(kernel_of_tests, step, said):
    run = kernel_of_tests("out_of_order.c").launch(f"--step={step}")
    assert run.code != 0
    assert said in run.stderr
    assert not run.results

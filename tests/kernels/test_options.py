"""What every kernel answers before its library starts: usage faults, and the cells it has."""

from __future__ import annotations

import re

import pytest

from onesided.campaign import declared, grid
from onesided.environments import kernels, libraries

from .asserting import assert_usage_fault

pytestmark = [pytest.mark.beside, pytest.mark.one_kernel_elsewhere]


@pytest.mark.one_case("kernel")
@pytest.mark.parametrize(
    ("options", "field", "found"),
    [
        (["--no-such-option"], "command line", "--no-such-option"),
        (["loose"], "command line", "loose"),
        (["--{axis}", "no-such-value"], "command line: {axis}", "no-such-value"),
        (["--cells", "{axis}=no-such-value"], "--cells: {axis}", "no-such-value"),
        (["--cells", "no_such_axis=1"], "--cells", "no_such_axis=1"),
        (["--missing"], "--missing", "no --output"),
    ],
)
def test_a_usage_fault_is_one_line_and_code_2_without_mpi(
    kernel, default_cells, without_mpi, options, field, found
):
    facts = {"axis": default_cells[0].partition("=")[0], "count": len(default_cells)}
    answer = without_mpi(*(option.format(**facts) for option in options))
    assert_usage_fault(answer, kernel, field.format(**facts), found.format(**facts))


def test_the_kernel_lists_the_very_cells_that_its_checks_declare(kernel, described, without_mpi):
    own = declared.tests_for(described, kernel.environment.document)
    tests = [test for test in own if test["kernel"] == kernel.executable.name]
    assert tests, "a kernel without a check"
    cells_of = {
        tuple(f"--cells={grid.block_option(block)}" for block in grid.blocks(base, crosses)): list(
            grid.cells(base, crosses)
        )
        for base, crosses in ((test["base_point"], test["crosses"]) for test in tests)
    }
    for options, cells in cells_of.items():
        answer = without_mpi("--list-cells", *options)
        assert (answer.returncode, answer.stdout.splitlines()) == (0, cells)


def test_every_test_of_the_checks_is_of_a_kernel_that_there_is(described):
    for library in libraries.LIBRARIES:
        named = {"name": "", "library": library, "features": []}
        tests = declared.tests_for(described, named)
        assert {test["kernel"] for test in tests} <= set(kernels.names(library))
        assert tests


@pytest.mark.one_case("kernel")
def test_every_option_that_is_a_number_takes_nothing_else(kernel, without_mpi):
    # the values of an axis are a list
    option = re.compile(r"^  --(\S+) (?!VALUE,).*\n.*\(default: [0-9.]+\)$", re.MULTILINE)
    numbers = option.findall(without_mpi("--help").stdout)
    assert {"seed", "cell-timeout-s"} <= set(numbers)
    for name in numbers:
        assert_usage_fault(without_mpi(f"--{name}", "1x"), kernel, f"--{name}", "1x")

"""Claims about known defects: their MPI, the failures they explain, and a valid file."""

from __future__ import annotations

import pytest
import yaml

from onesided.regression import known_defects
from onesided.system.errors import InputError

ENTRY = {
    "name": "some-mpi-17",
    "issue": "https://example.org/some/mpi/issues/17",
    "what": "accumulate crashes on a create window",
    "shows_as": "crash",
    "environments": ["mpi-1.*"],
    "cells": ["*operation=accumulate,flavor=create*"],
}
CRASHED = "operation=accumulate,flavor=create,size_bytes=8"
OTHER = "operation=put,flavor=create,size_bytes=8"


@pytest.fixture
def keep(tmp_path):
    """Return a function that writes entries and reads them again."""

    def write(*entries):
        document = {"schema": "onesided/known_defects/1", "defects": list(entries)}
        (tmp_path / known_defects.FILE).write_text(yaml.safe_dump(document))
        return known_defects.read(tmp_path)

    return write


def test_without_a_file_nothing_is_known(tmp_path):
    assert known_defects.read(tmp_path) == []


def test_a_defect_is_of_its_environments_and_of_every_partition_and_test(keep):
    (defect,) = keep(ENTRY)
    assert defect.is_of("here:node", "mpi-1.2", "Any %a=1")
    assert not defect.is_of("here:node", "mpi-2.0", "Any %a=1")


def test_a_defect_may_be_of_one_partition_and_test(keep):
    (defect,) = keep({**ENTRY, "partitions": ["*:network"], "tests": ["Progress*single*"]})
    assert defect.is_of("here:network", "mpi-1.2", "ProgressQuick %thread_level=single")
    assert not defect.is_of("here:node", "mpi-1.2", "ProgressQuick %thread_level=single")
    assert not defect.is_of("here:network", "mpi-1.2", "ProgressQuick %thread_level=multiple")


def test_it_accounts_for_cells_that_fail_as_it_says_and_for_no_other(keep):
    defects = keep(ENTRY)
    assert known_defects.expected(defects, {CRASHED: "crash", OTHER: "crash"}) == {
        ENTRY["name"]: [CRASHED]
    }
    assert known_defects.expected(defects, {CRASHED: "wrong_data"}) == {ENTRY["name"]: []}


def test_a_cell_is_accounted_for_once(keep):
    defects = keep(ENTRY, {**ENTRY, "name": "another"})
    assert known_defects.expected(defects, {CRASHED: "crash"}) == {
        ENTRY["name"]: [CRASHED],
        "another": [],
    }


def test_what_is_printed_names_the_issue(keep):
    (defect,) = keep(ENTRY)
    assert ENTRY["issue"] in defect.message and ENTRY["what"] in defect.message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"shows_as": "oddly"}, "wrong_data, hang, crash"),
        ({"issue": "see the wiki"}, "the address of the issue"),
        ({"name": "a name:"}, "letters, digits"),
        ({"cells": "create"}, "a list of patterns"),
        ({"cell": ["create"]}, "one of name, issue"),
    ],
)
def test_a_fault_of_the_file_is_told_in_a_line(keep, change, expected):
    with pytest.raises(InputError, match=expected) as caught:
        keep({**ENTRY, **change})
    assert known_defects.FILE in str(caught.value) and "\n" not in str(caught.value)


def test_a_name_may_be_given_once(keep):
    with pytest.raises(InputError, match=r"defects\.1\.name"):
        keep(ENTRY, ENTRY)

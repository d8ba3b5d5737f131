"""The example of a site's packages.yaml: a machine file with MPIs that campaigns know by name."""

from pathlib import Path

import pytest

from onesided.environments import declarations, spack_machine
from onesided.environments.spack_machine import name_and_version
from onesided.system import documents
from onesided.system.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "spack" / "sites").glob("*/packages.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_it_is_a_machine_file_of_a_site_that_there_is(path):
    document = documents.read_yaml(path, "machine")
    assert (ROOT / "reframe_checks" / "sites" / f"{path.parent.name}.py").is_file()
    (mpis,) = (one["mpis"] for one in document["definitions:"])
    assert set(mpis) <= {one.spack_spec() for one in declarations.declared().values()}
    for spec in mpis:
        name, version = name_and_version(spec)
        (external,) = document["packages"][name]["externals"]
        assert name_and_version(external["spec"]) == (name, version)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_check_says_of_another_machines_file_what_is_not_here(path):
    with pytest.raises(InputError, match=r"prefix: found nothing there; expected a folder /opt/"):
        spack_machine.check(path)


def test_there_is_an_example():
    assert FILES

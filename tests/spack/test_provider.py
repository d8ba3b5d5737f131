"""Claims about the provider spack: its calls, their times, and the resulting environment."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from fake_mpi import COMPILES, FINDINGS, LAUNCHES, NAME, put_mpi

from onesided.environments import provision
from onesided.system import documents, paths
from onesided.system.errors import InputError

LEVELS = ("single", "funneled", "serialized", "multiple")
#: Acts as Spack for an invented matrix, and records its calls.
STAND_IN = """#!/bin/sh
echo "$*" >> "{root}/calls"
case "${{3:-$1}}" in
  --version) echo 9.9 ;;
  concretize) {concretize}; echo '{{"concrete": true}}' > "{root}/spack.lock" ;;
  install) {install} ;;
  find) echo "==> found"; cat "{root}/found" ;;
esac
"""


class StandIn:
    """Spack, as far as the provider calls it."""

    def __init__(self, root):
        self.root = root
        self.found = []
        (root / "spack.yaml").write_text("spack: {specs: []}\n")
        (root / "src/kernels").mkdir(parents=True)
        (root / "src/kernels/one.c").write_text("int one;\n")
        (root / "bin").mkdir()
        self.make()

    def make(self, concretize=":", install=":"):
        program = self.root / "bin/spack"
        text = STAND_IN.format(root=self.root, concretize=concretize, install=install)
        program.write_text(text)
        program.chmod(0o755)

    def deliver(self, mpi, version, mpi_prefix):
        for level in LEVELS:
            prefix = self.root / "opt" / f"{mpi}-{version}-{level}"
            prefix.mkdir(parents=True, exist_ok=True)
            fields = (mpi, version, str(mpi_prefix), level, str(prefix))
            self.found.append("\t".join(fields))
        (self.root / "found").write_text("\n".join(self.found) + "\n")

    def calls(self):
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.split("-e ")[-1].partition(" ")[2] or line for line in lines]


def prefix_of(fake, name=NAME):
    return fake.root / "build/environments" / name / "prefix"


@pytest.fixture
def spack(unpacked, monkeypatch):
    made = StandIn(unpacked.root)
    monkeypatch.setenv("SPACK_ROOT", str(unpacked.root))
    unpacked.declare()
    made.deliver("mpich", "1.0", prefix_of(unpacked))
    return made


def provided(name=NAME):
    return provision.provide(name, provider="spack")


def test_spack_delivers_the_kernels_of_each_level_for_the_mpi_of_the_wheel(spack):
    document = provided()
    assert (document["status"], document["provider"]) == ("ready", "spack")
    assert set(document["kernels_prefix"]) == set(LEVELS)
    for level, prefix in document["kernels_prefix"].items():
        assert prefix == str(spack.root / f"opt/mpich-1.0-{level}")
    assert provision.read(NAME, "spack") == document
    wheel = provision.provide(NAME)
    assert wheel["kernels_prefix"] is None
    same = ("name", "family", "version", "features", "prefix", "launcher", "variables", "compilers")
    assert {key: document[key] for key in same} == {key: wheel[key] for key in same}


def test_the_lock_is_kept_by_its_hash(spack):
    document = provided()
    lock = spack.root / "spack.lock"
    sha256 = hashlib.sha256(lock.read_bytes()).hexdigest()
    assert document["spack"]["lock_sha256"] == sha256
    lock.unlink()
    kept = paths.spack_dir() / "locks" / f"{sha256}.lock"
    assert document["spack"]["lock"] == str(kept)
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == sha256


def test_spack_is_called_once_until_something_changes(spack):
    provided()
    called = [call.partition(" --format")[0] for call in spack.calls()]
    assert called == ["concretize --force", "install --only-concrete", "find", "--version"]
    provided()
    assert spack.calls() == []
    (spack.root / "src/kernels/one.c").write_text("int another;\n")
    provided()
    assert spack.calls()[:2] == ["concretize", "install --only-concrete"]
    (spack.root / "spack.yaml").write_text("spack: {specs: [onesided-kernels]}\n")
    provided()
    assert spack.calls()[0] == "concretize --force"


def test_kernels_that_were_removed_are_delivered_again(spack):
    document = provided()
    spack.calls()
    Path(document["kernels_prefix"]["multiple"]).rmdir()
    provided()
    assert "install --only-concrete" in spack.calls()


def test_two_environments_are_delivered_by_one_call(spack, unpacked):
    unpacked.declare("fake-again", package="fakempi2")
    provision.provide_all(provider="spack")
    assert spack.calls().count("install --only-concrete") == 1


@pytest.mark.parametrize("damage", ["", "{", '{"schema": "another"}', "[]"])
def test_a_damaged_record_of_a_delivery_is_made_again(spack, damage):
    first = provided()
    (paths.spack_dir() / "delivery.json").write_text(damage)
    assert provided() == first


def test_what_spack_says_is_the_reason_and_the_file_fits_its_schema(spack):
    spack.make(concretize="echo '==> Error: no version satisfies mpich@1.0'; exit 1")
    document = provided()
    assert document["status"] == "unavailable"
    assert document["reason"] == "spack concretize failed: no version satisfies mpich@1.0"
    path = paths.environment_file(NAME, "spack")
    assert documents.read_json(path, "environment") == document


def test_an_mpi_spack_has_no_kernels_for_is_unavailable_and_told_with_those_it_has(spack, unpacked):
    spack.found.clear()
    spack.deliver("openmpi", "5.0", unpacked.root)
    reason = provided()["reason"]
    assert reason == "Spack delivered kernels for openmpi@5.0, not for mpich@1.0"


def test_what_was_installed_counts_where_something_else_was_not_and_is_tried_again(spack):
    spack.make(install="echo '==> Error: openmpi: make failed'; exit 1")
    assert provided()["status"] == "ready"
    spack.calls()
    provided()
    assert "install --only-concrete" in spack.calls()


def test_nothing_installed_is_no_delivery(spack):
    (spack.root / "found").write_text("")
    spack.make(install="echo '==> Error: make failed'; exit 1")
    assert provided()["reason"] == "Spack delivered no onesided-kernels: make failed"


def test_an_mpi_of_spacks_own_is_probed_where_it_stands_and_no_wheel_is_installed(spack, unpacked):
    elsewhere = unpacked.root / "elsewhere"
    (elsewhere / "bin").mkdir(parents=True)
    findings = json.dumps(FINDINGS)
    for name, text in {"mpicc": COMPILES, "mpiexec": LAUNCHES, "findings": findings}.items():
        (elsewhere / "bin" / name).write_text(text)
        (elsewhere / "bin" / name).chmod(0o755)
    spack.found.clear()
    spack.deliver("mpich", "1.0", elsewhere)
    document = provided()
    assert document["prefix"] == str(elsewhere)
    assert document["launcher"]["path"] == str(elsewhere / "bin/mpiexec")
    assert not prefix_of(unpacked).exists()
    assert provided() == document


@pytest.mark.parametrize("is_the_same", [True, False])
def test_an_mpi_of_the_machine_is_launched_as_declared_where_spack_used_that_one(
    spack, unpacked, is_the_same
):
    wrapper = put_mpi(unpacked.root / "usr", suffix=".mpich")
    entry = {"provider": "system", "compiler": str(wrapper)}
    unpacked.document["environments"]["mine"] = entry
    unpacked.write()
    external = unpacked.root / "external"
    if is_the_same:  # a prefix of links, as `onesided spack machine` makes from Debian's files
        (external / "bin").mkdir(parents=True)
        (external / "bin/mpicc").symlink_to(wrapper)
    else:
        put_mpi(external)
    spack.deliver("mpich", "4.0.2", external)
    document = provided("mine")
    assert (document["status"], document["reason"]) == ("ready", None)
    assert document["kernels_prefix"]["single"].endswith("mpich-4.0.2-single")
    root, launcher = (
        (wrapper.parents[1], prefix_of(unpacked, "mine") / "bin/mpiexec")
        if is_the_same
        else (external, external / "bin/mpiexec")
    )
    assert (document["prefix"], document["launcher"]["path"]) == (str(root), str(launcher))
    assert provided("mine") == document


def test_another_mpi_in_the_prefix_that_spack_names_is_refused(spack, unpacked):
    elsewhere = unpacked.root / "elsewhere"
    (elsewhere / "bin").mkdir(parents=True)
    findings = json.dumps({**FINDINGS, "library_version": "Open MPI v4.1.4"})
    for name, text in {"mpicc": COMPILES, "mpiexec": LAUNCHES, "findings": findings}.items():
        (elsewhere / "bin" / name).write_text(text)
        (elsewhere / "bin" / name).chmod(0o755)
    spack.found.clear()
    spack.deliver("mpich", "1.0", elsewhere)
    document = provided()
    assert document["status"] == "unavailable"
    assert "Open MPI v4.1.4" in document["reason"]


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf on PATH")
def test_kernels_linked_to_another_mpi_are_refused_with_both_names(spack, unpacked):
    provision.provide(NAME)
    libraries = {"own": prefix_of(unpacked) / "lib", "other": unpacked.root / "other"}
    for folder in libraries.values():
        folder.mkdir()
        compile_c("int mpi;", "-shared", "-Wl,-soname,libmpi.so.12", "-o", folder / "libmpi.so.12")
    program = spack.root / "opt/mpich-1.0-serialized/bin/progress"
    program.parent.mkdir()

    def link(*order):
        rpath = ":".join(str(libraries[name]) for name in order)
        options = (f"-Wl,-rpath,{rpath}", "-Wl,--disable-new-dtags", "-o", program)
        library = libraries["own"] / "libmpi.so.12"
        compile_c("extern int mpi; int main(void) { return mpi; }", library, *options)

    link("other", "own")
    reason = provided()["reason"]
    assert f"progress for serialized looks for its MPI in {libraries['other']}" in reason
    assert "expected mpich@1.0 in" in reason
    link("own", "other")
    assert provided()["status"] == "ready"


def compile_c(source, *words):
    line = ["cc", "-x", "c", "-", "-x", "none", *map(str, words)]
    subprocess.run(line, input=source, text=True, check=True)


def test_a_machine_file_that_names_usr_stops_before_spack_is_called(spack, unpacked):
    folder = unpacked.root / "spack/machines"
    folder.mkdir(parents=True)
    (folder / "local.yaml").write_text(
        "definitions:\n- mpis: [mpich@1.0]\n"
        "packages:\n  mpich:\n    buildable: false\n    externals:\n"
        "    - {spec: mpich@1.0, prefix: /usr}\n"
    )
    with pytest.raises(InputError, match="/usr"):
        provided()
    assert spack.calls() == []


@pytest.mark.parametrize("root", [None, "elsewhere"])
def test_without_spack_one_line_says_where_it_was_looked_for_and_cmake_builds(
    unpacked, monkeypatch, capsys, root
):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if root is None:
        monkeypatch.delenv("SPACK_ROOT", raising=False)
    else:
        monkeypatch.setenv("SPACK_ROOT", str(unpacked.root / root))
    unpacked.declare()
    (document,) = provision.provide_all([NAME], provider="spack")
    said = [line for line in capsys.readouterr().out.splitlines() if "Spack" in line]
    looked = f"{unpacked.root / 'elsewhere'}/bin (SPACK_ROOT)" if root else "SPACK_ROOT is not set"
    assert len(said) == 1
    assert looked in said[0] and "PATH" in said[0] and "CMake builds the kernels" in said[0]
    assert (document["status"], document["provider"]) == ("ready", "wheel")
    assert document["kernels_prefix"] is document["spack"] is None


def test_an_environment_spack_was_not_asked_for_says_how(unpacked):
    unpacked.declare()
    reason = provision.read(NAME, "spack")["reason"]
    assert reason == f"not provided yet: `onesided environments --provider spack {NAME}` does it"


def test_the_variable_asks_as_the_option_does_and_no_other_provider_is_known(monkeypatch):
    monkeypatch.setenv("ONESIDED_PROVIDER", "spack")
    assert provision.asked_provider() == "spack"
    monkeypatch.setenv("ONESIDED_PROVIDER", "")
    assert provision.asked_provider() is None
    monkeypatch.setenv("ONESIDED_PROVIDER", "conda")
    with pytest.raises(InputError, match="conda"):
        provision.asked_provider()

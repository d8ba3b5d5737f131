"""An image from the declared versions: built, tested and run by an ordinary user."""

from __future__ import annotations

import json
import os

import pytest
import yaml

pytestmark = pytest.mark.timeout(3600)  # builds images

LARGEST_BYTES = 400e6
BEGUN_S = 20
#: The thread levels that the kernel `progress` has by default.
OPERATIONS = {"get", "put", "accumulate", "fetch_and_op"}
#: In a checkout with changes, the labels say so.
SAY_THE_COMMIT = {
    "/opt/onesided/COMMIT",
    "/opt/onesided/image.json",
    "/.singularity.d/Singularity",
}


@pytest.fixture(scope="module")
def mpich(images):
    return images("mpich")


def declared_version(person, name):
    document = yaml.safe_load((person.checkout / "config" / "environments.yaml").read_text())
    return document["environments"][name]["version"]


def test_an_image_says_what_it_was_built_from(person, mpich):
    inspected = json.loads(person.do("apptainer", "inspect", "--json", mpich))
    labels = inspected["data"]["attributes"]["labels"]
    # the labels describe the checkout
    head = person.do("git", "-C", person.checkout, "rev-parse", "HEAD").strip()
    assert labels["org.onesided.commit"].removesuffix("+changes") == head
    lock = person.do("sha256sum", person.checkout / "requirements.lock").split()[0]
    assert labels["org.onesided.lock"] == lock
    assert labels["org.onesided.mpi"] == "mpich"
    assert labels["org.onesided.mpi.version"] == declared_version(person, "mpich-5.0.2")


def test_the_test_of_an_image_runs_two_ranks_and_verifies_what_they_counted(person, mpich):
    said = person.do("apptainer", "test", mpich)
    assert "mpich-5.0.2: 2 ranks in a world" in said
    assert "cells verified" in said


def test_an_image_is_small_enough_to_be_handed_on(mpich):
    assert mpich.stat().st_size < LARGEST_BYTES


def test_an_image_holds_nothing_of_the_machine_it_was_built_on(person, mpich):
    found = person.do(
        "apptainer", "--silent", "exec", "--contain", mpich,
        "sh", "-c", "ls /opt; ls -d /opt/onesided/build/environments/*; cat /etc/pip.conf || true",
    )  # fmt: skip
    assert found.split() == ["onesided", "/opt/onesided/build/environments/mpich-5.0.2"]


def test_the_app_of_a_kernel_is_the_bare_kernel_and_takes_its_options(person, mpich):
    lines = person.do("apptainer", "run", "--app", "progress", mpich, cwd=person.folder)
    header, *others = map(json.loads, lines.splitlines())
    assert header["kernel"] == "progress"
    assert header["mpi"]["library_version"].startswith("MPICH Version:")
    assert header["ranks"] == 2
    results = [line for line in others if line["type"] == "result"]
    assert {line["labels"]["operation"] for line in results} == OPERATIONS
    assert all(line["status"] == "ok" for line in results)
    assert others[-1]["type"] == "finished"
    usage = person.do("apptainer", "run", "--app", "shared_counter", mpich, "--help")
    assert "--tasks" in usage
    refused = person.call("apptainer", "run", "--app", "progress", mpich, "--no-such-option")
    assert refused.returncode != 0


def test_a_kernel_that_the_image_has_no_mpi_for_is_refused_in_one_line(person, mpich):
    answer = person.call(
        "apptainer", "--silent", "run", "--app", "progress", mpich, ONESIDED_ENVIRONMENT="another"
    )
    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        "onesided: ONESIDED_ENVIRONMENT: found 'another'; expected one of mpich-5.0.2"
    )


def test_run_begins_the_campaign_quick_here_unless_another_is_named(person, mpich):
    folder = person.new_folder("quick")
    begun = ["timeout", "--signal=INT", BEGUN_S, "apptainer", "run", mpich]
    person.call(*begun, cwd=folder)
    assert [path.name for path in folder.iterdir()] == ["results"]
    assert [path.name for path in (folder / "results").glob("*/sessions")] == ["sessions"]
    assert (folder / "results" / "quick" / "sessions").is_dir()


def test_run_leaves_the_report_of_a_campaign_here_with_no_network(person, mpich):
    folder = person.new_folder("laptop")
    is_root = os.geteuid() == 0  # the only user who can take the network away
    named = {"ONESIDED_CAMPAIGN": "smoke"}
    person.do("apptainer", "run", mpich, cwd=folder, without_network=is_root, **named)
    assert [path.name for path in folder.iterdir()] == ["results"]
    page = (folder / "results" / "smoke" / "report" / "index.html").read_text()
    assert "mpich-5.0.2" in page
    summary = person.do(
        "apptainer", "--silent", "exec", mpich, "python", "-c",
        "import polars; t = polars.read_parquet('results/smoke/cells.parquet');"
        "print(sorted(set(t['launch_model'])), sorted(set(t['environment'])), set(t['status']))",
        cwd=folder,
    )  # fmt: skip
    assert summary.strip() == "['contained'] ['mpich-5.0.2'] {'ok'}"


def test_a_file_that_changes_leaves_the_base_and_all_other_files_as_they_are(person, mpich):
    """Files built again from the same sources are the same, byte by byte: the kernels, too."""
    first = mpich.parent / "first.sif"
    changed = "config/upstream_defects.yaml"
    shared = [mpich.parent / name for name in ("base.sif", "toolchain.sif")]
    before = [path.stat().st_mtime_ns for path in shared]
    person.do("cp", mpich, first)
    text = (person.checkout / changed).read_text()
    try:
        (person.checkout / changed).write_text(text + "# changed\n")
        person.do("onesided", "container", "build", "mpich", "--bootstrap", "debootstrap")
    finally:
        (person.checkout / changed).write_text(text)
    assert [path.stat().st_mtime_ns for path in shared] == before
    answer = person.call("onesided", "container", "compare", first, mpich)
    assert answer.returncode == 1
    *differ, count = answer.stdout.splitlines()
    paths = {line.partition(":")[0] for line in differ}
    assert f"/opt/onesided/{changed}" in paths
    assert paths - {f"/opt/onesided/{changed}"} <= SAY_THE_COMMIT
    assert int(count.split()[2]) > 1000
    same = person.do("onesided", "container", "compare", first, first)
    assert same.strip().endswith("paths, all the same")


def test_what_is_no_image_is_refused_in_one_line(person, mpich):
    answer = person.call("onesided", "container", "compare", mpich, "none.sif")
    assert (answer.returncode, answer.stderr.strip()) == (
        2, "onesided: none.sif: found no such file; expected an image",
    )  # fmt: skip

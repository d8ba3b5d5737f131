"""Providing environments: what becomes ready, what is unavailable and why, what survives.

The MPI here is a few lines of shell in a real wheel, which the real pip installs without a network.
"""

import argparse
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from fake_mpi import CHECKOUT, COMPILES, LAUNCHES, NAME

from onesided import sites
from onesided.campaign import campaign
from onesided.cli import machine
from onesided.environments import provision
from onesided.system import documents, paths, strays
from onesided.system.errors import InputError, OnesidedError, StoppedError


def commands_left():
    """Return the processes of this test, without those of another run on this machine."""
    return strays.marked_processes("ONESIDED_BUILD", os.environ["ONESIDED_BUILD"])


def states_of(name=NAME, **options):
    """Provide; return the document and the states of the environment."""
    states = []
    return provision.provide(name, say=states.append, **options), states


def test_a_locked_wheel_becomes_a_described_environment(fake):
    fake.declare()
    document, states = states_of()
    prefix = fake.root / "build/environments/fake-1.0/prefix"
    assert states == ["installing", "probing"]
    assert (document["status"], document["reason"]) == ("ready", None)
    assert document["prefix"] == str(prefix)
    assert document["compilers"] == {"c": f"{prefix}/bin/mpicc"}
    assert document["launcher"]["path"] == f"{prefix}/bin/mpiexec"
    assert document["launcher"]["placement"]["core"] == ["-bind-to", "core"]
    assert document["library_version"] == "MPICH Version: 1.0 MPICH Release date: never"
    assert document["features"] == ["thread_multiple"]
    assert provision.read(NAME) == document
    assert documents.read_json(paths.environment_file(NAME), "environment") == document


def test_a_ready_environment_is_left_as_it_is(unpacked):
    unpacked.declare()
    first = provision.provide(NAME)
    written = paths.environment_file(NAME).stat().st_mtime_ns
    assert states_of() == (first, [])
    assert paths.environment_file(NAME).stat().st_mtime_ns == written


def test_a_changed_declaration_is_probed_again_but_not_installed_again(unpacked):
    unpacked.declare()
    first = provision.provide(NAME)
    unpacked.document["families"]["mpich"]["left_behind"] = ["other_*"]
    unpacked.write()
    second, states = states_of()
    assert states == ["probing"]
    assert second["left_behind"] == ["other_*"]
    assert second["declaration_digest"] != first["declaration_digest"]


def test_a_moved_checkout_is_installed_again(unpacked, monkeypatch):
    unpacked.declare()
    provision.provide(NAME)
    (unpacked.root / "build").rename(unpacked.root / "elsewhere")
    monkeypatch.setenv("ONESIDED_BUILD", str(unpacked.root / "elsewhere"))
    document, states = states_of()
    assert states == ["installing", "probing"]
    assert document["prefix"].startswith(str(unpacked.root / "elsewhere"))


def test_a_half_made_prefix_is_wiped_and_made_again(fake):
    fake.declare()
    prefix = fake.root / "build/environments/fake-1.0/prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/mpicc").write_text("half a")
    (prefix / "rest").write_text("of a killed try")
    assert provision.provide(NAME)["status"] == "ready"
    assert not (prefix / "rest").exists()


@pytest.mark.parametrize("damage", ["", "{", '{"schema": "onesided/environment/2"}'])
def test_a_damaged_description_is_made_again(unpacked, damage):
    unpacked.declare()
    first = provision.provide(NAME)
    paths.environment_file(NAME).write_text(damage)
    # until then, and in the list of all declared environments, it is unavailable
    found = provision.read(NAME)
    assert found["status"] == "unavailable"
    assert str(paths.environment_file(NAME)) in found["reason"]
    assert "`onesided environments" in found["reason"]
    assert states_of() == (first, ["probing"])


def test_a_wheel_that_is_not_the_locked_one_is_refused(fake):
    fake.declare()
    fake.build("fakempi", COMPILES, LAUNCHES, "tampered with")
    document = provision.provide(NAME)
    assert document["status"] == "unavailable"
    assert "hash mismatch" in document["reason"]
    assert document["prefix"] is None
    assert not (fake.root / "build/environments/fake-1.0/prefix").exists()
    assert provision.read(NAME) == document


def test_a_wheel_that_cannot_be_had_is_a_reason(fake):
    fake.declare()
    next(fake.wheels.iterdir()).unlink()
    document = provision.provide(NAME)
    assert document["status"] == "unavailable"
    assert "fakempi==1.0" in document["reason"]


def test_a_full_disk_is_a_reason(fake, monkeypatch):
    fake.declare()
    next(fake.wheels.iterdir()).unlink()
    full = shutil.disk_usage("/")._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: full)
    assert "pip failed: no space left in " in provision.provide(NAME)["reason"]


def test_an_unavailable_environment_is_tried_again(fake):
    fake.declare()
    [wheel] = fake.wheels.iterdir()
    content = wheel.read_bytes()
    wheel.unlink()
    provision.provide(NAME)
    wheel.write_bytes(content)
    assert provision.provide(NAME)["status"] == "ready"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"compiler": "#!/bin/sh\nexec cc-is-not-here probe.c\n"}, "cc-is-not-here"),
        ({"compiler": "#!/bin/sh\nexit 4\n"}, "mpicc exited 4: it wrote nothing"),
        ({"compiler": "#!/not/there\n"}, "mpicc cannot be started"),
        ({"launcher": "#!/bin/sh\necho no slots >&2\nexit 1\n"}, "mpiexec exited 1: no slots"),
        (
            {"launcher": "#!/bin/sh\necho ----\necho [host:1] Hello\necho Fatal: no\nexit 1\n"},
            "mpiexec exited 1: Fatal: no",
        ),
        ({"launcher": "#!/bin/sh\nkill -9 $$\n"}, "mpiexec got signal 9"),
        ({"launcher": "#!/bin/sh\nexit 0\n"}, "mpiexec exited 0, but its ranks wrote nothing"),
        ({"library_version": "MPICH Version: 1.1"}, "another version ran"),
        ({"library_path": "/usr/lib/libmpi.so.12"}, "another MPI ran: /usr/lib/libmpi.so.12"),
        ({"ranks": 1}, "worlds of 1"),
        ({"errors": 7}, "a put lost 7 elements"),
    ],
)
def test_an_mpi_that_does_not_work_is_unavailable_with_the_reason(unpacked, broken, reason):
    unpacked.declare(**broken)
    document = provision.provide(NAME)
    assert document["status"] == "unavailable"
    assert reason in document["reason"]
    assert "\n" not in document["reason"]


def test_a_machine_with_no_compiler_is_a_reason(unpacked, monkeypatch):
    unpacked.declare(compiler='#!/bin/sh\nexec cc "$@"\n')
    folder = unpacked.root / "tools"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    assert "cc: not found" in provision.provide(NAME)["reason"]


def test_a_launcher_that_hangs_is_ended_in_time_with_its_ranks(unpacked):
    # the rank leaves its launcher's process group, as ranks of real launchers do
    unpacked.declare(launcher="#!/bin/sh\nsetsid sleep 4711 &\nsleep 4711\n")
    begin = time.monotonic()
    document = provision.provide(NAME, probe_timeout_s=0.5)
    assert time.monotonic() - begin < 5
    assert document["reason"] == "mpiexec did not end within 0.5 s"
    assert commands_left() == []


def test_one_that_fails_stops_no_other(unpacked):
    unpacked.declare("broken", "brokenmpi", launcher="#!/bin/sh\nexit 1\n")
    unpacked.declare()
    found = provision.provide_all()
    assert [one["status"] for one in found] == ["unavailable", "ready"]


def test_one_that_is_declared_but_not_locked_stops_no_other(unpacked, onesided, campaign_file):
    unpacked.declare()
    unpacked.document["environments"]["new-2.0"] = {
        **unpacked.document["environments"][NAME], "version": "2.0",
    }  # fmt: skip
    unpacked.write()
    ready, missing = provision.provide_all([NAME, "new-2.0"])
    assert (ready["status"], missing["status"]) == ("ready", "unavailable")
    assert missing["reason"] == (
        f"{unpacked.config}/wheels.lock: fakempi==2.0: found no hash; expected its hashes, "
        "which `onesided environments lock new-2.0` adds"
    )
    assert provision.read("new-2.0") == missing
    # by its name alone: one line and no success
    answer = onesided("environments", "new-2.0", check=False)
    assert answer.returncode == 1
    assert [missing["reason"] in line for line in answer.stderr.splitlines()] == [True]
    # other readers of all declared environments are not stopped, either
    shutil.copy(CHECKOUT / "config/settings.yaml", unpacked.config)
    (unpacked.root / "reframe_checks").symlink_to(CHECKOUT / "reframe_checks")
    found = campaign.load(str(campaign_file(environments=[NAME, "new-2.0"])))
    assert found.environments == [NAME, "new-2.0"]
    [system] = sites.configuration("here", "a test", [{"name": "node", "scheduler": "local"}])[
        "systems"
    ]
    assert system["partitions"][0]["environs"] == ["fake-1_0", "new-2_0"]


STACK = """#!/bin/sh
echo 'Error in system call pthread_mutex_destroy: Device or resource busy'
echo 'Abort(1091215) on node 0: Fatal error in PMPI_Init_thread: Other MPI error, error stack:'
echo 'MPIR_Init_thread(138)........: '
echo 'MPIDI_OFI_mpi_init_hook(1167): OFI addrinfo() failed (ofi_init.c:1167:No data available)'
exit 143
"""


def test_a_library_that_cannot_start_gives_the_reason_in_its_own_words(unpacked):
    unpacked.declare(launcher=STACK)
    assert provision.provide(NAME)["reason"] == (
        "mpiexec exited 143: OFI addrinfo() failed (ofi_init.c:1167:No data available)"
    )


@pytest.mark.parametrize(("keep_going", "exit_code"), [(False, 1), (True, 0)])
def test_the_command_fails_with_an_unavailable_one_unless_told_otherwise(
    unpacked, keep_going, exit_code
):
    unpacked.declare(launcher="#!/bin/sh\nexit 1\n")
    assert (
        machine.environments(argparse.Namespace(names=[], provider=None, keep_going=keep_going))
        == exit_code
    )


def test_an_unknown_name_starts_nothing(unpacked):
    unpacked.declare()
    with pytest.raises(InputError, match=r"no other; expected one of fake-1\.0"):
        machine.environments(
            argparse.Namespace(names=[NAME, "other"], provider=None, keep_going=True)
        )
    assert not paths.environments_dir().exists()


def test_an_interruption_says_nothing_of_the_environment(unpacked):
    unpacked.declare(launcher="#!/bin/sh\nsleep 4711\n")
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(StoppedError):
        provision.provide(NAME, stop=stop)
    assert not paths.environment_file(NAME).exists()
    assert commands_left() == []


def test_a_folder_that_cannot_be_written_is_one_clear_line(unpacked):
    unpacked.declare()
    (unpacked.root / "build").write_text("in the way")
    with pytest.raises(OnesidedError, match=r"build/environments/fake-1\.0: cannot be written"):
        provision.provide(NAME)


def start_providing():
    program = "from onesided.environments import provision; provision.provide_all()"
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)


def test_of_two_runs_at_once_one_installs_and_both_succeed(fake):
    fake.declare()
    runs = [start_providing() for _ in range(2)]
    said = [run.communicate(timeout=60)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert sorted(text.count("installing") for text in said) == [0, 1]
    assert all("fake-1.0: ready" in text for text in said)


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_installer_that_outlives_a_kill_keeps_the_lock(fake, monkeypatch):
    # the next run removes the prefix, but not while an orphan still writes into it
    fake.declare()
    folder = fake.root / "build/environments/fake-1.0"
    # an index that accepts connections and never answers
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        server.settimeout(60)
        run = start_providing()
        connection, _ = server.accept()
        kill_and_see_the_lock(run, folder)
        connection.close()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(fake.wheels))
    assert provision.provide(NAME)["status"] == "ready"


def kill_and_see_the_lock(run, folder):
    run.kill()
    run.wait()
    with (folder / "lock").open("a") as stream, pytest.raises(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for process in commands_left():
        os.kill(process, signal.SIGKILL)


def test_a_run_killed_while_installing_is_taken_up_by_the_next(fake):
    fake.declare()
    run = start_providing()
    wait_until((fake.root / "build/environments/fake-1.0/requirements.txt").exists)
    run.kill()
    run.wait()
    assert not paths.environment_file(NAME).exists()
    assert provision.provide(NAME)["status"] == "ready"


def test_hashes_that_are_there_are_not_asked_for_again(fake, capsys):
    fake.declare()
    before = (fake.config / "wheels.lock").read_text()
    assert machine.environments(argparse.Namespace(names=["lock", NAME], keep_going=False)) == 0
    assert "fake-1.0 was there" in capsys.readouterr().out
    assert (fake.config / "wheels.lock").read_text() == before


def test_a_new_version_is_locked_with_one_command(fake):
    fake.declare()
    whole = (fake.config / "wheels.lock").read_text()
    (fake.config / "wheels.lock").write_text("# nothing yet\n")
    assert "`onesided environments lock fake-1.0` adds" in provision.provide(NAME)["reason"]
    machine.environments(argparse.Namespace(names=["lock", NAME], keep_going=False))
    text = (fake.config / "wheels.lock").read_text()
    assert text.startswith("# nothing yet\n")
    assert whole.split()[1] in text
    assert provision.provide(NAME)["status"] == "ready"


def test_a_version_the_index_does_not_have_names_those_it_has(fake):
    fake.declare()
    fake.document["environments"][NAME]["version"] = "2.0"
    fake.write()
    with pytest.raises(InputError, match=r"fakempi==2\.0; expected a version the index has: 1\.0"):
        machine.environments(argparse.Namespace(names=["lock", NAME], keep_going=False))


CONTAINER = {
    "environment": NAME,
    "image": "/images/mpich.sif",
    "image_name": "mpich",
    "runtime": "apptainer version 1.4.5",
    "image_sha256": "0" * 64,
    "namespaces": "shared",
    "variables": {"I_MPI_ROOT": "/opt/onesided"},
    "binds": ["/host/prefix:/opt/onesided/mpi"],
    "commit": None,
}


@pytest.mark.parametrize(
    ("launch_model", "container", "fits"),
    [
        ("native", None, True),
        ("native", CONTAINER, False),
        ("hybrid", CONTAINER, True),
        ("hybrid", None, False),
        ("elsewhere", CONTAINER, False),
    ],
)
def test_an_environment_has_an_image_unless_it_is_native(unpacked, launch_model, container, fits):
    unpacked.declare()
    document = provision.provide(NAME)
    assert (document["launch_model"], document["container"]) == ("native", None)
    changed = {**document, "launch_model": launch_model, "container": container}
    if fits:
        documents.check(changed, "environment", "here")
    else:
        with pytest.raises(InputError, match=r"here: (launch_model|container)"):
            documents.check(changed, "environment", "here")

"""The report of a transport: asked once, kept whole, and never part of the launch that counts."""

import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "reframe_checks" / "transport_report.sh"

# A launcher in shell: counts its calls, reports the flavor, writes the kernel's line.
LAUNCHER = """#!/bin/sh
echo called >>"$COUNT"
while [ "$1" != --flavor ]; do shift; done
echo "library: window of $2"
echo '{"type":"result","flavor":"'"$2"'"}' >"$4"
exit ${STATUS:-0}
"""


@pytest.fixture
def ask(tmp_path):
    count = tmp_path / "count"

    def call(
        program=LAUNCHER,
        flavors="create allocate",
        timeout_s="20",
        order="in_turn",
        wait=True,
        **variables,
    ):
        path = tmp_path / "program"
        path.write_text(program)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        process = subprocess.Popen(
            [
                "sh",
                SCRIPT,
                tmp_path / "cache",
                timeout_s,
                order,
                flavors,
                path,
                "kernel",
                "--some",
                "option",
            ],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "COUNT": str(count),
                "ONESIDED_SESSION": str(tmp_path),
                **variables,
            },
            start_new_session=True,
        )
        if wait:
            assert process.wait(timeout=60) == 0
        return process

    call.calls = lambda: len(count.read_text().splitlines()) if count.exists() else 0
    return call


def test_each_flavor_gets_the_librarys_words_then_the_kernels_lines_then_the_status(ask, tmp_path):
    ask()
    for flavor in ("create", "allocate"):
        lines = (tmp_path / f"transport-{flavor}.txt").read_text().splitlines()
        assert lines[0] == f"library: window of {flavor}"
        assert lines[-2:] == [f'{{"type":"result","flavor":"{flavor}"}}', "exit status 0"]
    assert not (tmp_path / "transport_failures").exists()


def test_a_report_is_asked_for_once_and_only_for_the_flavors_that_lack_one(ask, tmp_path):
    ask(flavors="create")
    ask(flavors="create allocate")
    ask(flavors="create allocate")
    assert ask.calls() == 2
    assert (tmp_path / "transport-allocate.txt").exists()


def test_a_launch_that_fails_is_told_to_the_session_and_kept(ask, tmp_path):
    ask(flavors="create", STATUS="3")
    ask(flavors="create", STATUS="3")
    assert ask.calls() == 1
    assert (tmp_path / "transport-create.txt").read_text().endswith("exit status 3\n")
    failures = (tmp_path / "transport_failures").read_text().splitlines()
    assert failures == [f"{tmp_path}/cache/create"]


def test_a_launch_that_hangs_is_ended_with_its_strays_and_leaves_what_it_said(ask, tmp_path):
    program = "#!/bin/sh\necho library: so far\nsetsid sleep 60 &\necho $! >stray\nsleep 60\n"
    begin = time.monotonic()
    ask(program, flavors="create", timeout_s="1")
    assert time.monotonic() - begin < 20
    text = (tmp_path / "transport-create.txt").read_text()
    assert text.startswith("library: so far\n")
    assert "exit status 124" in text
    stray = Path("/proc", (tmp_path / "stray").read_text().strip(), "stat")
    assert not stray.exists() or stray.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_launch_that_somebody_killed_is_not_kept_for_others(ask, tmp_path):
    ask("#!/bin/sh\necho half\nkill -KILL $$\n", flavors="create")
    assert "half" in (tmp_path / "transport-create.txt").read_text()
    ask(flavors="create")
    assert ask.calls() == 1
    assert "half" not in (tmp_path / "transport-create.txt").read_text()


def test_a_script_that_was_killed_leaves_no_report_and_the_next_one_asks_again(ask, tmp_path):
    program = "#!/bin/sh\necho half\n: >begun\nsleep 60\n"
    process = ask(program, flavors="create", wait=False)
    deadline = time.monotonic() + 20
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    # the launcher is in the process group that `timeout` made
    session = ["ps", "-o", "pgid=", "--sid", str(process.pid)]
    groups = subprocess.run(session, capture_output=True, text=True, check=True).stdout.split()
    assert len(set(groups)) == 2
    for group in set(groups):
        os.killpg(int(group), signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "cache" / "create.txt").exists()
    ask(flavors="create")
    assert "half" not in (tmp_path / "transport-create.txt").read_text()
    assert "exit status 0" in (tmp_path / "transport-create.txt").read_text()


@pytest.mark.parametrize(("order", "status"), [("side_by_side", 0), ("in_turn", 7)])
def test_launches_are_side_by_side_only_if_asked_for(ask, tmp_path, order, status):
    meets = 'echo called >>"$COUNT"\nsleep 1\n[ "$(wc -l <"$COUNT")" -eq 2 ] || exit 7\n'
    ask(f"#!/bin/sh\n{meets}", order=order)
    assert ask.calls() == 2
    assert (tmp_path / "transport-create.txt").read_text().endswith(f"exit status {status}\n")


def test_two_at_once_ask_once(ask, tmp_path):
    slow = LAUNCHER.replace("exit", "sleep 1; exit")
    first = ask(slow, flavors="create", wait=False)
    second = ask(slow, flavors="create", wait=False)
    assert (first.wait(timeout=60), second.wait(timeout=60)) == (0, 0)
    assert ask.calls() == 1


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(ask, tmp_path):
    (tmp_path / "cache").write_text("a file")
    ask()
    assert ask.calls() == 0

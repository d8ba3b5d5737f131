"""The launch script: what a dead launcher left undone is run again, and every launcher recorded."""

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "reframe_checks" / "launch.sh"

# A kernel in shell: takes the first of three cells that is neither over nor begun, and dies in
# the one it is told to die in.
KERNEL = """#!/bin/sh
echo '{"type":"header"}' >>lines
for cell in 1 2 3; do
    if grep -q "started.*c=$cell" lines; then continue; fi
    echo "{\\"type\\":\\"started\\",\\"cell\\":\\"c=$cell\\"}" >>lines
    if [ "$cell" = "$1" ]; then exit 7; fi
    echo "{\\"type\\":\\"result\\",\\"cell\\":\\"c=$cell\\"}" >>lines
done
echo '{"type":"finished"}' >>lines
"""


@pytest.fixture
def launch(tmp_path):
    def call(program, *arguments, timeout_s="30", session=True):
        path = tmp_path / "program"
        path.write_text(program)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        environment = {"PATH": os.environ["PATH"]}
        if session:
            environment["ONESIDED_SESSION"] = str(tmp_path)
        answer = subprocess.run(
            ["sh", SCRIPT, "lines", "record", timeout_s, path, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert answer.returncode == 0, answer.stderr
        record = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
        return [entry for entry in record if entry["type"] == "launch_ended"]

    return call


def lines_of(tmp_path):
    return [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]


def test_a_launch_that_ends_well_is_one_launch(launch):
    (ended,) = launch(KERNEL, "none")
    assert ended["exit_status"] == 0
    assert ended["finished"] is True
    assert ended["timed_out"] is False


def test_cells_that_a_dead_launcher_never_reached_are_run_without_the_one_that_killed_it(
    launch, tmp_path
):
    first, second = launch(KERNEL, "2")
    assert (first["exit_status"], first["finished"]) == (7, False)
    assert (second["exit_status"], second["finished"]) == (0, True)
    over = [line["cell"] for line in lines_of(tmp_path) if line["type"] == "result"]
    assert over == ["c=1", "c=3"]


def test_a_launcher_that_reaches_no_cell_is_not_started_again(launch):
    (ended,) = launch("#!/bin/sh\nexit 1\n")
    assert ended["exit_status"] == 1
    assert ended["finished"] is False


def test_a_launcher_that_hangs_is_ended_with_everything_it_started(launch, tmp_path):
    program = "#!/bin/sh\nsetsid sleep 317 >/dev/null 2>&1 &\necho $! >orphan\nexec sleep 317\n"
    (ended,) = launch(program, timeout_s="1")
    assert ended["timed_out"] is True
    orphan = int((tmp_path / "orphan").read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{orphan}/exe").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_time_outs_in_a_row_are_counted_for_the_session_and_a_good_launch_ends_the_row(
    launch, tmp_path
):
    hang = "#!/bin/sh\nexec sleep 317\n"
    launch(hang, timeout_s="1")
    launch(hang, timeout_s="1")
    assert len((tmp_path / "timeouts").read_text().splitlines()) == 2
    launch(KERNEL, "none")
    assert (tmp_path / "timeouts").read_text() == ""


def test_outside_a_session_nothing_is_counted(launch, tmp_path):
    launch(KERNEL, "none", session=False)
    assert not (tmp_path / "timeouts").exists()


def test_too_few_arguments_are_a_usage_error():
    answer = subprocess.run(["sh", SCRIPT, "lines"], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "expected LINES RECORD TIMEOUT_S LAUNCHER" in answer.stderr


# A kernel in shell whose every launcher takes its time and dies in the first cell it begins.
HANGS = """#!/bin/sh
echo '{"type":"header"}' >>lines
echo "{\\"type\\":\\"started\\",\\"cell\\":\\"c=$(wc -l <lines)\\"}" >>lines
sleep 7
exit 5
"""


def test_a_program_that_hangs_whatever_the_cell_is_given_up(launch):
    ended = launch(HANGS)
    assert [entry["given_up"] for entry in ended] == [False, False, True]
    assert all(entry["exit_status"] == 5 for entry in ended)


def test_a_program_that_dies_quickly_in_many_cells_is_not_given_up(launch):
    ended = launch(HANGS.replace("sleep 7", ":"))
    assert len(ended) == 64
    assert not any(entry["given_up"] for entry in ended)

"""The launch script: it runs again what a dead launcher left undone, and records every launcher."""

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "reframe_checks" / "launch.sh"

# A kernel in shell: takes the first of three cells that is neither over nor begun, and dies in a
# given cell.
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
    def call(program, *arguments, timeout_s="30", session=True, setting="default"):
        path = tmp_path / "program"
        path.write_text(program)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        environment = {"PATH": os.environ["PATH"]}
        if session:
            environment["ONESIDED_SESSION"] = str(tmp_path)
            environment["ONESIDED_TIMEOUTS"] = str(tmp_path / f"timeouts-{setting}")
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


# The same, with a header that lists its cells; it dies after the last cell, as in MPI_Finalize.
DIES_AFTER = KERNEL.replace(
    '{"type":"header"}', '{"type":"header","cells":["c=1,d=a","c=2,d=a","c=3,d=a"],"mpi":{}}'
).replace('echo \'{"type":"finished"}\' >>lines', "exit 139")


def test_a_launcher_that_died_after_its_last_cell_is_not_started_again(launch, tmp_path):
    (ended,) = launch(DIES_AFTER, "none")
    assert (ended["exit_status"], ended["finished"], ended["cells_begun"]) == (139, False, 3)
    assert len(lines_of(tmp_path)) == 7


def test_a_launcher_that_died_in_a_cell_is_started_again_whatever_its_end_will_be(launch, tmp_path):
    ended = launch(DIES_AFTER, "2")
    # one of three cells has no result: the third launcher finds no cell left to begin
    assert [(one["exit_status"], one["cells_begun"]) for one in ended] == [
        (7, 2),
        (139, 1),
        (139, 0),
    ]
    over = [line["cell"] for line in lines_of(tmp_path) if line["type"] == "result"]
    assert over == ["c=1", "c=3"]


def test_a_launcher_that_ends_in_silence_before_its_first_cell_is_started_once_more(launch):
    first, second = launch("#!/bin/sh\nexit 1\n")
    assert (first["exit_status"], second["exit_status"]) == (1, 1)
    assert (first["finished"], second["finished"]) == (False, False)


# Kills itself the first time, like a kill from outside; the second time it runs all cells.
KILLED_ONCE = KERNEL.replace("#!/bin/sh\n", "#!/bin/sh\nmkdir tried 2>/dev/null && kill -KILL $$\n")


def test_a_rank_that_is_killed_at_its_start_costs_no_cell(launch, tmp_path):
    first, second = launch(KILLED_ONCE, "none")
    assert (first["exit_status"], first["cells_begun"], first["finished"]) == (137, 0, False)
    assert (second["exit_status"], second["cells_begun"], second["finished"]) == (0, 3, True)
    over = [line["cell"] for line in lines_of(tmp_path) if line["type"] == "result"]
    assert over == ["c=1", "c=2", "c=3"]


def test_a_start_that_hangs_is_tried_once_more(launch):
    hangs_once = KERNEL.replace("#!/bin/sh\n", "#!/bin/sh\nmkdir tried 2>/dev/null && sleep 317\n")
    first, second = launch(hangs_once, "none", timeout_s="1")
    assert (first["timed_out"], second["finished"]) == (True, True)


@pytest.mark.parametrize(
    "word",
    ['echo \'{"type":"header"}\' >>lines', "echo x >>lines.crash-1", "echo x >>lines.hang-0"],
)
def test_a_launcher_whose_ranks_say_why_it_ended_is_not_started_again(launch, word):
    (ended,) = launch(f"#!/bin/sh\n{word}\nexit 1\n")
    assert ended["cells_begun"] == 0


def test_what_kills_a_start_between_two_cells_is_tried_once_more_and_no_third_time(
    launch, tmp_path
):
    # the launcher after the one that dies in c=2 is killed at its start, and the one after that
    program = KERNEL.replace("#!/bin/sh\n", "#!/bin/sh\n[ ! -e lines ] || kill -KILL $$\n")
    ended = launch(program, "2")
    assert [entry["cells_begun"] for entry in ended] == [2, 0, 0]
    assert [entry["exit_status"] for entry in ended] == [7, 137, 137]


def is_gone(process):
    return not Path(f"/proc/{process}/exe").exists()


def test_a_launcher_that_hangs_is_ended_with_everything_it_started(launch, tmp_path):
    program = "#!/bin/sh\nsetsid sleep 317 >/dev/null 2>&1 &\necho $! >>orphans\nexec sleep 317\n"
    ended = launch(program, timeout_s="1")
    assert [entry["timed_out"] for entry in ended] == [True, True]
    orphans = (tmp_path / "orphans").read_text().split()
    deadline = time.monotonic() + 10
    while not all(map(is_gone, orphans)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


HANG = "#!/bin/sh\nexec sleep 317\n"


def test_time_outs_in_a_row_are_counted_by_setting_and_a_good_launch_ends_its_row(launch, tmp_path):
    launch(HANG, timeout_s="1", setting="one")
    assert len((tmp_path / "timeouts-one").read_text().splitlines()) == 2
    launch(KERNEL, "none", setting="two")
    assert (tmp_path / "timeouts-two").read_text() == ""
    assert len((tmp_path / "timeouts-one").read_text().splitlines()) == 2
    (tmp_path / "lines").unlink()
    launch(KERNEL, "none", setting="one")
    assert (tmp_path / "timeouts-one").read_text() == ""


def test_a_row_of_time_outs_in_one_setting_takes_no_launcher_from_another(launch):
    launch(HANG, timeout_s="1", setting="one")
    # its first cell hangs; later cells run, because this setting has timed out once
    program = KERNEL.replace("exit 7", "sleep 317")
    first, second = launch(program, "1", timeout_s="1", setting="two")[-2:]
    assert (first["timed_out"], second["finished"]) == (True, True)


def test_outside_a_session_nothing_is_counted(launch, tmp_path):
    launch(KERNEL, "none", session=False)
    assert not list(tmp_path.glob("timeouts*"))


def test_too_few_arguments_are_a_usage_error():
    answer = subprocess.run(["sh", SCRIPT, "lines"], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "expected LINES RECORD TIMEOUT_S LAUNCHER" in answer.stderr


# A kernel in shell: every launcher takes some time and dies in the first cell it begins.
HANGS = """#!/bin/sh
echo '{"type":"header"}' >>lines
echo "{\\"type\\":\\"started\\",\\"cell\\":\\"c=$(wc -l <lines)\\"}" >>lines
sleep 7
exit 5
"""


@pytest.mark.slow
def test_a_program_that_hangs_whatever_the_cell_is_given_up(launch):
    ended = launch(HANGS)
    assert [entry["given_up"] for entry in ended] == [False, False, True]
    assert all(entry["exit_status"] == 5 for entry in ended)


def test_a_program_that_dies_quickly_in_many_cells_is_not_given_up(launch):
    ended = launch(HANGS.replace("sleep 7", ":"))
    assert len(ended) == 64
    assert not any(entry["given_up"] for entry in ended)

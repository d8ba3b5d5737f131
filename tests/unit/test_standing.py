"""Odd signals, limits and files from a parent process are repaired, or refused in one line."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, resource, signal, subprocess, sys
from onesided.system import standing
from onesided.system.errors import InputError
standing.mend()
try:
    standing.check_limits()
except InputError as fault:
    sys.exit(f"refused: {fault}")
mask = os.umask(0)
child = subprocess.run(["sh", "-c", "exit 3"]).returncode
sys.stdout.write(f"{mask:04o} {child} {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}")
"""


def run(before):
    return subprocess.run(
        ["bash", "-c", f'{before}\nexec "$0" -c "$1"', sys.executable, SCRIPT],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "before, said",
    [
        ("umask 0777; ulimit -n 1000", "0077 3 1000"),
        ("umask 0022; trap '' CHLD; ulimit -n 1000", "0022 3 1000"),
        ("umask 0022; exec 0<&-; ulimit -n 1000", "0022 3 1000"),
        ("umask 0022; ulimit -H -n 1000; ulimit -S -n 64", "0022 3 256"),
    ],
)
def test_what_every_program_takes_for_granted_is_put_right(before, said):
    answer = run(before)
    assert (answer.returncode, answer.stdout) == (0, said), answer.stderr


@pytest.mark.parametrize(
    "limit, found", [("-n", 64), ("-u", 30), ("-f", 1000), ("-v", 2000000), ("-s", 256), ("-t", 60)]
)
def test_a_limit_that_is_too_low_is_refused_by_its_name(limit, found):
    answer = run(f"ulimit {limit} {found}")
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"refused: ulimit {limit}: found {found}; expected ")

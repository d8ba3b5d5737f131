"""Check and repair what this process inherited from its parent: open files, signals and limits."""

import os
import pwd
import resource
import signal
import sys
from dataclasses import dataclass

from onesided.system.errors import InputError

STANDARD_FILES = (0, 1, 2)


@dataclass(frozen=True)
class Limit:
    """A resource limit that the system sets for a process, as the shell's ``ulimit`` shows it.

    Attributes:
        number: the system's number of the limit.
        command: the command with which a shell shows and sets the limit.
        unit: the size of the shell's unit in the system's units.
        least: the value that a campaign needs at least, in the shell's units.
    """

    number: int
    command: str
    unit: int
    least: int


LIMITS = (
    Limit(resource.RLIMIT_NOFILE, "ulimit -n", 1, 256),
    Limit(resource.RLIMIT_NPROC, "ulimit -u", 1, 256),
    Limit(resource.RLIMIT_FSIZE, "ulimit -f", 1024, 1024**2),
    Limit(resource.RLIMIT_AS, "ulimit -v", 1024, 8 * 1024**2),
    Limit(resource.RLIMIT_DATA, "ulimit -d", 1024, 8 * 1024**2),
    Limit(resource.RLIMIT_STACK, "ulimit -s", 1024, 1024),
    Limit(resource.RLIMIT_CPU, "ulimit -t", 1, 3600),
)
"""The resource limits that a campaign needs. The limits were found by lowering each limit until a
campaign failed."""


def mend() -> None:
    """Repair open files, signals and limits of this process and of its later child processes.

    Afterwards, standard input, output and error are open, the process can read and write its own
    files, and the process gets the signal when a child process ends. Each resource limit is raised
    as far as a campaign needs and the system allows.
    """
    for number in STANDARD_FILES:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives it the lowest free number
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # for a locale without some of our characters
    os.umask(os.umask(0o077) & 0o077)
    os.environ.setdefault("HOME", _home())  # Open MPI does not start without HOME
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for limit in LIMITS:
        _raise(limit)


def _home() -> str:
    """Return the user's home folder, from the system's list of users; ``/`` for unknown users."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:
        return "/"


def _raise(limit: Limit) -> None:
    soft, hard = resource.getrlimit(limit.number)
    wanted = limit.least * limit.unit
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    reached = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(limit.number, (reached, hard))


def check_limits() -> None:
    """Check that the resource limits of this process are as high as a campaign needs.

    Raises:
        InputError: a limit is too low and may not be raised.
    """
    for limit in LIMITS:
        soft, _ = resource.getrlimit(limit.number)
        if soft != resource.RLIM_INFINITY and soft < limit.least * limit.unit:
            found = soft // limit.unit
            raise InputError(limit.command, None, found, f"{limit.least} or more, or unlimited")

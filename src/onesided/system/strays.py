"""Find and remove what a killed campaign left: processes, shared memory, temporary folders.

An environment variable, the marker, identifies a campaign's processes, because all these processes
inherit the variable. A file in shared memory is removed if its name, owner and age fit and no
living process maps it. A process that mounts the image of a killed container has no marker. A
process that mounts an image is found because it holds the image open.
"""

import fnmatch
import os
import shutil
import signal
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: The variable of every process of a campaign. Its value is the folder of results.
CAMPAIGN_MARKER = "ONESIDED_CAMPAIGN"
#: The variable of the same processes whose value is the campaign's lock file. The next holder of
#: this lock ends these processes, but no processes with another lock.
LOCK_MARKER = "ONESIDED_CAMPAIGN_LOCK"
#: The variable that names the lock file, because the default depends on the temporary folder.
LOCK_VARIABLE = "ONESIDED_LOCK"
#: The variable of every process of a session. Its value is the folder of the attempt.
SESSION_MARKER = "ONESIDED_SESSION"
TEMPORARY_PREFIX = "onesided-session-"

SHARED_MEMORY = Path("/dev/shm")
#: The folder in which an MPI writes files even if TMPDIR is another folder.
TEMPORARY = Path("/tmp")
GONE_AFTER_S = 5.0
#: The longest time that `execve` is waited for.
EXECVE_S = 1.0
#: The longest time in which new processes are looked at.
LOOK_S = 1.0
#: Places of fields in /proc/<process>/stat, behind the program's name (proc(5)).
PARENT, END_OF_CODE, BEGIN_OF_ENVIRONMENT, END_OF_ENVIRONMENT = 1, 24, 47, 48
#: Programs that mount an image for a user who is not root.
MOUNTERS = ("squashfuse", "squashfuse_ll", "fuse-overlayfs", "fuse2fs", "gocryptfs")


def _processes() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def _stat(process: int) -> list[str]:
    """Return the fields of /proc/<process>/stat behind the program's name, which may have spaces.

    Raises:
        OSError: the process is gone.
    """
    text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    return text.rpartition(")")[2].split()


def _may_have_environment(process: int) -> bool:
    """Tell whether a process has an environment, or may have one in a moment.

    In the middle of `execve`, a process has a program, but the addresses of its code are still 0.
    Linux sets the addresses of the code after the addresses of the environment.

    Raises:
        OSError: the process is gone, or this user may not inspect the process.
    """
    Path(f"/proc/{process}/exe").readlink()
    fields = _stat(process)
    is_executing = fields[END_OF_CODE] == "0"
    return is_executing or fields[BEGIN_OF_ENVIRONMENT] != fields[END_OF_ENVIRONMENT]


def _environment(process: int) -> bytes:
    """Return another process's environment; empty if there is none that this user may read.

    In the middle of `execve`, the system shows no environment. The function then waits, because a
    launcher that is killed may have just started a rank.
    """
    path = Path(f"/proc/{process}/environ")
    deadline = time.monotonic() + EXECVE_S
    try:
        while not (content := path.read_bytes()) and _may_have_environment(process):
            if time.monotonic() > deadline:
                break
    except OSError:
        return b""
    return content


def _variable(process: int, name: str) -> str | None:
    """Return the value of another process's environment variable; None if it is not set."""
    wanted = f"{name}=".encode()
    for entry in _environment(process).split(b"\0"):
        if entry.startswith(wanted):
            return entry[len(wanted) :].decode(errors="replace")
    return None


def _ancestors() -> set[int]:
    found, process = set(), os.getpid()
    while process > 0 and process not in found:
        found.add(process)
        try:
            process = int(_stat(process)[PARENT])
        except OSError:
            break
    return found


def marked_processes(marker: str, value: str | None = None) -> list[int]:
    """Return the ids of all processes with a marker, except this process and its ancestors.

    The marker is an environment variable. If `value` is given, the variable must have this value.
    A process may start another and end before it is looked at. So the list of processes is read
    again until it has no new process, or for `LOOK_S` seconds.
    """
    own = _ancestors()
    found: list[int] = []
    seen: set[int] = set()
    deadline = time.monotonic() + LOOK_S
    while (new := set(_processes()) - seen) and time.monotonic() < deadline:
        seen |= new
        for process in new - own:
            held = _variable(process, marker)
            if held is not None and (value is None or held == value):
                found.append(process)
    return found


def _send(process: int, number: signal.Signals) -> None:
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return


def end_processes(marker: str, value: str | None = None) -> int:
    """Kill all processes with a marker, also processes that start meanwhile; return their number.

    The function returns when no process with the marker is left, or after `GONE_AFTER_S` seconds.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + GONE_AFTER_S
    while time.monotonic() < deadline:
        left = marked_processes(marker, value)
        if not left:
            break
        for process in left:
            _send(process, signal.SIGKILL)
        killed.update(left)
        time.sleep(0.05)
    return len(killed)


def stop_processes(marker: str, value: str, *, but: str, within_s: float) -> None:
    """Ask all processes with a marker to end, also processes that start meanwhile.

    Processes that also have the marker `but` are left to the process that started them. The
    function returns when no other process with the first marker is left, or after `within_s`
    seconds.
    """
    asked: set[int] = set()
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        found = marked_processes(marker, value)
        left = [process for process in found if _variable(process, but) is None]
        if not left:
            return
        for process in set(left) - asked:
            _send(process, signal.SIGTERM)
        asked.update(left)
        time.sleep(0.02)


def end_mounts(images: Path) -> int:
    """Kill processes that still mount an image of an ended container; return how many were killed.

    A container has ended if its mount namespace has only processes that mount images. `images` is
    the folder with the images.
    """
    mounters: dict[str, list[int]] = {}
    others = set()
    for process in _processes():
        folder = Path(f"/proc/{process}")
        try:
            namespace = str((folder / "ns" / "mnt").readlink())
            name = (folder / "comm").read_text().strip()
        except OSError:
            continue
        if name in MOUNTERS:
            mounters.setdefault(namespace, []).append(process)
        else:
            others.add(namespace)
    killed = 0
    for namespace, processes in mounters.items():
        if namespace not in others and any(_holds(one, images) for one in processes):
            for process in processes:
                _send(process, signal.SIGKILL)
            killed += len(processes)
    return killed


def _holds(process: int, folder: Path) -> bool:
    """Tell whether a process has an open file below the folder."""
    try:
        opened = [path.readlink() for path in Path(f"/proc/{process}/fd").iterdir()]
    except OSError:
        return False
    return any(one.is_relative_to(folder) for one in opened)


def mapped_segments(processes: Iterable[int] | None = None) -> set[str]:
    """Return the shared-memory files mapped by living processes that this user may inspect.

    `processes` are the ids of the processes to look at; None means all.
    """
    mapped = set()
    for process in _processes() if processes is None else processes:
        try:
            lines = Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines()
        except OSError:
            continue
        mapped.update(line.split(None, 5)[5] for line in lines if f" {SHARED_MEMORY}/" in line)
    return mapped


def remove_files(folder: Path, patterns: Iterable[str], since_s: float) -> list[str]:
    """Remove files of this user that a dead launch left in a folder; return the files' names.

    A file is removed if its name fits one of the patterns, it changed after `since_s` and no living
    process maps it. The patterns are glob patterns (``left_behind`` of config/environments.yaml).
    `since_s` is in seconds since the epoch.
    """
    if not folder.is_dir():
        return []
    patterns = list(patterns)
    mapped = mapped_segments()
    removed = []
    for path in folder.iterdir():
        if str(path) in mapped or not any(fnmatch.fnmatch(path.name, one) for one in patterns):
            continue
        try:
            status = path.lstat()
            if path.is_dir() or status.st_uid != os.getuid() or status.st_mtime < since_s:
                continue
            path.unlink()
        except OSError:
            continue
        removed.append(path.name)
    return removed


def _temporary_prefix(lock: Path) -> str:
    return f"{TEMPORARY_PREFIX}{zlib.crc32(os.fsencode(lock)):08x}-"


def make_temporary_folder(lock: Path) -> Path:
    """Make a temporary folder with a short name for TMPDIR, where MPIs put sockets and segments.

    If the folder remains, the next holder of `lock` removes it.
    """
    return Path(tempfile.mkdtemp(prefix=_temporary_prefix(lock), dir=_place_of_temporary_folders()))


def _place_of_temporary_folders() -> Path:
    """Return the folder in which sessions make temporary folders.

    Paths must be short, so this folder is never itself a session's temporary folder.
    """
    folder = Path(tempfile.gettempdir())
    return folder.parent if folder.name.startswith(TEMPORARY_PREFIX) else folder


@contextmanager
def owned_by(campaign: Path, lock: Path) -> Iterator[None]:
    """Mark all processes and temporary files of this campaign, so that a later campaign finds them.

    `campaign` is the folder of the campaign's results. This process holds `lock`.
    """
    folder = make_temporary_folder(lock)
    kept, own_folder = dict(os.environ), tempfile.tempdir
    os.environ |= {
        CAMPAIGN_MARKER: str(campaign),
        LOCK_MARKER: str(lock),
        LOCK_VARIABLE: str(lock),
        "TMPDIR": str(folder),
    }
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = own_folder
        for name in (CAMPAIGN_MARKER, LOCK_MARKER, LOCK_VARIABLE, "TMPDIR"):
            os.environ.pop(name)
            os.environ |= {name: kept[name]} if name in kept else {}
        shutil.rmtree(folder, ignore_errors=True)


def remove_temporary_folders(lock: Path) -> None:
    """Remove the temporary folders of earlier campaigns. The caller must hold the campaign lock."""
    own = Path(tempfile.gettempdir())
    for folder in _place_of_temporary_folders().glob(f"{_temporary_prefix(lock)}*"):
        if folder != own and folder.lstat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)

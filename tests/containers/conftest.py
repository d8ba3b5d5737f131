"""The user who builds and runs images in the tests: an ordinary user, as on a laptop.

A root without some capability cannot build an image, and nobody should need to be root. If tests
run as root, ``ONESIDED_TEST_USER`` names the user. The README's own command sets up a copy of the
checkout in a folder of this user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import quiet

ROOT = Path(__file__).parents[2]
USER_VARIABLE = "ONESIDED_TEST_USER"
PYTHON_OF_THE_SYSTEM = "/usr/bin/python3"
NOT_COPIED = shutil.ignore_patterns(
    "build", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache", "results"
)
BUILD_TIMEOUT_S = 1800
RUN_TIMEOUT_S = 900
#: The folder where an image's files are unpacked, if programs may run there and this machine has so
#: much memory. On a disk, a build takes nearly twice as long.
MEMORY = Path("/dev/shm")
MUCH_MEMORY_BYTES = 12e9
PASSED_ON = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


def pytest_collection_modifyitems(items):
    quiet.mark(items, Path(__file__).parent, pytest.mark.slow)


@dataclass(frozen=True)
class Person:
    """Runs commands as an ordinary user, in a checkout that is set up.

    Attributes:
        checkout: the project, writable for the user.
        folder: an empty folder of the user.
        prefix: the words before each command that run it as the user.
        variables: the whole environment of each command.
    """

    checkout: Path
    folder: Path
    prefix: tuple[str, ...]
    variables: dict[str, str]

    def call(
        self, *words, cwd=None, timeout=RUN_TIMEOUT_S, without_network=False, **variables
    ) -> subprocess.CompletedProcess:
        """Run a command to its end; return the finished process."""
        command = [*self.prefix, *map(str, words)]
        if without_network:
            up = 'ip link set lo up && exec "$@"'
            command = ["unshare", "--net", "sh", "-c", up, "sh", *command]
        return subprocess.run(
            command,
            cwd=cwd or self.checkout,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def do(self, *words, **more) -> str:
        """Run a command that must succeed; return its output."""
        answer = self.call(*words, **more)
        assert answer.returncode == 0, f"{words}: {answer.stdout[-2000:]}{answer.stderr[-2000:]}"
        return answer.stdout

    def new_folder(self, name) -> Path:
        """Make and return an empty folder of the user."""
        self.do("mkdir", "-p", self.folder / name, cwd="/")
        return self.folder / name


@pytest.fixture(scope="session")
def runtime():
    found = shutil.which("apptainer")
    if found is None:
        pytest.skip("no apptainer in PATH")
    return Path(found)


@pytest.fixture(scope="session")
def in_memory():
    """Return variables that let Apptainer unpack images in memory; none if memory is scarce."""
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if memory_bytes < MUCH_MEMORY_BYTES or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="onesided-images-", dir=MEMORY) as folder:
        Path(folder).chmod(0o777)
        yield {"APPTAINER_TMPDIR": folder}


def _path(venv, runtime):
    return os.pathsep.join(
        [str(venv / "bin"), str(runtime.parent), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"]
    )


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def person(runtime, in_memory, tmp_path_factory):
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    variables = passed_on | in_memory
    if os.geteuid() != 0:
        venv = Path(sys.executable).parents[1]
        variables |= {"HOME": os.environ["HOME"], "PATH": _path(venv, runtime)}
        return Person(ROOT, tmp_path_factory.mktemp("person"), (), variables)
    name = os.environ.get(USER_VARIABLE)
    if not name:
        pytest.skip(f"root cannot build images everywhere; {USER_VARIABLE} names an ordinary user")
    home = Path(pwd.getpwnam(name).pw_dir)
    folder = home / "onesided-tests"
    checkout = folder / "checkout"
    # files of an earlier run take minutes to make; they are made again if their sources changed
    for path in [*folder.glob("*"), *checkout.glob("*"), checkout / ".git"]:
        if path.name not in ("checkout", "build", ".venv"):
            _remove(path)
    shutil.copytree(ROOT, checkout, ignore=NOT_COPIED, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(ROOT / "results" / "published", checkout / "results" / "published")
    subprocess.run(["chown", "-R", name, folder], check=True)
    variables |= {"HOME": str(home), "PATH": _path(checkout / ".venv", runtime)}
    found = Person(checkout, folder, ("runuser", "-u", name, "--"), variables)
    found.do("make", "setup", f"PYTHON={PYTHON_OF_THE_SYSTEM}")
    return found


@pytest.fixture(scope="session")
def images(person):
    """Return a function that builds images once in this session and returns their files."""
    built = {}
    # a registry of images is not available everywhere; Debian's packages are
    bootstrap = os.environ.get("ONESIDED_TEST_BOOTSTRAP", "debootstrap")
    if bootstrap == "debootstrap" and shutil.which("debootstrap", path="/usr/sbin:/sbin") is None:
        pytest.skip("no debootstrap on this machine")

    def build(name):
        if name not in built:
            words = ("onesided", "container", "build", name, "--bootstrap", bootstrap)
            person.do(*words, timeout=BUILD_TIMEOUT_S)
            built[name] = person.checkout / "build" / "containers" / f"onesided-{name}.sif"
        return built[name]

    return build

"""Find out which MPI a compiler wrapper links.

The linked library itself says which MPI it is; the wrapper's name proves nothing.
"""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from onesided.environments import libraries
from onesided.system.command import one_line
from onesided.system.errors import OnesidedError
from onesided.system.processes import ProgramError, ask

TIMEOUT_S = 60
#: If these variables are set, a program may load a library that is not the linked library.
LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD")
INTEL = "intel-oneapi-mpi"
#: From this version on, Intel MPI is in mpi/<first two numbers>, not in mpi/<whole version>.
INTEL_SHORT_FOLDER = (2021, 11)

#: For each Spack package, the pattern of the library's version text. Cray MPICH and MVAPICH are
#: made from MPICH, but their texts begin differently, so the order of the patterns does not matter.
SAYS = {
    "mpich": re.compile(r"^MPICH Version:\s*(\d[\w.]*)", re.MULTILINE),
    "openmpi": re.compile(r"^Open MPI v(\d[\w.]*)", re.MULTILINE),
    INTEL: re.compile(r"^Intel\(R\) MPI Library (\d[\d.]*)", re.MULTILINE),
    "mvapich": re.compile(r"^MVAPICH Version\s*:\s*(\d[\w.]*)", re.MULTILINE),
    "mvapich2": re.compile(r"^MVAPICH2 Version\s*:\s*(\d[\w.]*)", re.MULTILINE),
    "cray-mpich": re.compile(r"CRAY MPICH version (\d[\d.]*)"),
}
#: MPIs that Spack has packages for, but whose version texts are not known here.
OTHER_MPI_PACKAGES = (
    "cray-mvapich2 fujitsu-mpi hpcx-mpi mpi-serial mpilander mpt msmpi mvapich-plus nmad"
    " spectrum-mpi"
)
MPI_PACKAGES = frozenset(SAYS) | frozenset(OTHER_MPI_PACKAGES.split())

#: For each library, the program that prints the text of the library about its version.
PROGRAMS = {libraries.MPI: "identify.c", libraries.OPENSHMEM: "identify_shmem.c"}
#: Folders in which several MPIs can be.
SHARED_PREFIXES = ("/", "/usr")


class UnknownMpiError(OnesidedError):
    """Raised if a compiler wrapper fails, or if its program fails or links an unknown MPI."""

    def __init__(self, program: str | Path, reason: str) -> None:
        """Make the error. The attribute ``reason`` is the message without the program's path."""
        self.reason = reason
        super().__init__(f"{program}: {reason}")


@dataclass(frozen=True)
class Identity:
    """An MPI, as its library describes itself.

    Attributes:
        package: the name of the package in Spack.
        library: the file of the library, with all links followed.
        text: everything that the library says about itself.
    """

    package: str
    version: str
    library: Path
    text: str = ""

    def __str__(self) -> str:
        """Return the MPI's name and version as a Spack spec."""
        return f"{self.package}@{self.version}"

    def is_version(self, wanted: str) -> bool:
        """Tell whether the MPI's version is ``wanted``.

        Of two versions such as 5.0 and 5.0.11, only the numbers that both have are compared.
        """
        pairs = zip(self.version.split("."), wanted.split("."), strict=False)
        return all(own == other for own, other in pairs)


def is_shared(folder: Path) -> bool:
    """Tell whether a folder may contain several MPIs, and so does not identify one MPI."""
    return os.path.realpath(folder) in SHARED_PREFIXES


def component(package: str, version: str, prefix: Path) -> Path:
    """Return the folder with an MPI's ``bin`` and ``lib``, from the MPI's prefix in Spack."""
    if package != INTEL:
        return prefix
    numbers = version.split(".")
    leading = tuple(int(number) for number in numbers[:2] if number.isdigit())
    short = ".".join(numbers[:2])
    return prefix / "mpi" / (short if leading >= INTEL_SHORT_FOLDER else version)


def component_variables(package: str, folder: Path) -> dict[str, str]:
    """Return the environment variables that are needed to compile and run with an MPI.

    `package` is the name of the package in Spack; `folder` is the result of `component`.
    """
    libraries = [folder / "lib", folder / "lib64", folder / "lib" / "release"]
    if package == INTEL:
        libraries.append(folder / "lib" / "libfabric")
    # programs that Spack links have an RPATH; the small program here needs this variable
    found = {"LD_LIBRARY_PATH": ":".join(map(str, libraries))}
    if package == INTEL:
        found["I_MPI_ROOT"] = str(folder)
    return found


def source(standard: str = libraries.MPI) -> str:
    """Return the C source of a program that prints the MPI library's version text."""
    folder = resources.files("onesided.environments")
    return folder.joinpath(PROGRAMS[standard]).read_text("utf-8")


def identify(
    wrapper: Path,
    variables: Mapping[str, str] | None = None,
    standard: str = libraries.MPI,
) -> Identity:
    """Compile a program with a wrapper, run the program, and return which MPI it links.

    `variables` are set for compiling and running. `standard` is MPI or OpenSHMEM.

    Raises:
        UnknownMpiError: the program does not compile or run, or the library is unknown.
    """
    with tempfile.TemporaryDirectory(prefix="onesided-identify-") as folder:
        (Path(folder) / "identify.c").write_text(source(standard), "utf-8")
        words = [wrapper, "identify.c", "-o", "identify", "-ldl"]
        _run(words, folder, variables)
        path, _, text = _run([Path(folder) / "identify"], folder, variables).partition("\n")
    if found := package_and_version(text):
        return Identity(*found, Path(os.path.realpath(path)), text)
    kind = "an MPI" if standard == libraries.MPI else f"an {standard}"
    raise UnknownMpiError(wrapper, f"{kind} unknown here: {one_line(text)!r}")


def package_and_version(text: str) -> tuple[str, str] | None:
    """Return an MPI's Spack package and version, from its version text; None if unknown."""
    for package, pattern in SAYS.items():
        match = pattern.search(text)
        if match:
            return package, match[1].rstrip(".")
    return None


def beginning(text: str) -> str | None:
    """Return the beginning of an MPI's version text, up to the version; None if unknown."""
    found = (pattern.search(text) for pattern in SAYS.values())
    return next((match[0].rstrip(".") for match in found if match), None)


def shown(wrapper: Path) -> list[str]:
    """Return the words of the compiler command that an MPI wrapper would run.

    Raises:
        UnknownMpiError: the wrapper does not show the words.
    """
    return _run([wrapper, "-show"], None, None).split()


def _run(
    words: Sequence[str | Path], folder: str | None, variables: Mapping[str, str] | None
) -> str:
    own = {name: text for name, text in os.environ.items() if name not in LOADER_VARIABLES}
    try:
        environment = {**own, **(variables or {})}
        return ask(words, timeout_s=TIMEOUT_S, folder=folder, variables=environment)
    except ProgramError as fault:
        raise UnknownMpiError(words[0], str(fault)) from fault

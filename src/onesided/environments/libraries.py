"""The two standards for which kernels are built, MPI and OpenSHMEM, and their source files.

``src/kernels/CMakeLists.txt`` has the same rules. Each build is for MPI or for OpenSHMEM.
"""

from pathlib import Path, PurePath

MPI, OPENSHMEM = "MPI", "OpenSHMEM"
LIBRARIES = (MPI, OPENSHMEM)

#: For each library, the folders with sources that all its kernels share.
COMMON = {MPI: ("harness", "mpi", "rma", "slots"), OPENSHMEM: ("harness", "openshmem", "slots")}
#: Folders with sources that kernels share. They have no kernels.
NO_STUDIES = frozenset(folder for folders in COMMON.values() for folder in folders)
#: The name of a study's folder with the files that its kernels share.
SHARED = "shared"
#: For each library, how the names of files end that are compiled only with this library.
ENDINGS = {MPI: "_mpi", OPENSHMEM: "_shmem"}
#: For each library, the name of the call that ends the use of the library.
FINALIZE = {MPI: "MPI_Finalize", OPENSHMEM: "shmem_finalize"}


def feature(library: str) -> str:
    """Return the ReFrame feature of all environments with a library (MPI or OpenSHMEM)."""
    return library.lower()


def _is_for(path: PurePath, library: str) -> bool:
    """Tell from the end of a source file's name whether the file is compiled for a library."""
    others = [ending for name, ending in ENDINGS.items() if name != library]
    return not any(path.stem.endswith(ending) for ending in others)


def kernels(sources: Path, library: str) -> dict[str, Path]:
    """Return the source file or source folder of each kernel of a library, by the kernel's name."""
    found = {}
    for study in sorted(path for path in sources.iterdir() if path.is_dir()):
        if study.name not in NO_STUDIES:
            found |= _of_study(study, library)
    return dict(sorted(found.items()))


def _of_study(study: Path, library: str) -> dict[str, Path]:
    ending = ENDINGS[library]
    shares = library == MPI or any((study / SHARED).glob(f"*{ending}.c"))
    return {
        path.stem.removesuffix(ending): path
        for path in study.iterdir()
        if path.name != SHARED
        and (path.suffix == ".c" or any(path.glob("*.c")))
        and _is_for(path, library)
        and (shares or path.stem.endswith(ending))
    }


def is_source_of(name: PurePath, own: PurePath | None, library: str) -> bool:
    """Tell whether a file is one of a kernel's source files.

    Args:
        name: the name of the file, below the folder of the kernels' sources.
        own: the kernel's file or folder, below the same folder; None if there is no such kernel.
        library: the library of the kernel.
    """
    folder = name.parts[0]
    if len(name.parts) == 1 or folder in COMMON[library]:
        return True
    if own is None or folder != own.parts[0]:
        return False
    if name.parts[1] == SHARED:
        return _is_for(name, library)
    return name.is_relative_to(own)

"""Find the MPIs of this machine: installed wheels, Debian packages and environment modules."""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onesided.environments import declarations, identity, libraries
from onesided.environments.identity import Identity
from onesided.system import command, documents, paths
from onesided.system.errors import OnesidedError
from onesided.system.processes import ProgramError, ask

#: For each MPI, the needed Debian programs whose names do not end in `.mpich` or `.openmpi`.
DEBIAN_PROGRAMS = {
    "mpich": "hydra_nameserver hydra_persist hydra_pmi_proxy mpichversion mpiexec.hydra mpivars",
    "openmpi": "ompi_info orted orterun oshCC oshcc oshcxx oshmem_info oshrun prte prted prterun"
    " shmemcc shmemrun",
}
#: For each MPI, patterns of its Debian libraries; libraries of other MPIs are in the same folder.
LIBRARIES = {
    "mpich": ("libmpich*.so*",),
    "openmpi": ("libmpi.so.*", "libmpi_*.so*", "libopen-*.so*", "liboshmem.so*"),
}
#: Finds the network module of an MPICH that has only one; Spack has no variant for two modules.
NETMOD = re.compile(r"^MPICH Device:\s*ch4:(ofi|ucx)$", re.MULTILINE)
#: Names of environment modules that are loaded to see whether they provide an mpicc.
LOOKS_LIKE_MPI = re.compile(
    r"(^|[/_-])(mpich|openmpi|ompi|mvapich2?|impi|intelmpi|intel-mpi|intel-oneapi-mpi"
    r"|cray-mpich|mpi)([/_.-]|$)",
    re.IGNORECASE,
)
MODULES_TIMEOUT_S = 60
#: Defines the shell function `module`. Lmod and Tcl modules both have such a file.
MODULES_SHELL = '. "$MODULESHOME/init/bash" || exit 1\n'
INTEL_FOLDERS = ("bin", "etc", "include", "lib", "opt", "share")


@dataclass(frozen=True)
class Mpi:
    """An MPI that can be declared to Spack.

    Attributes:
        spec: the name and version in Spack, with the variants that a user must ask for.
        prefix: the folder that Spack gets as the prefix.
        links: the targets of symbolic links to make below the prefix, by the paths of the links.
        files: the texts of files to write below the prefix, by their paths.
        modules: the modules that must be loaded to use the MPI.
        variants: further variants that the MPI has; without them, Spack would assume its defaults.
        origin: where the MPI was found, in words.
    """

    spec: str
    prefix: Path
    links: Mapping[Path, Path] = field(default_factory=dict)
    files: Mapping[Path, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    variants: str = ""
    origin: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A possible MPI that is not declared to Spack: where it was found, and why not."""

    origin: str
    reason: str


Found = Mpi | LeftOut


def externals_dir(found: Identity) -> Path:
    """Return the folder with links to an MPI's files, which Spack uses as the MPI's prefix."""
    return paths.build_dir() / "spack" / "externals" / f"{found.package}-{found.version}"


def specs_of_families() -> dict[str, str]:
    """Return the template of a Spack spec for each MPI family; the key is the Spack package's name.

    Raises:
        InputError: the file is faulty.
    """
    document = documents.read_yaml(paths.config_dir() / declarations.FILE, "environments")
    specs = [
        family["spack"]
        for family in document["families"].values()
        if declarations.library_of(family) == libraries.MPI
    ]
    return {spec.partition("@")[0]: spec for spec in specs}


def spec_of(found: Identity) -> str:
    """Return the Spack spec of an MPI, with the variants that the MPI's family declares."""
    template = specs_of_families().get(found.package, f"{found.package}@{{version}}")
    return template.replace("{version}", found.version)


def variants_of(found: Identity, programs: Path) -> str:
    """Return Spack variants that describe how the MPI was built, such as its network module.

    `programs` is the folder with the MPI's programs.
    """
    netmod = NETMOD.search(found.text) if found.package == "mpich" else None
    if netmod:
        return f" netmod={netmod[1]}"
    if found.package == "openmpi" and (programs / "oshcc").exists():
        return "+openshmem"
    return ""


def all_mpis() -> Iterator[Found]:
    """Yield every MPI. If several MPIs have the same spec, only the first is declared to Spack."""
    seen: dict[str, str] = {}
    for search in (wheels, debian, of_modules):
        for found in search():
            if isinstance(found, LeftOut):
                yield found
            elif found.spec in seen:
                yield LeftOut(found.origin, f"{found.spec} again, as {seen[found.spec]}")
            else:
                seen[found.spec] = found.origin
                yield found


def _looked_at(origin: str, look: Callable[..., Mpi], *what: Any) -> Found:
    """Return the MPI that `look` finds; if `look` fails, return the `origin` and the reason."""
    try:
        return replace(look(*what), origin=origin)
    except OnesidedError as fault:
        return LeftOut(origin, str(fault))


def wheels() -> Iterator[Found]:
    """Yield the MPIs that were installed from Python wheels."""
    declared = declarations.declared()
    for path in sorted(paths.environments_dir().glob("*/environment.json")):
        declaration = declared.get(path.parent.name)
        if declaration is None:
            yield LeftOut(f"wheel {path.parent.name}", "not in config/environments.yaml")
        elif declaration.packages:
            yield _looked_at(f"wheel {declaration.name}", _wheel, path, declaration)


def _wheel(path: Path, declaration: declarations.Declaration) -> Mpi:
    document = documents.read_json(path, "environment")
    if document["status"] != "ready":
        raise OnesidedError(document["reason"])
    prefix = Path(document["prefix"])
    found = identity.identify(Path(document["compilers"]["c"]), document["variables"])
    spec = declaration.spack_spec()
    if not found.library.is_relative_to(os.path.realpath(prefix)):
        raise OnesidedError(f"its mpicc links {found.library}, outside its prefix")
    if found.package != spec.partition("@")[0] or not found.is_version(declaration.library_version):
        raise OnesidedError(f"its mpicc links {found}")
    if found.package == identity.INTEL:
        # the library may not print the third number of its version
        return _intel(replace(found, version=declaration.library_version), spec, prefix)
    return Mpi(spec, prefix, variants=variants_of(found, prefix / "bin"))


def _intel(found: Identity, spec: str, root: Path, needed: tuple[str, ...] = ()) -> Mpi:
    """Return an Intel MPI, with links that form the folder layout that Spack expects."""
    prefix = externals_dir(found)
    folder = identity.component(found.package, found.version, prefix)
    links = {folder / name: root / name for name in INTEL_FOLDERS if (root / name).is_dir()}
    variables = identity.component_variables(found.package, folder)
    lines = [
        "# Spack reads this file for the variables of the MPI.",
        *command.exports({"I_MPI_ROOT": variables["I_MPI_ROOT"]}),
        command.path_first(folder / "bin"),
        f"export LD_LIBRARY_PATH={shlex.quote(variables['LD_LIBRARY_PATH'])}"
        '"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
    ]
    files = {folder / "env" / "vars.sh": "\n".join(lines) + "\n"}
    return Mpi(spec, prefix, links, files, needed)


def debian() -> Iterator[Found]:
    """Yield Debian's MPIs.

    All MPIs of Debian are in /usr; only the suffixes of their programs' names differ.
    """
    for suffix in ("mpich", "openmpi"):
        wrapper = shutil.which(f"mpicc.{suffix}")
        if wrapper:
            yield _looked_at(f"Debian's mpicc.{suffix}", _debian, Path(wrapper))


def _debian(wrapper: Path) -> Mpi:
    found = identity.identify(wrapper)
    if found.package not in LIBRARIES:
        raise OnesidedError(f"links {found}, which Debian has no package of")
    prefix, programs = externals_dir(found), wrapper.parent
    own = {
        path.name.removesuffix(wrapper.suffix): path for path in programs.glob(f"*{wrapper.suffix}")
    }
    others = [programs / name for name in DEBIAN_PROGRAMS[found.package].split()]
    own |= {path.name: path for path in others if path.exists()}
    in_library = [
        path
        for pattern in LIBRARIES[found.package]
        for path in sorted(found.library.parent.glob(pattern))
    ]
    links = {
        **{prefix / "bin" / name: path for name, path in own.items()},
        **{prefix / "lib" / path.name: path for path in in_library},
        # Debian's own libmpi.so belongs to only one MPI; this link leads to the wrapper's library
        prefix / "lib" / "libmpi.so": found.library,
        prefix / "include": _header_folder(wrapper),
    }
    return Mpi(spec_of(found), prefix, links, variants=variants_of(found, programs))


def _header_folder(wrapper: Path) -> Path:
    words = identity.shown(wrapper)
    folders = [Path(word.removeprefix("-I")) for word in words if word.startswith("-I")]
    for folder in folders:
        if (folder / "mpi.h").is_file():
            return folder
    raise identity.UnknownMpiError(wrapper, "names no folder that holds mpi.h")


def of_modules() -> Iterator[Found]:
    """Yield the MPIs of environment modules that this shell can load now."""
    if not has_modules():
        return
    try:
        names = mpi_modules()
    except ModuleError as fault:
        yield LeftOut("environment modules", str(fault))
        return
    for name in names:
        yield _looked_at(f"module {name}", _module, name)


def _module(name: str) -> Mpi:
    loaded = module_variables(name)
    wrapper = shutil.which("mpicc", path=loaded.get("PATH", ""))
    if wrapper is None:
        raise OnesidedError("brings no mpicc")
    if wrapper == shutil.which("mpicc") and name not in loaded_modules():
        raise OnesidedError(f"its mpicc is {wrapper}, as without the module")
    found = identity.identify(Path(wrapper), loaded)
    root = Path(wrapper).parent.parent
    if identity.is_shared(root):
        raise OnesidedError(f"its mpicc is {wrapper}, in a folder that other MPIs share")
    spec, needed = spec_of(found), (name,)
    if found.package != identity.INTEL:
        return Mpi(spec, root, modules=needed, variants=variants_of(found, root / "bin"))
    if root.parent.name == "mpi" and re.fullmatch(r"\d+(\.\d+)+", root.name):
        return Mpi(spec, root.parent.parent, modules=needed)
    return _intel(found, spec, root, needed)


class ModuleError(OnesidedError):
    """Raised if environment modules cannot be listed, or if a module cannot be loaded."""


def has_modules() -> bool:
    """Tell whether this process was started in a shell with environment modules."""
    home = os.environ.get("MODULESHOME")
    return bool(home) and (Path(home) / "init" / "bash").is_file()


def loaded_modules(variables: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the loaded environment modules."""
    return variables.get("LOADEDMODULES", "").split(":")


def mpi_modules() -> list[str]:
    """Return the names of the environment modules that look like an MPI and can be loaded now.

    Raises:
        ModuleError: the modules cannot be listed.
    """
    listed = _shell("module -t avail 2>&1")
    # a line is `mpich/4.0(default)`, or `mpich/4.0 <L>` if the module is loaded
    names = [re.split(r"[\s(]", line, maxsplit=1)[0] for line in listed.splitlines()]
    return [
        name
        for name in dict.fromkeys(names)
        if name and not name.endswith((":", "/")) and LOOKS_LIKE_MPI.search(name)
    ]


def module_variables(*names: str) -> dict[str, str]:
    """Return all environment variables of a shell that has loaded the named modules.

    Raises:
        ModuleError: a module cannot be loaded.
    """
    # some versions of `module load` report no failure, but all versions list the loaded modules
    script = 'module load "$@" 1>&2 || exit 1\necho ONESIDED-VARIABLES\nenv -0'
    answer = _shell(script, *names).partition("ONESIDED-VARIABLES\n")[2]
    found = dict(entry.split("=", 1) for entry in answer.split("\0") if "=" in entry)
    for name in names:
        if not any(one == name or one.startswith(f"{name}/") for one in loaded_modules(found)):
            raise ModuleError(f"module {name}: it did not load")
    return found


def _shell(script: str, *names: str) -> str:
    words = ["bash", "--noprofile", "--norc", "-c", MODULES_SHELL + script, "bash", *names]
    try:
        return ask(words, timeout_s=MODULES_TIMEOUT_S)
    except ProgramError as fault:
        raise ModuleError(f"module {' '.join(names)}: {fault}") from fault

"""The MPIs of this machine: provided wheels, Debian's packages, environment modules."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onesided.environments import declarations, identity, shell
from onesided.environments.identity import Identity
from onesided.environments.spack_machine import modules
from onesided.system import documents, libraries, paths
from onesided.system.errors import OnesidedError

#: Debian's programs that an MPI needs and that carry no `.mpich` or `.openmpi` behind their name.
DEBIAN_PROGRAMS = {
    "mpich": "hydra_nameserver hydra_persist hydra_pmi_proxy mpichversion mpiexec.hydra mpivars",
    "openmpi": "ompi_info orted orterun oshCC oshcc oshcxx oshmem_info oshrun prte prted prterun"
    " shmemcc shmemrun",
}
#: Its libraries in a folder that other MPIs share.
LIBRARIES = {
    "mpich": ("libmpich*.so*",),
    "openmpi": ("libmpi.so.*", "libmpi_*.so*", "libopen-*.so*", "liboshmem.so*"),
}
#: What an MPICH was built for, where that is one thing: Spack knows no build for two.
NETMOD = re.compile(r"^MPICH Device:\s*ch4:(ofi|ucx)$", re.MULTILINE)
INTEL_FOLDERS = ("bin", "etc", "include", "lib", "opt", "share")


@dataclass(frozen=True)
class Mpi:
    """An MPI that Spack can be given.

    Attributes:
        spec: Spack's name and version, with variants that a user must ask for.
        origin: where it was found, for people.
        prefix: the folder Spack is given.
        links: symbolic links to make below the prefix, by their path.
        files: text of files to write below it.
        modules: what has to be loaded to use it.
        variants: further ones that it was found to have; Spack takes its defaults otherwise.
    """

    spec: str
    origin: str
    prefix: Path
    links: Mapping[Path, Path] = field(default_factory=dict)
    files: Mapping[Path, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    variants: str = ""


@dataclass(frozen=True)
class LeftOut:
    """Something that was looked at and is not given to Spack.

    Attributes:
        origin: where it was found.
        reason: one line.
    """

    origin: str
    reason: str


Found = Mpi | LeftOut


def externals_dir() -> Path:
    """Return the folder of the prefixes that are made of links."""
    return paths.build_dir() / "spack" / "externals"


def specs_of_families() -> dict[str, str]:
    """Return the spec with ``{version}`` of each family of config/environments.yaml, by package.

    Raises:
        InputError: the file is faulty.
    """
    document = documents.read_yaml(paths.config_dir() / "environments.yaml", "environments")
    specs = [
        family["spack"]
        for family in document["families"].values()
        if declarations.library_of(family) == libraries.MPI
    ]
    return {spec.partition("@")[0]: spec for spec in specs}


def spec_of(found: Identity) -> str:
    """Return the spec of an MPI; families of ours say what variants it takes."""
    template = specs_of_families().get(found.package, f"{found.package}@{{version}}")
    return template.replace("{version}", found.version)


def variants_of(found: Identity, programs: Path) -> str:
    """Return what an MPI was built with, where the kernels' recipe or a reader asks for it.

    Args:
        found: the MPI.
        programs: the folder with its programs.
    """
    netmod = NETMOD.search(found.text) if found.package == "mpich" else None
    if netmod:
        return f" netmod={netmod[1]}"
    if found.package == "openmpi" and (programs / "oshcc").exists():
        return "+openshmem"
    return ""


def all_mpis() -> Iterator[Found]:
    """Yield everything there is; of two MPIs of one spec, which Spack cannot tell apart, one."""
    seen: dict[str, str] = {}
    for search in (wheels, debian, of_modules):
        for found in search():
            if isinstance(found, Mpi) and found.spec in seen:
                yield LeftOut(found.origin, f"{found.spec} again, as {seen[found.spec]}")
                continue
            if isinstance(found, Mpi):
                seen[found.spec] = found.origin
            yield found


def _or_reason(origin: str, look: Callable[[], Found]) -> Found:
    try:
        return look()
    except OnesidedError as fault:
        return LeftOut(origin, str(fault))


def wheels() -> Iterator[Found]:
    """Yield the environments that were provided from wheels."""
    declared = declarations.declared()
    for path in sorted(paths.environments_dir().glob("*/environment.json")):
        declaration = declared.get(path.parent.name)
        if declaration is None:
            yield LeftOut(f"wheel {path.parent.name}", "not in config/environments.yaml")
        elif declaration.packages:
            origin = f"wheel {declaration.name}"
            yield _or_reason(origin, lambda p=path, d=declaration, o=origin: _wheel(p, d, o))


def _wheel(path: Path, declaration: declarations.Declaration, origin: str) -> Found:
    document = documents.read_json(path, "environment")
    if document["status"] != "ready":
        return LeftOut(origin, document["reason"])
    prefix = Path(document["prefix"])
    found = identity.identify(Path(document["compilers"]["c"]), document["variables"])
    spec = declaration.spack_spec()
    if not found.library.is_relative_to(os.path.realpath(prefix)):
        return LeftOut(origin, f"its mpicc links {found.library}, outside its prefix")
    if found.package != spec.partition("@")[0] or not found.is_version(declaration.library_version):
        return LeftOut(origin, f"its mpicc links {found}")
    if found.package == "intel-oneapi-mpi":
        # the library may leave out the version's third number
        named = Identity(found.package, declaration.library_version, found.library)
        return _intel(named, spec, origin, prefix)
    return Mpi(spec, origin, prefix, variants=variants_of(found, prefix / "bin"))


def _intel(
    found: Identity,
    spec: str,
    origin: str,
    root: Path,
    needed: tuple[str, ...] = (),
) -> Mpi:
    """Return Intel's MPI in the layout of its own installer, which Spack's package wants."""
    prefix = externals_dir() / f"{found.package}-{found.version}"
    folder = identity.component(found.package, found.version, prefix)
    links = {folder / name: root / name for name in INTEL_FOLDERS if (root / name).is_dir()}
    variables = identity.component_variables(found.package, folder)
    lines = [
        "# Spack reads this file for the variables of the MPI.",
        *shell.exports({"I_MPI_ROOT": variables["I_MPI_ROOT"]}),
        shell.path_first(folder / "bin"),
        f"export LD_LIBRARY_PATH={shlex.quote(variables['LD_LIBRARY_PATH'])}"
        '"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
    ]
    files = {folder / "env" / "vars.sh": "\n".join(lines) + "\n"}
    return Mpi(spec, origin, prefix, links, files, needed)


def debian() -> Iterator[Found]:
    """Yield Debian's MPIs, which share /usr and are told apart by the end of a program's name."""
    for suffix in ("mpich", "openmpi"):
        wrapper = shutil.which(f"mpicc.{suffix}")
        if wrapper:
            origin = f"Debian's mpicc.{suffix}"
            yield _or_reason(origin, lambda w=Path(wrapper), o=origin: _debian(w, o))


def _debian(wrapper: Path, origin: str) -> Found:
    found = identity.identify(wrapper)
    if found.package not in LIBRARIES:
        return LeftOut(origin, f"links {found}, which Debian has no package of")
    prefix = externals_dir() / f"{found.package}-{found.version}"
    links = {
        **_debian_programs(wrapper, found, prefix / "bin"),
        **_debian_libraries(found, prefix / "lib"),
        prefix / "include": _header_folder(wrapper),
    }
    variants = variants_of(found, wrapper.parent)
    return Mpi(spec_of(found), origin, prefix, links, variants=variants)


def _debian_programs(wrapper: Path, found: Identity, folder: Path) -> dict[Path, Path]:
    suffix = wrapper.suffix
    links = {
        folder / path.name.removesuffix(suffix): path
        for path in sorted(wrapper.parent.glob(f"*{suffix}"))
    }
    for name in DEBIAN_PROGRAMS[found.package].split():
        if (wrapper.parent / name).exists():
            links[folder / name] = wrapper.parent / name
    return links


def _debian_libraries(found: Identity, folder: Path) -> dict[Path, Path]:
    """Return links to this MPI's libraries alone.

    Debian's ``libmpi.so`` belongs to one of its MPIs, so in this folder it is the library that
    the wrapper was found to link.
    """
    links = {
        folder / path.name: path
        for pattern in LIBRARIES[found.package]
        for path in sorted(found.library.parent.glob(pattern))
    }
    return {**links, folder / "libmpi.so": found.library}


def _header_folder(wrapper: Path) -> Path:
    words = identity.shown(wrapper)
    folders = [Path(word.removeprefix("-I")) for word in words if word.startswith("-I")]
    for folder in folders:
        if (folder / "mpi.h").is_file():
            return folder
    raise identity.UnknownMpiError(wrapper, "names no folder that holds mpi.h")


def of_modules() -> Iterator[Found]:
    """Yield the MPIs of environment modules that can be loaded in the shell as it is now."""
    if not modules.present():
        return
    try:
        names = modules.mpis()
    except modules.ModuleError as fault:
        yield LeftOut("environment modules", str(fault))
        return
    for name in names:
        origin = f"module {name}"
        yield _or_reason(origin, lambda n=name, o=origin: _module(n, o))


def _module(name: str, origin: str) -> Found:
    loaded = modules.variables(name)
    wrapper = shutil.which("mpicc", path=loaded.get("PATH", ""))
    if wrapper is None:
        return LeftOut(origin, "brings no mpicc")
    if wrapper == shutil.which("mpicc") and name not in modules.loaded():
        return LeftOut(origin, f"its mpicc is {wrapper}, as without the module")
    found = identity.identify(Path(wrapper), loaded)
    root = Path(wrapper).parent.parent
    if identity.is_shared(root):
        return LeftOut(origin, f"its mpicc is {wrapper}, in a folder that other MPIs share")
    spec = spec_of(found)
    if found.package != "intel-oneapi-mpi":
        variants = variants_of(found, root / "bin")
        return Mpi(spec, origin, root, modules=(name,), variants=variants)
    if root.parent.name == "mpi" and re.fullmatch(r"\d+(\.\d+)+", root.name):
        return Mpi(spec, origin, root.parent.parent, modules=(name,))
    return _intel(found, spec, origin, root, (name,))

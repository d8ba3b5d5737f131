"""Build images from containers/ and the versions in config/environments.yaml; compare images.

The base image contains what is slow to build: Debian and the Python packages. The base image is
built again only if its source files changed. An MPI's image contains the files of the checkout in
their current state.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from onesided.environments import containers, declarations, fingerprint, kernels, libraries
from onesided.system import paths
from onesided.system.errors import InputError, OnesidedError
from onesided.system.lock import folder_lock
from onesided.system.processes import ProgramError, answer, ask, commit, git

BASE, TOOLCHAIN = "base", "toolchain"
ALL, OPENSHMEM = "all", "openshmem"
MPI = "mpi"
"""The name of the definition file that all images with an MPI use. Each kernel is an app of an
image with an MPI."""
APPS_OF = {MPI: libraries.MPI, OPENSHMEM: libraries.OPENSHMEM}
"""The standard of the kernels (MPI or OpenSHMEM) in each image definition with one app per
kernel."""
FAMILIES = {
    "mpich": ("MPICH", "MPICH's own (permissive)"),
    "openmpi": ("Open MPI", "BSD-3-Clause (Open MPI)"),
    "impi": (
        "Intel MPI",
        "Intel Simplified Software License (Intel MPI), which goes with every copy",
    ),
}
"""The name under which readers know the MPI of each MPI family, and the licence of the MPI."""
APP = """
%apprun {kernel}
    exec sh /opt/onesided/containers/scripts/app.sh {kernel} "$@"
"""
#: Parts of the checkout that an image does not need.
LEFT_OUT = re.compile(r"(tests|benchmarks|\.ci|spack)/|\.git|spack\.yaml$")
#: Sources of the base image, besides its definition and scripts.
PYTHON_SIDE = (
    "requirements.lock", "requirements.in", "pyproject.toml", "README.md", "LICENSE",
    "tools/setup.py", "src/onesided/__init__.py",
    "src/onesided/system/__init__.py", "src/onesided/system/pip.py",
)  # fmt: skip
#: The settings of pip that builds take from this machine: they say where packages come from.
PIP_SETTINGS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "retries")
DEBIAN = "bookworm", "trixie"
EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
#: Every Linux and squashfuse can read gzip. Level 4 is faster than the default, which is 9.
COMPRESSION = "-comp gzip -Xcompression-level 4"
LIST_TIMEOUT_S = 600.0
#: Files in which the runtime records the time of the build, and files that it takes from the host.
NOT_COMPARED = (
    "/.singularity.d/labels.json",
    *(f"/etc/{name}" for name in ("resolv.conf", "hosts", "localtime", "passwd", "group")),
)


def definition_text(name: str) -> str:
    """Return the text of an image's definition file, completed with an app for each kernel."""
    text = (paths.project_root() / "containers" / f"{name}.def").read_text("utf-8")
    if name in APPS_OF:
        text += "".join(APP.format(kernel=kernel) for kernel in kernels.names(APPS_OF[name]))
    return text


@dataclass(frozen=True)
class Image:
    """A container image that can be built.

    Attributes:
        name: the part ``<name>`` of the file's name, ``onesided-<name>.sif``.
        definition: the name of the file in containers/, without its suffix.
        arguments: the build arguments of this image, without those that every image gets.
    """

    name: str
    definition: str
    arguments: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The file of the image."""
        return containers.image_file(self.name)


def known() -> dict[str, Image]:
    """Return all images that can be built, by name.

    An image with the name of a family contains the first version of this family in
    config/environments.yaml.
    """
    declared = [one for one in declarations.declared().values() if one.packages]
    first: dict[str, declarations.Declaration] = {}
    for declaration in declared:
        first.setdefault(declaration.family, declaration)
    found = [_with_mpis(family, [declaration]) for family, declaration in first.items()]
    found += [_with_mpis(one.name, [one]) for one in declared]
    found += [
        _with_mpis(ALL, list(first.values())),
        Image(containers.ABI, containers.ABI, {"version": first["mpich"].version}),
        Image(OPENSHMEM, OPENSHMEM),
    ]
    return {image.name: image for image in found}


def _with_mpis(name: str, declared: Sequence[declarations.Declaration]) -> Image:
    """Return an image with a given name that contains the given MPIs."""
    licences = ["BSD-3-Clause (onesided)", *(FAMILIES[one.family][1] for one in declared)]
    arguments = {
        "name": declared[0].family if len(declared) == 1 else name,
        "environments": " ".join(one.name for one in declared),
        "mpi": ",".join(one.family for one in declared),
        "version": ",".join(one.version for one in declared),
        "title": ", ".join(f"{FAMILIES[one.family][0]} {one.version}" for one in declared),
        "licences": "; ".join(licences),
    }
    return Image(name, MPI, arguments)


class Builder:
    """Builds images one after another. A base that several images share is built only once."""

    def __init__(self, bootstrap: str = "docker", mirror: str | None = None) -> None:
        """Find the runtime.

        Args:
            bootstrap: ``docker`` (Debian's image from a registry) or ``debootstrap``.
            mirror: the mirror of Debian's packages, for debootstrap; by default the mirror of this
                machine's apt.

        Raises:
            OnesidedError: there is no runtime.
        """
        self._program = containers.needed_runtime()
        self._bootstrap = bootstrap
        self._mirror = mirror
        self._folder = paths.images_dir()
        self._context = self._folder / "context"

    def build(self, image: Image) -> float:
        """Build an image and the outdated images on which it depends; return the seconds needed.

        If two builds use the same folder, the second build waits until the first build has ended.

        Raises:
            OnesidedError: a build failed. The message names the build's log. An existing image
                stays.
        """
        begin, root = time.monotonic(), paths.project_root()
        python_side = fingerprint.of_files([root / name for name in PYTHON_SIDE], root)
        with folder_lock(self._folder, "another build", print, threading.Event()):
            try:
                debian = {"bootstrap": self._bootstrap}
                if self._bootstrap == "debootstrap":
                    debian["mirror"] = self._mirror or host_mirror()
                base = self._shared(BASE, debian, python_side, self._bootstrap)
                self._shared(TOOLCHAIN, {}, base)
                lock = hashlib.sha256((root / "requirements.lock").read_bytes()).hexdigest()
                own = {"commit": commit() or "unknown", "lock": lock}
                self._call(image.definition, image.file, {**image.arguments, **own})
            finally:
                # pip's settings may hold a password
                shutil.rmtree(self._context, ignore_errors=True)
        return time.monotonic() - begin

    def _shared(self, name: str, arguments: Mapping[str, str], *made_from: str) -> str:
        """Build a shared image if the image is outdated; return a hash of the image's sources."""
        folder = paths.project_root() / "containers"
        scripts = [folder / "scripts" / script for script in ("common.sh", f"{name}.sh")]
        files = fingerprint.of_files([folder / f"{name}.def", *scripts], folder)
        state = hashlib.sha256("\0".join([files, *made_from]).encode()).hexdigest()
        target, stamp = self._folder / f"{name}.sif", self._folder / f"{name}.state"
        if not (target.exists() and stamp.exists() and stamp.read_text() == state):
            stamp.unlink(missing_ok=True)
            self._call(name, target, arguments)
            stamp.write_text(state)
        return state

    def _make_context(self) -> None:
        """Make the folder from which images copy the checkout, scripts and pip's settings."""
        root = paths.project_root()
        shutil.rmtree(self._context, ignore_errors=True)
        source, python = self._context / "source", self._context / "python"
        for name in files_of_checkout():
            _copy(root / name, source / name)
        (source / "COMMIT").write_text(f"{commit() or 'unknown'}\n")
        for name in PYTHON_SIDE:
            _copy(root / name, python / name)
        scripts = self._context / "scripts"
        for path in (root / "containers" / "scripts").iterdir():
            _copy(path, scripts / path.name)
        _write_pip_settings(scripts)
        for path in self._context.rglob("*"):
            os.utime(path, (epoch(), epoch()))

    def _call(self, definition: str, target: Path, arguments: Mapping[str, str]) -> None:
        """Let apptainer build an image. Only a complete image file gets its final name."""
        self._make_context()
        partial = target.with_suffix(".partial.sif")
        log = target.with_suffix(".log")
        command = [str(self._program), "build", "--force", "--mksquashfs-args", COMPRESSION]
        if os.geteuid() != 0:
            command.append("--fakeroot")
        common = {"images": self._folder, "context": self._context, "epoch": epoch()}
        text = definition_text(definition)
        called = target.with_suffix(".def")
        called.write_text(text, "utf-8")
        for name, value in {**common, **arguments}.items():
            if re.search(rf"^ +{name}=", text, re.MULTILINE):
                command += ["--build-arg", f"{name}={value}"]
        with log.open("w", encoding="utf-8") as output:
            answer = subprocess.run(
                [*command, str(partial), str(called)],
                cwd=paths.project_root(),
                env={**os.environ, EPOCH_VARIABLE: str(epoch())},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if answer.returncode != 0:
            partial.unlink(missing_ok=True)
            raise OnesidedError(f"{definition}.def was not built: {_reason(log)} (see {log})")
        partial.replace(target)


def _reason(log: Path) -> str:
    text = containers.without_colours(log.read_text("utf-8", errors="replace"))
    lines = [line for line in text.splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"(bake|verify|setup|E|FATAL|ERROR): ?", line)]
    return " ".join((told or lines or ["it wrote nothing"])[0].split())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target, follow_symlinks=False)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def files_of_checkout() -> Iterator[str]:
    """Yield the paths of the checkout's files that an image needs, relative to the checkout.

    Raises:
        OnesidedError: this is not a git checkout.
    """
    root = paths.project_root()
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        raise OnesidedError(f"{root}: found no git checkout; images are built from one")
    for name in sorted(set(listed.split("\0")) - {""}):
        if not LEFT_OUT.match(name) and (root / name).is_file():
            yield name


def epoch() -> int:
    """Return the time stamp for the files of an image: ``SOURCE_DATE_EPOCH``, or the commit's time.

    Raises:
        InputError: the value is not a number.
    """
    told = os.environ.get(EPOCH_VARIABLE)
    if told is None:
        return int((git("log", "-1", "--format=%ct") or "0").strip() or 0)
    if not told.isdigit():
        raise InputError(EPOCH_VARIABLE, None, repr(told), "seconds since 1970")
    return int(told)


def host_mirror() -> str:
    """Return the mirror of Debian's packages that this machine's apt uses.

    Raises:
        InputError: apt uses no mirror.
    """
    targets = "$(REPO_URI) $(ORIGIN) $(CODENAME)"
    told = answer("apt-get", "indextargets", "--format", targets) or ""
    for words in map(str.split, told.splitlines()):
        if words[1:2] == ["Debian"] and words[2:3] and words[2] in DEBIAN:
            return words[0]
    raise InputError("--mirror", None, "no mirror of Debian's in apt's settings", "--mirror URL")


def _write_pip_settings(folder: Path) -> None:
    """Write this machine's pip settings and certificates to a folder, for builds inside images."""
    told = answer(sys.executable, "-m", "pip", "config", "list") or ""
    settings = dict(re.findall(r"^(?:global|install|:env:)\.([\w-]+)='(.*)'$", told, re.M))
    lines = [f"{name} = {settings[name]}" for name in PIP_SETTINGS if name in settings]
    certificates = settings.get("cert") or os.environ.get("SSL_CERT_FILE")
    if certificates and Path(certificates).is_file():
        shutil.copyfile(certificates, folder / "certificates.pem")
        lines.append("cert = /opt/onesided-build/certificates.pem")
    (folder / "pip.conf").write_text("\n".join(["[global]", *lines]) + "\n")


def content(image: Path) -> dict[str, str]:
    """For each path in an image, return the kind, the mode, and the SHA-256 or link target.

    Raises:
        OnesidedError: there is no runtime, or the image cannot be run.
    """
    script = paths.project_root() / "containers" / "scripts" / "list_files.py"
    options = ["--contain", "--no-home", "--cleanenv"]
    enter = [containers.needed_runtime(), "--silent", *containers.exec_words(), *options]
    try:
        text = script.read_text("utf-8")
        told = ask([*enter, image, "python3", "-c", text], timeout_s=LIST_TIMEOUT_S)
    except ProgramError as fault:
        raise OnesidedError(f"{image}: not listed: {fault}") from fault
    return {path: what for path, what in json.loads(told).items() if path not in NOT_COMPARED}


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return one line for each path that differs between two images, in order.

    If only one of the two images has a folder, there is one line for the folder and no line for its
    content.
    """
    alone: set[str] = set()
    lines = []
    for path in sorted(first.keys() | second.keys()):
        inside = any(str(folder) in alone for folder in PurePosixPath(path).parents)
        if inside or first.get(path) == second.get(path):
            continue
        if path not in first or path not in second:
            alone.add(path)
        lines.append(f"{path}: {first.get(path, 'not there')} | {second.get(path, 'not there')}")
    return lines

"""Container images: what an image holds, and how a kernel is launched in it.

Launch models. *contained*: launcher and ranks in one container. *hybrid*: the host's launcher and
one container for each rank. *bind*: the same, with the host's MPI mounted over the image's.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.system import documents, paths
from onesided.system.errors import InputError, OnesidedError
from onesided.system.processes import ProgramError, ask

Document = dict[str, Any]

RUNTIME = "apptainer"
PROVIDER = "container"
CONTAINED, HYBRID, BIND = "contained", "hybrid", "bind"
ABI = "abi"
"""The image of kernels with the MPI ABI, and no MPI."""
OWN, SHARED = "own", "shared"
"""Namespaces of the containers of a launch: each has its own, or those of one launcher share
one."""

IMAGE_VARIABLE = "ONESIDED_IMAGE"
"""Set inside an image of this project: the file that says what the image holds."""
ROOT = Path("/opt/onesided")
"""Where the project is in every image."""
DOCUMENT = ROOT / "image.json"
MPI_MOUNT = ROOT / "mpi"
"""Where a host's MPI is mounted in the image without one."""
READ_TIMEOUT_S = 60.0


def inside() -> Path | None:
    """Return the document of the image that this process runs in, None outside."""
    declared = os.environ.get(IMAGE_VARIABLE)
    return Path(declared) if declared else None


def read_own() -> Document:
    """Return the contents of the image in which this process runs.

    Raises:
        InputError: this is no image of ours, or its document does not fit the schema.
    """
    path = inside()
    if path is None:
        expected = "the command to be called inside an image"
        raise InputError(IMAGE_VARIABLE, None, "not set", expected)
    return documents.read_json(path, "image")


def runtime() -> Path | None:
    """Return the program that runs images; None if there is none."""
    found = shutil.which(RUNTIME)
    return Path(found) if found else None


def needed_runtime() -> Path:
    """Return the program that runs images.

    Raises:
        OnesidedError: there is none.
    """
    found = runtime()
    if found is None:
        raise OnesidedError(f"found no {RUNTIME} in PATH (docs/containers.md)")
    return found


def runtime_version(program: Path) -> str:
    """Return the program's own version text, in one line."""
    return _ask([str(program), "--version"]).strip()


def image_file(name: str) -> Path:
    """Return the file of an image: ``onesided-<name>.sif`` in ``ONESIDED_IMAGES``, or in build."""
    return paths.images_dir() / f"onesided-{name}.sif"


def read(program: Path, image: Path) -> Document:
    """Return what an image holds.

    Raises:
        OnesidedError: it cannot be run, or is none of ours.
        InputError: its document does not fit the schema.
    """
    source = f"{image}: {DOCUMENT}"
    text = _ask([str(program), "--silent", *exec_words(), str(image), "cat", str(DOCUMENT)])
    return documents.parse_json(text, "image", source)


def _ask(command: Sequence[str]) -> str:
    try:
        return ask(command, timeout_s=READ_TIMEOUT_S)
    except ProgramError as fault:
        plain = without_colours(str(fault))
        raise OnesidedError(f"{Path(command[0]).name}: {plain}") from fault


def without_colours(text: str) -> str:
    """Return a text without a terminal's sequences for colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def exec_words() -> list[str]:
    """Return ``exec``, with the option that a caller who is root needs."""
    # root in a sandbox may lack a capability that apptainer asks for unless it makes a namespace
    return ["exec", "--userns"] if os.geteuid() == 0 else ["exec"]


def exec_options(environment: Mapping[str, Any]) -> list[str]:
    """Return the options of ``apptainer exec`` for an environment's document."""
    container = environment["container"]
    options = exec_words()[1:]
    if container["namespaces"] == SHARED:
        options.append("--sharens")
    for bind in container["binds"]:
        options += ["--bind", bind]
    for name, value in container["variables"].items():
        options += ["--env", f"{name}={value}"]
    return options


def is_entered(environment: Mapping[str, Any]) -> bool:
    """Tell whether a launch has to enter a container: not if this process is already in it."""
    return environment["container"] is not None and inside() is None


def launches_inside(environment: Mapping[str, Any]) -> bool:
    """Tell whether the program to start is a container with launcher and ranks in it."""
    return environment["launch_model"] == CONTAINED and is_entered(environment)


def command(
    environment: Mapping[str, Any], launcher: Sequence[str], program: Sequence[str], folder: Path
) -> list[str]:
    """Return the words that launch a program, natively or by the document's launch model.

    Args:
        environment: the document.
        launcher: the MPI's launcher with its options.
        program: the kernel with its options.
        folder: the working folder, seen by the same name inside.
    """
    if not is_entered(environment):
        return [*launcher, *program]
    image = environment["container"]["image"]
    here = ["--bind", str(folder), "--pwd", str(folder)]
    enter = [RUNTIME, "--silent", "exec", *here, *exec_options(environment), image]
    if launches_inside(environment):
        return [*enter, *launcher, *program]
    return [*launcher, *enter, *program]

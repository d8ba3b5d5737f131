"""Container images: which MPIs and kernels they contain, and how to launch a kernel in a container.

There are three launch models. In the model *contained*, the launcher and the ranks are in one
container. In the model *hybrid*, the host's launcher starts one container for each rank. The model
*bind* is like *hybrid*, but the host's MPI is mounted over the image's MPI.
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
"""The name of the image that has kernels for the MPI ABI, but no MPI."""
OWN, SHARED = "own", "shared"
"""Each container of a launch has namespaces of its own (`own`), or containers with the same
launcher share their namespaces (`shared`)."""

IMAGE_VARIABLE = "ONESIDED_IMAGE"
"""The environment variable with the path of the document that describes an image. Every image of
this project sets this variable."""
ROOT = Path("/opt/onesided")
"""The folder in which every image contains this project."""
DOCUMENT = ROOT / "image.json"
MPI_MOUNT = ROOT / "mpi"
"""The folder where a host's MPI is mounted in the image without an MPI."""
READ_TIMEOUT_S = 60.0


def inside() -> Path | None:
    """Return the path of this process's image document; None if the process is in no image."""
    declared = os.environ.get(IMAGE_VARIABLE)
    return Path(declared) if declared else None


def read_own() -> Document:
    """Read the document that describes the image in which this process runs.

    Raises:
        InputError: this is not an image of this project, or the document does not fit the schema.
    """
    path = inside()
    if path is None:
        expected = "the command to be called inside an image"
        raise InputError(IMAGE_VARIABLE, None, "not set", expected)
    return documents.read_json(path, "image")


def runtime() -> Path | None:
    """Return the path of apptainer, which runs images; None if it is not on PATH."""
    found = shutil.which(RUNTIME)
    return Path(found) if found else None


def needed_runtime() -> Path:
    """Return the path of apptainer, which runs images.

    Raises:
        OnesidedError: there is no such program.
    """
    found = runtime()
    if found is None:
        raise OnesidedError(f"found no {RUNTIME} in PATH (docs/containers.md)")
    return found


def runtime_version(program: Path) -> str:
    """Return the version of apptainer, as one line of text."""
    return _ask([str(program), "--version"]).strip()


def image_file(name: str) -> Path:
    """Return the path of an image: ``onesided-<name>.sif`` in ``ONESIDED_IMAGES`` or ``build``."""
    return paths.images_dir() / f"onesided-{name}.sif"


def read(program: Path, image: Path) -> Document:
    """Read an image's document, which is a file inside the image.

    Raises:
        OnesidedError: the image cannot be run, or is not an image of this project.
        InputError: the image's document does not fit the schema.
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
    """Return a text without a terminal's colour sequences."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def exec_words() -> list[str]:
    """Return apptainer's command ``exec``, with the option ``--userns`` if the user is root."""
    # without a user namespace, apptainer needs a capability that root in a sandbox may lack
    return ["exec", "--userns"] if os.geteuid() == 0 else ["exec"]


def exec_options(environment: Mapping[str, Any]) -> list[str]:
    """Return the options of ``apptainer exec`` that an environment needs."""
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
    """Tell whether a launch has to start containers; False if this process is in a container."""
    return environment["container"] is not None and inside() is None


def launches_inside(environment: Mapping[str, Any]) -> bool:
    """Tell whether a launch starts one container that contains both the launcher and the ranks."""
    return environment["launch_model"] == CONTAINED and is_entered(environment)


def command(
    environment: Mapping[str, Any], launcher: Sequence[str], program: Sequence[str], folder: Path
) -> list[str]:
    """Return the command that launches a program, in containers if the environment has an image.

    `launcher` and `program` include their options. The working folder, `folder`, has the same name
    inside the container.
    """
    if not is_entered(environment):
        return [*launcher, *program]
    image = environment["container"]["image"]
    here = ["--bind", str(folder), "--pwd", str(folder)]
    enter = [RUNTIME, "--silent", "exec", *here, *exec_options(environment), image]
    if launches_inside(environment):
        return [*enter, *launcher, *program]
    return [*launcher, *enter, *program]

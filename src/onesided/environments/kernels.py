"""Where the kernels of an environment are, and how to build and run a kernel by hand."""

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from onesided.environments import containers, fingerprint, libraries, settings
from onesided.system import cores, paths, strays
from onesided.system.command import exports, path_first
from onesided.system.errors import EXIT_BAD_INPUT, InputError, OnesidedError

PLACEMENT = "unbound"
THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")
LAUNCH_MARKER = "ONESIDED_LAUNCH"
"""The environment variable that marks all processes of a launch. With this variable, ranks that
outlive their launcher can be found."""
CHOICE_VARIABLE = "ONESIDED_KERNELS"
"""The environment variable that lists the kernels to build, separated by commas. If the variable is
not set, ReFrame builds all kernels. A session needs only a few kernels, but ReFrame builds kernels
before it knows which kernels the session needs."""
LAST_WORDS = 2000
"""The error message of a failed build contains at most this many characters, from the end of the
build's output."""


def build_script() -> Path:
    """Return the path of the script that builds and installs kernels with one compiler."""
    return paths.project_root() / "reframe_checks" / "build_kernels.sh"


def sources() -> Path:
    """Return the folder with the source files of all kernels."""
    return paths.project_root() / "src" / "kernels"


def names(library: str = libraries.MPI) -> list[str]:
    """Return the names of all kernels for a library; the executables have the same names."""
    return list(libraries.kernels(sources(), library))


def chosen(library: str) -> list[str]:
    """Return a library's kernels that `CHOICE_VARIABLE` lists; by default, all kernels."""
    asked = os.environ.get(CHOICE_VARIABLE)
    return [name for name in names(library) if not asked or name in asked.split(",")]


def prefix_of(environment: Mapping[str, Any], thread_level: str = "single") -> Path:
    """Return the folder of an environment's kernels, whose executables are ``bin/<kernel>``.

    If CMake builds the kernels, the folder's name contains hashes of the sources and the
    environment. Therefore a session uses the kernels that an earlier session built, but kernels
    with changed sources are built again. `thread_level` matters if a provider delivers kernels for
    each level.
    """
    delivered = environment["kernels_prefix"]
    if delivered:
        return Path(delivered[thread_level])
    state = f"{fingerprint.kernels_state()}-{environment['declaration_digest'][:8]}"
    return paths.build_dir() / "kernels" / environment["name"] / state


def build_command(
    environment: Mapping[str, Any], prefix: Path, kernels: Sequence[str]
) -> list[str]:
    """Return the command that builds the given kernels of an environment into a folder."""
    words = ("sh", build_script(), sources(), prefix, environment["compilers"]["c"])
    return [*map(str, words), environment["library"], *kernels]


def build(environment: Mapping[str, Any], wanted: Sequence[str] | None = None) -> Path:
    """Build missing kernels of an environment; return the folder with all its kernels.

    `wanted` lists names of kernels; by default, all kernels of the environment's library.

    Raises:
        OnesidedError: the build failed; the last lines of its output say why.
    """
    prefix = prefix_of(environment)
    if environment["kernels_prefix"]:
        return prefix
    command = build_command(environment, prefix, wanted or names(environment["library"]))
    answer = subprocess.run(
        command, env=variables(environment), capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        said = (answer.stdout + answer.stderr)[-LAST_WORDS:]
        raise OnesidedError(f"{environment['name']}: the kernels do not build: {said}")
    return prefix


def variables(environment: Mapping[str, Any], setting: str = settings.DEFAULT) -> dict[str, str]:
    """Return the environment variables with which programs run under an MPI and a setting.

    Raises:
        InputError: the setting is unavailable for the environment's family.
    """
    value = settings.value(setting, environment["family"], environment["version"])
    if value.unavailable:
        expected = f"a setting that {environment['name']} has"
        raise InputError("--setting", setting, value.unavailable, expected)
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    if environment["launcher"]["path"]:
        programs.insert(0, str(Path(environment["launcher"]["path"]).parent))
    path = {"PATH": os.pathsep.join(programs)}
    return {**os.environ, **environment["variables"], **path, **value.variables}


def shell_lines(environment: Mapping[str, Any]) -> list[str]:
    """Return the shell lines that a script needs to compile and launch with an environment."""
    lines = exports(environment["variables"])
    launcher = environment["launcher"]["path"]
    # if the launcher is in an image, it is called by its path in the image
    if launcher and not containers.launches_inside(environment):
        lines.append(path_first(Path(launcher).parent))
    return lines


def launch_line(
    environment: Mapping[str, Any], kernel: str, options: Sequence[str], ranks: int = 2
) -> list[str]:
    """Return the command line that launches a kernel on some ranks under an MPI.

    If the MPI is in a container, the current working folder is visible in the container.
    """
    launcher = environment["launcher"]
    room = launcher["oversubscribe"] if ranks > cores.usable() else []
    program = str(prefix_of(environment) / "bin" / kernel)
    places = launcher["placement"][PLACEMENT]
    starter = [launcher["path"], "-n", str(ranks), *places, *room]
    return containers.command(environment, starter, [program, *options], Path.cwd())


def check_options(
    environment: Mapping[str, Any],
    variables: Mapping[str, str],
    kernel: str,
    options: Sequence[str],
) -> list[str]:
    """Return the cells that a kernel runs with the given options. No launcher is started.

    Raises:
        OnesidedError: the kernel does not accept the options; the message is the kernel's line, and
            the exit code is the code of bad input.
    """
    program = str(prefix_of(environment) / "bin" / kernel)
    line = containers.command(environment, [], [program, "--list-cells", *options], Path.cwd())
    answer = subprocess.run(
        line, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if answer.returncode == EXIT_BAD_INPUT:
        fault = OnesidedError(answer.stderr.strip() or f"{kernel} does not take {options}")
        fault.exit_code = EXIT_BAD_INPUT
        raise fault
    return answer.stdout.splitlines()


def launch(
    line: Sequence[str],
    variables: Mapping[str, str],
    timeout_s: float,
    *,
    quiet: bool = False,
    errors: IO[bytes] | None = None,
) -> int:
    """Run the command line of a launch until it ends; return the launcher's exit status.

    `line` and `variables` are results of `launch_line` and of the function `variables`. After
    `timeout_s`, the launcher and its ranks are ended. If `quiet` is true, the output of the ranks
    is dropped. `errors` is a file for what the ranks write to standard error.

    Raises:
        OnesidedError: the launch took longer than `timeout_s`.
    """
    marker = uuid.uuid4().hex
    output = subprocess.DEVNULL if quiet else None
    try:
        answer = subprocess.run(
            line,
            env={
                **variables,
                LAUNCH_MARKER: marker,
                cores.LAUNCHER_VARIABLE: cores.launcher_value(),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output if errors is None else errors,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as fault:
        raise OnesidedError(f"timed out after {timeout_s:.0f} s") from fault
    finally:
        strays.end_processes(LAUNCH_MARKER, marker)
        strays.end_mounts(paths.images_dir())
    return answer.returncode

"""Two commands inside an image: `bake` when the image is built, `launch` when an app is run.

The commands are ``python -m onesided.environments.inside bake IMAGE ENVIRONMENT...`` and
``python -m onesided.environments.inside launch KERNEL [OPTION...]``.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from onesided.environments import containers, fingerprint, kernels, provision
from onesided.system import documents, paths, writing
from onesided.system.errors import InputError, OnesidedError

SCHEMA = "onesided/image/1"
ABI_COMPILER = "bin/mpicc_abi"
#: The folder of the kernels that were built with the MPI ABI.
ABI_KERNELS = containers.ROOT / "kernels"
ENVIRONMENT_VARIABLE = "ONESIDED_ENVIRONMENT"
RANKS_VARIABLE = "ONESIDED_RANKS"
#: Files below the folders of environments and of kernels that are removed, because they differ from
#: build to build: logs, locks, and the files of the probe.
TRACES = (
    *("*/*.log", "*/lock", "*/*.lock", "*/requirements.txt", "*/environment.json"),
    *("*/probe", "*/*.work"),
)


def bake(image: str, *names: str) -> int:
    """Install MPIs in an image, build their kernels, and write the image's document.

    The command `bake` runs in the first build stage of an image. The result is 0, or 1 if an MPI is
    missing; then a message says why.
    """
    os.environ.pop(containers.IMAGE_VARIABLE, None)
    found = provision.provide_all(names)
    missing = [f"{one['name']}: {one['reason']}" for one in found if one["status"] != "ready"]
    if missing:
        print(f"bake: {'; '.join(missing)}", file=sys.stderr)
        return 1
    lock = paths.project_root() / "requirements.lock"
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "name": image,
        "commit": (paths.project_root() / "COMMIT").read_text("utf-8").strip(),
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest(),
        "kernel_source_state": fingerprint.kernels_state(),
        "environments": {},
        "abi": None,
    }
    if image == containers.ABI:
        document["abi"] = _build_with_abi(Path(found[0]["prefix"]))
    else:
        document["environments"] = {one["name"]: _with_kernels(one) for one in found}
    documents.check(document, "image", containers.DOCUMENT)
    writing.write_json(containers.DOCUMENT, document)
    _remove_traces()
    return 0


def _with_kernels(environment: dict[str, Any]) -> dict[str, Any]:
    prefix = str(kernels.build(environment))
    return {**environment, "kernels_prefix": dict.fromkeys(kernels.THREAD_LEVELS, prefix)}


def _build_with_abi(mpi: Path) -> dict[str, str]:
    """Build kernels with the MPI ABI, which load the MPI that is mounted at `MPI_MOUNT`."""
    subprocess.run(
        ["sh", kernels.build_script(), kernels.sources(), ABI_KERNELS, mpi / ABI_COMPILER],
        check=True,
    )
    for program in (ABI_KERNELS / "bin").iterdir():
        # an RPATH, as in every build, because LD_LIBRARY_PATH does not override an RPATH
        rpath = ["--force-rpath", "--set-rpath", containers.MPI_MOUNT / "lib"]
        subprocess.run(["patchelf", *rpath, program], check=True)
    shutil.rmtree(paths.environments_dir())
    containers.MPI_MOUNT.mkdir()
    return {"kernels_prefix": str(ABI_KERNELS), "mount": str(containers.MPI_MOUNT)}


def _remove_traces() -> None:
    found = [ABI_KERNELS.with_suffix(".work")]
    for folder in (paths.environments_dir(), paths.build_dir() / "kernels"):
        found += [path for pattern in TRACES for path in folder.glob(pattern)]
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def launch(kernel: str, *options: str) -> int:
    """Launch a kernel in place of this process. Environment variables choose MPI and ranks.

    Raises:
        InputError: a variable has a wrong value.
    """
    held = containers.read_own()["environments"]
    name = os.environ.get(ENVIRONMENT_VARIABLE) or next(iter(held))
    if name not in held:
        raise InputError(ENVIRONMENT_VARIABLE, None, repr(name), f"one of {', '.join(held)}")
    ranks = os.environ.get(RANKS_VARIABLE, "2")
    if not ranks.isdigit() or int(ranks) == 0:
        raise InputError(RANKS_VARIABLE, None, repr(ranks), "a number of ranks")
    line = kernels.launch_line(held[name], kernel, options, int(ranks))
    os.execve(line[0], line, kernels.variables(held[name]))


if __name__ == "__main__":
    try:
        sys.exit({"bake": bake, "launch": launch}[sys.argv[1]](*sys.argv[2:]))
    except OnesidedError as fault:
        print(f"onesided: {fault}", file=sys.stderr)
        sys.exit(fault.exit_code)

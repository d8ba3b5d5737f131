"""In an image's first stage: install its MPIs, build their kernels, write the image's document.

containers/scripts/build.sh calls it as ``python -m onesided.environments.containers.bake IMAGE
ENVIRONMENT...``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from onesided.environments import containers, kernels, provision
from onesided.system import documents, fingerprint, paths, writing

SCHEMA = "onesided/image/1"
ABI_COMPILER = "bin/mpicc_abi"
#: Where kernels that were built with the MPI ABI are.
ABI_KERNELS = containers.ROOT / "kernels"


def main(image: str, *names: str) -> int:
    """Bake the MPIs of these names into the image; return 1, with the reason, if one is missing."""
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
    """Build the kernels by an MPI's ABI compiler; they look for a library where one is mounted."""
    subprocess.run(
        ["sh", kernels.build_script(), kernels.sources(), ABI_KERNELS, mpi / ABI_COMPILER],
        check=True,
    )
    for program in (ABI_KERNELS / "bin").iterdir():
        # an RPATH, as in every build: LD_LIBRARY_PATH does not override it
        rpath = ["--force-rpath", "--set-rpath", containers.MPI_MOUNT / "lib"]
        subprocess.run(["patchelf", *rpath, program], check=True)
    shutil.rmtree(paths.environments_dir())
    containers.MPI_MOUNT.mkdir()
    return {"kernels_prefix": str(ABI_KERNELS), "mount": str(containers.MPI_MOUNT)}


def _remove_traces() -> None:
    """Remove what differs from build to build: logs, locks, what the probe left."""
    for folder in (paths.environments_dir(), paths.build_dir() / "kernels"):
        for pattern in (
            "*/*.log",
            "*/lock",
            "*/*.lock",
            "*/requirements.txt",
            "*/environment.json",
        ):
            for path in folder.glob(pattern):
                path.unlink()
        for pattern in ("*/probe", "*/*.work"):
            for path in folder.glob(pattern):
                shutil.rmtree(path)
    shutil.rmtree(ABI_KERNELS.with_suffix(".work"), ignore_errors=True)


if __name__ == "__main__":
    os.environ.pop(containers.IMAGE_VARIABLE, None)
    sys.exit(main(*sys.argv[1:]))

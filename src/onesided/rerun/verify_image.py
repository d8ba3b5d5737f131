"""The ``%test`` of a container image: two ranks run a kernel with each MPI and verify its data.

The image calls this module as ``python -m onesided.rerun.verify_image``. In the image that has no
MPI, this module checks that the kernels lack exactly one library: the library of the MPI ABI.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from onesided.campaign import records
from onesided.environments import containers, kernels
from onesided.system.errors import OnesidedError

KERNEL = "shared_counter"
RANKS = 2
TIMEOUT_S = 120.0
ABI_LIBRARY = "libmpi_abi.so.1"


def main() -> int:
    """Verify every MPI of the image; print a line for each; return 1 at the first failure."""
    os.environ.setdefault(containers.IMAGE_VARIABLE, str(containers.DOCUMENT))
    image = containers.read_own()
    try:
        for environment in image["environments"].values():
            print(_verify(environment), flush=True)
        if image["abi"]:
            print(_verify_abi(Path(image["abi"]["kernels_prefix"])), flush=True)
    except OnesidedError as fault:
        print(f"verify: {fault}", file=sys.stderr)
        return 1
    return 0


def _verify(environment: dict[str, Any]) -> str:
    """Launch a kernel on two ranks with an MPI; return a line that says what was verified.

    Raises:
        OnesidedError: another library ran, the number of ranks or the data is wrong, or a cell did
            not end.
    """
    name = environment["name"]
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "lines.jsonl")
        line = kernels.launch_line(environment, KERNEL, ["--output", str(lines)], RANKS)
        status = kernels.launch(line, kernels.variables(environment), TIMEOUT_S, quiet=True)
        launch = records.read_launch(lines, Path(folder, "none"))
    if len(launch.headers) != 1:
        raise OnesidedError(f"{name}: found {len(launch.headers)} headers, expected one: {status=}")
    [header] = launch.headers
    if header["ranks"] != RANKS:
        raise OnesidedError(f"{name}: found a world of {header['ranks']} ranks, expected {RANKS}")
    if not re.search(environment["library_version_pattern"], header["mpi"]["library_version"]):
        found = header["mpi"]["library_version"]
        raise OnesidedError(f"{name}: ran with {found}, expected {environment['library_version']}")
    wrong = [cell for cell in header["cells"] if _status(launch, cell) != records.OK]
    # if the probe found a crash in the library's last call, the crash is also here, after all cells
    ended = launch.finished or environment["teardown"] is not None
    if wrong or not ended:
        raise OnesidedError(f"{name}: not verified: {wrong or 'the launch did not finish'}")
    return f"{name}: {RANKS} ranks in a world, {len(header['cells'])} cells verified"


def _status(launch: records.Launch, cell: str) -> str | None:
    return launch.results[cell]["status"] if cell in launch.results else None


def _verify_abi(prefix: Path) -> str:
    """Check that the kernels lack only the library of the MPI ABI; return a line that says so.

    Raises:
        OnesidedError: another library is missing, or none is missing.
    """
    programs = sorted((prefix / "bin").iterdir())
    for program in programs:
        answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        missing = re.findall(r"^\s*(\S+) => not found", answer.stdout, re.MULTILINE)
        if missing != [ABI_LIBRARY]:
            raise OnesidedError(f"{program}: lacks {missing}, expected {ABI_LIBRARY} alone")
    return f"{len(programs)} kernels lack {ABI_LIBRARY}, which a host's MPI has, and nothing else"


if __name__ == "__main__":
    sys.exit(main())

"""In an image, as its apps: a bare kernel on a few ranks of one MPI, and its own exit status.

Called as ``python -m onesided.environments.containers.launch KERNEL [OPTION...]``.
"""

from __future__ import annotations

import os
import sys

from onesided.environments import containers, kernels
from onesided.system.errors import InputError, OnesidedError

ENVIRONMENT_VARIABLE = "ONESIDED_ENVIRONMENT"
RANKS_VARIABLE = "ONESIDED_RANKS"


def main(kernel: str, *options: str) -> int:
    """Become the launcher of the kernel; return 2 where a variable is at fault."""
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
        sys.exit(main(*sys.argv[1:]))
    except OnesidedError as fault:
        print(f"onesided: {fault}", file=sys.stderr)
        sys.exit(fault.exit_code)

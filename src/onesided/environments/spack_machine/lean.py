"""Which packages a concretisation need not think of: parts of externals, and what replaces them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from onesided.system.command import one_line
from onesided.system.errors import OnesidedError
from onesided.system.processes import ProgramError, ask

TIMEOUT_S = 300
#: What the kernels themselves ask for: Spack need not weigh building another provider either.
VIRTUALS = ("c", "cxx", "fortran", "mpi")
#: Run by Spack's own Python: its commands give the dependencies of one package at a time. To say
#: that a virtual package is not to be built leaves all its providers to be weighed.
ASKS = """\
import json, sys
import spack.repo
packages, virtuals = (text.split(",") for text in sys.argv[1:])
found = set(virtuals)
for name in packages:
    found |= set(spack.repo.PATH.get_pkg_class(name).dependency_names())
for name in sorted(found):
    if spack.repo.PATH.is_virtual(name):
        found |= {provider.name for provider in spack.repo.PATH.providers_for(name)}
        found.remove(name)
print("ONESIDED", json.dumps(sorted(found)))
"""


def not_to_build(spack: Path, packages: Iterable[str]) -> list[str]:
    """Return what Spack would otherwise weigh building for some packages.

    Args:
        spack: its command.
        packages: those that have externals.

    Returns:
        The names of their direct dependencies, and of the other MPIs and compilers there are.

    Raises:
        OnesidedError: Spack does not know one of them, or does not answer.
    """
    known = sorted(packages)
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="onesided-") as script:
        script.write(ASKS)
        script.flush()
        words = [spack, "python", script.name, ",".join(known), ",".join(VIRTUALS)]
        try:
            said = ask(words, timeout_s=TIMEOUT_S)
        except ProgramError as fault:
            raise OnesidedError(f"{spack} python: {fault}") from fault
    answers = [line for line in said.splitlines() if line.startswith("ONESIDED ")]
    if not answers:
        raise OnesidedError(f"{spack} python: no answer: {one_line(said) or 'it said nothing'}")
    names = set(json.loads(answers[-1].removeprefix("ONESIDED ")))
    return sorted(names - set(known))

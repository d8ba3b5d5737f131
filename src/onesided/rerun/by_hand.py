"""Some cells of a kernel launched by hand: an MPI that is ready, and the kernel's options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from onesided.campaign import grid
from onesided.environments import kernels, provision
from onesided.system.errors import OnesidedError


def ready(environment: str, kernel: str) -> Mapping[str, Any]:
    """Provide an environment and build one of its kernels; return the environment's document.

    Raises:
        InputError: the environment is not declared.
        OnesidedError: the MPI is unavailable, or the kernel does not build.
    """
    [document] = provision.provide_all([environment])
    if document["status"] != "ready":
        raise OnesidedError(f"{environment}: unavailable: {document['reason']}")
    kernels.build(document, [kernel])
    return document


def cell_options(cells: Iterable[Mapping[str, str]]) -> list[str]:
    """Return a kernel's options that ask for some cells, from the labels of each."""
    blocks = (grid.block_option({axis: [value] for axis, value in one.items()}) for one in cells)
    return [word for block in blocks for word in ("--cells", block)]

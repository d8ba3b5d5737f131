"""Choose the numbers of ranks with which a check runs, and tell whether threads share cores.

A campaign's ``ranks`` and a partition's extra ``ranks`` are each a list of numbers or a mapping
with some of the entries below. An entry of the campaign replaces the partition's entry.

- ``list`` has the numbers of ranks.
- ``powers_of_two_up_to`` stands for 2, 4, 8, … up to a number. In ``ranks``, the word ``cores`` in
  place of a number means the number of cores of all nodes of a job.
- ``max`` is a limit: greater numbers of ranks are left out, even if a check has them by default.
- ``per_node`` is the largest number of ranks on a node.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VARIABLE = "ONESIDED_RANKS"
"""The environment variable that gives the campaign's ``ranks`` to the checks, as JSON."""

CORES = "cores"

Asked = Mapping[str, Any]


@dataclass(frozen=True)
class Nodes:
    """The nodes of a job.

    Attributes:
        cores: the cores of a node.
        per_node: the most ranks that a node gets; None: one node gets all ranks.
        number: the largest number of nodes of a job. None: one node if `per_node` is None;
            otherwise not known.
    """

    cores: int
    per_node: int | None = None
    number: int | None = None

    def ranks_of_one(self, ranks: int) -> int:
        """Return how many ranks of a launch are on the node with the most ranks."""
        return ranks if self.per_node is None else min(ranks, self.per_node)

    def load(self, ranks: int, helpers: int = 0, threads: int = 1) -> float:
        """Return the threads per core on the node with the most ranks.

        If the result is above 1, threads share cores. `helpers` are further threads or processes on
        the node: a helper, a server, a ghost process. `threads` are the threads of each rank.
        """
        return (self.ranks_of_one(ranks) * threads + helpers) / self.cores

    @property
    def all_cores(self) -> int:
        """The number of cores of all nodes, or of one node if the number of nodes is not known."""
        return self.cores * (self.number or 1)


def entries(said: Sequence[int] | Asked | None) -> dict[str, Any]:
    """Return the given ``ranks`` as a mapping, in which a list becomes the entry ``list``."""
    if said is None:
        return {}
    return dict(said) if isinstance(said, Mapping) else {"list": list(said)}


def of_campaign() -> dict[str, Any]:
    """Return the ``ranks`` of the campaign that runs the checks; empty without a campaign."""
    return entries(json.loads(os.environ.get(VARIABLE) or "null"))


def merged(partition: Asked, campaign: Asked) -> dict[str, Any]:
    """Merge the campaign's ``ranks`` into the partition's; the campaign's entries have priority."""
    sources = ("list", "powers_of_two_up_to")
    if any(name in campaign for name in sources):
        partition = {name: value for name, value in partition.items() if name not in sources}
    return {**partition, **campaign}


def numbers(asked: Asked, default: Iterable[int], nodes: Nodes) -> list[int]:
    """Return the numbers of ranks with which a check runs, in ascending order.

    `default` has the check's own numbers, which are used if `asked` has no numbers.
    """
    found = set(asked.get("list", ()))
    if "powers_of_two_up_to" in asked:
        most = asked["powers_of_two_up_to"]
        most = nodes.all_cores if most == CORES else most
        found |= {2**power for power in range(1, most.bit_length())}
    most = asked.get("max", math.inf)
    return sorted(number for number in found or set(default) if number <= most)


def reason_against(ranks: int, least: int, most: int | None, multiple_of: int) -> str | None:
    """Return why a check cannot run with a number of ranks; None if the check can run.

    A check can run with the multiples of `multiple_of` from `least` to `most`; if `most` is None,
    there is no upper limit.
    """
    if least <= ranks and (most is None or ranks <= most) and ranks % multiple_of == 0:
        return None
    if most == least:
        expected = f"{least}"
    elif most is None:
        expected = f"{least} or more"
    else:
        expected = f"{least} to {most}"
    if multiple_of > 1:
        expected += f", a multiple of {multiple_of}"
    return f"found {ranks} ranks; expected {expected}"


def fewer_the_more_crowded(full: int, crowded: int, least: int, load: float) -> int:
    """Return how often a measurement is repeated: less often if threads share a core.

    The number is `full` with a core for each thread, and `crowded` if two threads share a core. The
    number is never below `least`, however many threads share a core. `load` is the number of
    threads per core (`Nodes.load`).
    """
    if load <= 1:
        return full
    return max(least, crowded - max(0, math.ceil(math.log2(load)) - 1))

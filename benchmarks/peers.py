"""Compare the harness with other benchmarks: the same operation, measured by both.

    python benchmarks/peers.py
    OSU_HOME=/opt/osu/{environment} python benchmarks/peers.py --environment mpich-5.0.2 --minutes 5

One-sided operations are in one_sided.py, messages in messages.py: each file says what the programs
have in common, and how they differ. All programs run under the same MPI, one after the other. Their
order changes from pair to pair, so that the machine disturbs all programs alike. A disturbance
changes a mean at once: 20,000 operations take some 5 ms, and a tick of the scheduler (4 ms at 250
Hz) for another process adds 0.2 us to each operation. So a pair waits until the processors are
idle, a minute at most. If they never were idle, the pair is marked `busy`.

The ratio of a pair is ours over the other's; the page has the median of the pairs with its
interval. Pairs are added until each interval reaches no further than 3 % from its median, or until
the requested number of pairs or of minutes is reached. The page says for each ratio which of these
came first. The page is `peers/index.html` below the results; it has all environments that were ever
compared. Each pair is kept as soon as it is whole: a later call with the same programs and library
adds pairs.

Exit code 1 if a program failed, 2 for bad input.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import messages
import one_sided
import peers_page
from launches import LAUNCH_TIMEOUT_S, Mpi, wait_for_quiet
from one_sided import Program

from onesided.environments import fingerprint
from onesided.measure.statistics import INTERVAL, median_interval
from onesided.system import documents, paths, writing
from onesided.system.errors import InputError, OnesidedError

ENVIRONMENTS = ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1")
NEAR_ENOUGH = 0.03
"""The largest distance of an interval from its median, as a share of the median."""

MOST_PAIRS, MOST_MINUTES = 60, 8.0


@dataclass(frozen=True)
class Peer:
    """Operations that our kernels and other programs measure.

    Attributes:
        kernels: our kernels.
        ours: launches them.
        programs: returns the other programs by name.
    """

    kernels: Sequence[str]
    ours: Program
    programs: Callable[[Mpi], Mapping[str, Program]]


PEERS: Mapping[str, Peer] = {
    "one_sided": Peer([one_sided.KERNEL], one_sided.our_means_us, one_sided.programs),
    "messages": Peer(messages.KERNELS_OF_OURS, messages.our_means_us, messages.programs),
}


@dataclass
class Pairs:
    """The measured times in microseconds, one value for each pair, by program and operation."""

    ours: dict[str, list[float]] = field(default_factory=dict)
    theirs: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of pairs."""
        return max(map(len, self.ours.values()), default=0)

    def add(self, measured: Mapping[str, Mapping[str, float]], ours: str) -> None:
        """Add a pair: the means of all programs."""
        for operation, mean in measured[ours].items():
            self.ours.setdefault(operation, []).append(mean)
        for program, means in measured.items():
            if program != ours:
                of_program = self.theirs.setdefault(program, {})
                for operation, mean in means.items():
                    of_program.setdefault(operation, []).append(mean)

    def ratios(self) -> dict[tuple[str, str], list[float]]:
        """Return the ratios, ours over the other's, by program and operation."""
        return {
            (program, operation): peers_page.ratios_of(self.ours[operation], values)
            for program, means in self.theirs.items()
            for operation, values in means.items()
        }

    def told(self) -> list[bool]:
        """Return for each ratio whether its interval is narrow enough."""
        return [is_narrow(values) for values in self.ratios().values()]


def is_narrow(ratios: Sequence[float]) -> bool:
    """Return whether the interval of the median is narrow enough."""
    interval = median_interval(ratios)
    reach = max(interval.high - interval.value, interval.value - interval.low)
    return interval.kind == INTERVAL and reach <= NEAR_ENOUGH * interval.value


OURS = "onesided"
#: Files of this folder that decide what a pair measures.
MEASURING = ("launches.py", "messages.py", "one_sided.py", "plain_loop.c", "same_elements.c")


def measured_with(mpi: Mpi, peer: Peer, programs: Iterable[str]) -> str:
    """Return a fingerprint of all that pairs depend on: pairs with another are not pooled."""
    here = Path(__file__).parent
    inputs = {
        "library_version": mpi.document["library_version"],
        "kernels": {name: fingerprint.kernel_source_state(name) for name in peer.kernels},
        "benchmarks": fingerprint.of_files([here / name for name in MEASURING], here),
        "programs": sorted(programs),
    }
    return fingerprint.of_document(inputs)[: fingerprint.DIGITS]


def kept_pairs(path: Path, measured: str) -> Pairs:
    """Return the pairs of an earlier run that new pairs may be added to.

    Args:
        path: of the earlier document, if any.
        measured: the fingerprint of the new pairs.

    Raises:
        InputError: the document has another schema.
    """
    if not path.exists():
        return Pairs()
    document = documents.read_json(path, peers_page.SCHEMA_NAME)
    if document.get("measured_with") != measured:
        return Pairs()
    return Pairs(document["ours_us"], document["theirs_us"])


def measure(
    mpi: Mpi, programs: Mapping[str, Program], pairs: Pairs, most_pairs: int, most_minutes: float
) -> Iterator[str]:
    """Add pairs until their ratios are decided; after each pair, say why it was the last, if so."""
    begin, told = time.monotonic(), pairs.told()
    while pairs.count < most_pairs and not (told and all(told)):
        note = "" if wait_for_quiet() else ", busy"
        first = pairs.count % len(programs)
        order = [*programs][first:] + [*programs][:first]
        pairs.add({name: programs[name](mpi) for name in order}, OURS)
        told = pairs.told()
        print(f"pair {pairs.count}{note}: {sum(told)} of {len(told)} ratios told", flush=True)
        if all(told):
            yield f"each within {NEAR_ENOUGH:.0%} after {pairs.count} pairs"
        elif time.monotonic() - begin > 60 * most_minutes:
            yield f"{pairs.count} pairs, for {most_minutes:g} minutes were over"
            return
        else:
            yield f"{pairs.count} pairs" if pairs.count == most_pairs else "it was broken off"


def compare(name: str, peer_name: str, most_pairs: int, most_minutes: float) -> None:
    """Compare under one MPI; write the result below the results, for the page."""
    peer = PEERS[peer_name]
    mpi = Mpi.of(name, peer.kernels)
    print(f"{name}, {peer_name}", flush=True)
    programs = {OURS: peer.ours, **peer.programs(mpi)}
    if len(programs) == 1:
        print("found no program to compare with", flush=True)
        return
    path = folder() / f"{name}-{peer_name}.json"
    measured = measured_with(mpi, peer, programs)
    pairs = kept_pairs(path, measured)
    if pairs.count:
        print(f"kept of an earlier run: {pairs.count} pairs", flush=True)
    for end in measure(mpi, programs, pairs, most_pairs, most_minutes):
        document = {
            "schema": peers_page.SCHEMA,
            "environment": name,
            "library_version": mpi.document["library_version"],
            "peer": peer_name,
            "measured_with": measured,
            "end": end,
            "ours_us": pairs.ours,
            "theirs_us": pairs.theirs,
        }
        writing.write_json(path, document)
    for (program, operation), values in pairs.ratios().items():
        middle = median_interval(values)
        span = f"{middle.low:.3f} to {middle.high:.3f}"
        print(f"{operation:<36} over {program}: {middle.value:.3f} ({span})")


def folder() -> Path:
    """Return the folder of the comparisons' results and their page."""
    return paths.results_dir() / "peers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return 0, 1 (a program failed) or 2."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--environment", action="append", help="three by default")
    parser.add_argument("--peer", choices=PEERS, action="append", help="all by default")
    parser.add_argument("--pairs", type=int, default=MOST_PAIRS, help="at most")
    parser.add_argument("--minutes", type=float, default=MOST_MINUTES, help="at most, each")
    options = parser.parse_args(arguments)
    try:
        for option in ("pairs", "minutes"):
            if getattr(options, option) <= 0:
                raise InputError(f"--{option}", None, getattr(options, option), "more than none")
        for name in options.environment or ENVIRONMENTS:
            for peer in options.peer or PEERS:
                compare(name, peer, options.pairs, options.minutes)
        print(peers_page.build(folder()))
    except OnesidedError as fault:
        print(f"peers: {fault}", file=sys.stderr)
        return fault.exit_code
    except subprocess.TimeoutExpired:
        print(f"peers: a launch took longer than {LAUNCH_TIMEOUT_S} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

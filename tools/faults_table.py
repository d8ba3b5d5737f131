"""Put every fault that an MPI may have into every kernel that it concerns, and count the verdicts.

The faults and what is right for each are in tests/kernels/faults_of_mpi.py. A table goes to
standard output, by kind of fault: how many faults there are, how often one was tried, how often the
verdict was right and wrong. Those that were wrong follow it, one a line.

Exit codes: 0, 1 a verdict was wrong, 2 bad input.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.kernels import faulty_launches  # noqa: E402
from tests.kernels.faults_of_mpi import Fault, all_faults  # noqa: E402
from tests.kernels.judge_of_faults import tried  # noqa: E402
from tests.kernels.launching import Environment, Kernel, build  # noqa: E402

from onesided.environments import declarations, kernels, provision  # noqa: E402
from onesided.system import strays  # noqa: E402

HEAD = ("kind of fault", "faults", "tried", "right verdict", "wrong verdict", "not reached")


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich-5.0.2", help="an environment (%(default)s)")
    parser.add_argument("--select", nargs="+", metavar="KERNEL", help="these kernels alone")
    parser.add_argument("--kind", nargs="+", metavar="KIND", help="faults of these kinds alone")
    parser.add_argument("--share", type=int, default=1, help="every N-th fault (%(default)s)")
    parser.add_argument("--build", type=Path, help="a folder for the kernels, kept afterwards")
    asked = parser.parse_args(arguments)
    _known(parser, "--select", asked.select, kernels.names())
    _known(parser, "--kind", asked.kind, sorted({fault.kind for fault in all_faults()}))
    return asked


def _known(parser: argparse.ArgumentParser, option: str, asked: list | None, names: list) -> None:
    for name in asked or ():
        if name not in names:
            parser.error(f"{option}: found {name}; expected one of {', '.join(names)}")


def judged(
    environment: Environment, folder: Path, names: Sequence[str], faults: Sequence[Fault]
) -> Iterator[tuple[str, Fault, bool | None, str]]:
    """Yield each kernel with each fault that concerns it, if its verdict was right, and why."""
    library = faulty_launches.build_library(environment, folder)
    for name in names:
        with tempfile.TemporaryDirectory(prefix="onesided-faults-") as lines:
            kernel = Kernel(environment, folder / name, Path(lines), {})
            options = faulty_launches.options_of(kernel)
            reference = faulty_launches.launch(kernel, library, options)
            for fault in faults:
                found = tried(kernel, library, options, reference, fault)
                if found is not None:
                    yield name, fault, found[0].right, found[0].why


def table(tried_ones: Sequence[tuple[str, Fault, bool | None, str]]) -> str:
    """Return the counts by kind of fault, as Markdown."""
    rows = []
    for kind in [*dict.fromkeys(fault.kind for _, fault, _, _ in tried_ones), None]:
        of_kind = [one for one in tried_ones if kind in (one[1].kind, None)]
        rights = Counter(right for _, _, right, _ in of_kind)
        faults = len({fault for _, fault, _, _ in of_kind})
        done = rights[True] + rights[False]
        rows.append((kind or "all", faults, done, rights[True], rights[False], rights[None]))
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def run(asked: argparse.Namespace, folder: Path) -> int:
    """Try what is asked for; print the table; return the exit code."""
    document = provision.provide(asked.mpi)
    if document["status"] != "ready":
        expected = f"{document['reason']}; expected one that is there"
        print(f"faults_table: --mpi: found {asked.mpi}: {expected}", file=sys.stderr)
        return 2
    environment = Environment(document)
    build(environment, folder)
    faults = [one for one in all_faults() if not asked.kind or one.kind in asked.kind][
        :: asked.share
    ]
    names = asked.select or kernels.names()
    begin_s, tried_ones = time.time(), []
    for one in judged(environment, folder, names, faults):
        tried_ones.append(one)
        if one[2] is not True:
            print(
                f"{one[0]}: {one[1]}: {'not reached' if one[2] is None else 'wrong'}: {one[3]}",
                file=sys.stderr,
                flush=True,
            )
    strays.remove_files(strays.SHARED_MEMORY, declarations.left_behind().shared_memory, begin_s)
    wrong = [one for one in tried_ones if one[2] is False]
    reached = {one[0] for one in tried_ones}
    version = document["library_version"].split(" MPI")[0]
    print(f"{version}, {len(reached)} kernels, {time.time() - begin_s:.0f} s\n")
    print(table(tried_ones))
    for name, fault, _, why in wrong:
        print(f"\nwrong: {name}: {fault}: {why}")
    return 1 if wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    asked = read_arguments(arguments)
    if asked.build is not None:
        asked.build.mkdir(parents=True, exist_ok=True)
        return run(asked, asked.build)
    with tempfile.TemporaryDirectory(prefix="onesided-faulty-kernels-") as folder:
        return run(asked, Path(folder))


if __name__ == "__main__":
    sys.exit(main())

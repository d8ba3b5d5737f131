"""Put every fault of an MPI into every kernel that it concerns, and count the verdicts.

The faults and their right verdicts are in tests/kernels/faults_of_mpi.py. Standard output gets a
table by kind of fault: the number of faults, of trials, of right and of wrong verdicts. Wrong
verdicts follow the table, one a line.

With --keep FILE each trial adds a line to the file, and a later run leaves out the trials in it.

Exit codes: 0, 1 a verdict was wrong, 2 bad input.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
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
WORDS = {True: "right", False: "wrong", None: "not reached"}


@dataclass(frozen=True)
class Trial:
    """A fault in a kernel: was the verdict right? None if the call was not reached."""

    kernel: str
    fault: str
    right: bool | None
    why: str

    def __str__(self) -> str:
        return f"{WORDS[self.right]}: {self.kernel}: {self.fault}: {self.why}"


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich-5.0.2", help="an environment (%(default)s)")
    parser.add_argument("--select", nargs="+", metavar="KERNEL", help="these kernels alone")
    parser.add_argument("--kind", nargs="+", metavar="KIND", help="faults of these kinds alone")
    parser.add_argument("--share", type=int, default=1, help="every N-th fault (%(default)s)")
    parser.add_argument("--build", type=Path, help="a folder for the kernels, kept afterwards")
    parser.add_argument("--keep", type=Path, help="a file of trials to go on from")
    asked = parser.parse_args(arguments)
    _known(parser, "--select", asked.select, kernels.names())
    _known(parser, "--kind", asked.kind, sorted({fault.kind for fault in all_faults()}))
    return asked


def _known(parser: argparse.ArgumentParser, option: str, asked: list | None, names: list) -> None:
    for name in asked or ():
        if name not in names:
            parser.error(f"{option}: found {name}; expected one of {', '.join(names)}")


def trials(
    environment: Environment,
    folder: Path,
    names: Sequence[str],
    faults: Sequence[Fault],
    done: set[tuple[str, str]],
) -> Iterator[Trial]:
    """Yield each fault in each kernel that it concerns, one fault after the other."""
    with tempfile.TemporaryDirectory(prefix="onesided-faults-") as lines:
        known = []
        for name in names:
            kernel = Kernel(environment, folder / name, Path(lines) / name, {})
            kernel.folder.mkdir()
            options = faulty_launches.options_of(kernel)
            known.append((kernel, options, faulty_launches.launch(kernel, options)))
        for fault in faults:
            for kernel, options, reference in known:
                name = kernel.executable.name
                if (name, str(fault)) not in done:
                    with tempfile.TemporaryDirectory(dir=lines) as own:
                        one = replace(kernel, folder=Path(own))
                        judgement = tried(one, options, reference, fault)
                    if judgement is not None:
                        yield Trial(name, str(fault), judgement.right, judgement.why)


def table(found: Sequence[Trial]) -> str:
    """Return the counts by kind of fault, as Markdown."""
    rows = []
    for kind in [*dict.fromkeys(one.fault.split()[0] for one in found), None]:
        of_kind = [one for one in found if kind in (one.fault.split()[0], None)]
        rights = Counter(one.right for one in of_kind)
        faults = len({one.fault for one in of_kind})
        judged = rights[True] + rights[False]
        rows.append((kind or "all", faults, judged, rights[True], rights[False], rights[None]))
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def read_kept(path: Path | None) -> list[Trial]:
    """Return the right trials of earlier runs; the others are made again."""
    if path is None or not path.exists():
        return []
    found = [Trial(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return [one for one in found if one.right]


def run(asked: argparse.Namespace, folder: Path) -> int:
    """Make the trials; print the table; return the exit code."""
    document = provision.provide(asked.mpi)
    if document["status"] != "ready":
        expected = f"{document['reason']}; expected one that is there"
        print(f"faults_table: --mpi: found {asked.mpi}: {expected}", file=sys.stderr)
        return 2
    environment = Environment(document)
    build(environment, folder)
    of_kinds = [one for one in all_faults() if not asked.kind or one.kind in asked.kind]
    begin_s, found = time.time(), read_kept(asked.keep)
    done = {(one.kernel, one.fault) for one in found}
    names = asked.select or kernels.names()
    for one in trials(environment, folder, names, of_kinds[:: asked.share], done):
        found.append(one)
        if asked.keep is not None:
            with asked.keep.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(one)) + "\n")
        if not one.right:
            print(one, file=sys.stderr, flush=True)
    strays.remove_files(strays.SHARED_MEMORY, declarations.left_behind().shared_memory, begin_s)
    wrong = [one for one in found if one.right is False]
    reached = len({one.kernel for one in found})
    version = document["library_version"].split(" MPI")[0]
    print(f"{version}, {reached} kernels, {time.time() - begin_s:.0f} s\n\n{table(found)}")
    print("".join(f"\n{one}" for one in wrong), end="\n" if wrong else "")
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

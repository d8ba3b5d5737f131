"""Kill campaigns at random moments, run each again, and print a table of the results.

    python tools/kills_table.py --moments 50 --real 10 --seed 1

`--moments` are of a campaign with made-up MPIs and kernels, `--real` of a campaign with MPICH. A
failure is printed with its seed and index. `--only SEED,INDEX` tries this moment alone, and
`--length SECONDS` gives the length of the campaign to which the moment belongs. With `--record`,
each kill adds a line to the file as soon as it is judged. A further run with the same seed and file
leaves these moments out, and its table contains them. A moment after the campaign's end does not
count: another moment is tried.

Exit codes: 0, 1 something was lost, done twice or left behind, 2 bad input.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "faults")]

import fake_campaign  # noqa: E402
import killing  # noqa: E402
from tiny import TINY  # noqa: E402

from onesided.system import paths  # noqa: E402

REAL = "mpich-5.0.2"
COLUMNS = ("victim", "tried", "nothing lost", "lost", "twice", "strays")
MakePlace = Callable[[Path], killing.Place]


def _fakes(folder: Path) -> MakePlace:
    """Return a function that makes a place with the made-up MPIs and its own build."""
    checkout = folder / "checkout"
    names = fake_campaign.make_checkout(checkout)
    root = {"ONESIDED_ROOT": str(checkout)}
    return lambda place: killing.Place(place, names, root, TINY)


def _real(folder: Path) -> MakePlace:
    """Return a function that makes a place with MPICH and the checkout's kernels."""
    build = {"ONESIDED_BUILD": str(paths.build_dir())}
    return lambda place: killing.Place(place, [REAL], build, {**TINY, "rounds": 2})


def attempts(
    make: MakePlace, folder: Path, seed: int, indices: Iterable[int], length_s: float | None
) -> Iterator[killing.Kill]:
    """Yield each kill with its judgement; print for each failure how to repeat it."""
    usual = killing.undisturbed(make(folder / "undisturbed"))
    usual.elapsed_s = length_s or usual.elapsed_s
    print(f"undisturbed: {usual.elapsed_s:.1f} s, {len(usual.cells)} cells", flush=True)
    for index in indices:
        place = make(folder / str(index))
        length = usual.elapsed_s
        kill = killing.tried(place, seed, index, usual)
        state = "; ".join(kill.faults) or "nothing lost"
        print(f"{index}: {kill.victim} at {kill.moment_s:.2f} s: {state}", flush=True)
        if kill.faults:
            print(f"   again: --only {seed},{index} --length {length:.1f}; {place.folder}")
        else:
            shutil.rmtree(place.folder)
        yield kill


def recorded(path: Path | None, title: str, seed: int) -> list[killing.Kill]:
    """Return a record's kills with these MPIs and this seed."""
    lines = path.read_text("utf-8").splitlines() if path and path.exists() else []
    found = [json.loads(line) for line in lines]
    return [
        killing.Kill(**one["kill"])
        for one in found
        if one["mpi"] == title and one["kill"]["seed"] == seed
    ]


def record(path: Path | None, title: str, kill: killing.Kill) -> None:
    """Add a kill to a record."""
    if path:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"mpi": title, "kill": dataclasses.asdict(kill)}) + "\n")


def table(kills: Sequence[killing.Kill]) -> str:
    """Return the table in Markdown: a line for each victim, and a line for all."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    order = [name for name in killing.VICTIMS if name in {k.victim for k in kills}]
    for victim in [*order, "all"]:
        rows = [kill for kill in kills if victim in (kill.victim, "all")]
        counts = Counter()
        for kill in rows:
            counts["nothing lost"] += not kill.faults
            for name in ("lost", "twice", "strays"):
                counts[name] += bool(getattr(kill, name))
        cells = [victim, len(rows), *(counts[name] for name in COLUMNS[2:])]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _only(text: str) -> tuple[int, int]:
    seed, index = map(int, text.split(","))
    return seed, index


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=50, help="kills under made-up MPIs")
    parser.add_argument("--real", type=int, default=10, help=f"kills under {REAL}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=_only, metavar="SEED,INDEX", help="one moment alone")
    parser.add_argument("--length", type=float, metavar="SECONDS", help="of the campaign")
    parser.add_argument("--record", type=Path, metavar="FILE", help="go on from here")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the moments; print a table for each kind of MPI; return the exit code."""
    options = _options(arguments)
    seed, first = options.only or (options.seed, 0)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    failed = False
    for title, prepare, asked in (("fake", _fakes, options.moments), (REAL, _real, options.real)):
        count = min(asked, 1) if options.only else asked
        if count == 0:
            continue
        part = folder / title
        part.mkdir()
        kills = recorded(options.record, title, seed)
        if len(kills) < count:
            more = itertools.count(max((kill.index + 1 for kill in kills), default=first))
            for kill in attempts(prepare(part), part, seed, more, options.length):
                if kill.victim != killing.NOBODY:
                    record(options.record, title, kill)
                    kills.append(kill)
                if len(kills) == count or options.only:
                    break
        print(f"\n{title}, seed {seed}\n\n{table(kills)}\n", flush=True)
        failed = failed or any(kill.faults for kill in kills)
    if not failed:
        shutil.rmtree(folder)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""Change inputs of every kind at random, and print the results: docs/faults.md.

Each trial changes one file of a right input (tests/fuzz/mutations.py), gives it to the project's
own reader, and judges the result (tests/fuzz/trial.py): one clear line that names the file, a right
result, or wrong. Wrong is a traceback, an unclear line, a command that ran, or an impossible value.

Exit codes: 0, 1 a result was wrong; standard error has the result and its seed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "fuzz"), str(ROOT / "tests"), str(ROOT / "src")]

import trial  # noqa: E402
from corpus import KINDS, provide  # noqa: E402

VERDICTS = (trial.ONE_LINE, trial.RIGHT, trial.WRONG)
Counts = Counter[str]


def tried(kind: str, seeds: Iterable[int]) -> tuple[Counts, set[str]]:
    """Return how often each verdict was given, and the kinds of change; report wrong results."""
    found: Counts = Counter()
    changes = set()
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="onesided-fuzz-") as folder:
            one = trial.run(KINDS[kind], seed, Path(folder))
        found[one.verdict] += 1
        changes.add(one.change)
        if one.verdict == trial.WRONG:
            print(f"{kind}, seed {seed}, {one.change}: {one.said}", file=sys.stderr)
    return found, changes


def table(counts: dict[str, Counts]) -> str:
    """Return the counts as a table of Markdown, with their sums."""
    rows = [*counts.items(), ("all", sum(counts.values(), Counter()))]
    lines = [
        f"| input | tried | {' | '.join(VERDICTS)} |",
        "|---" + "|---:" * (len(VERDICTS) + 1) + "|",
        *(
            f"| {name} | {found.total()} | {' | '.join(str(found[word]) for word in VERDICTS)} |"
            for name, found in rows
        ),
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400, help="of each kind of input (400)")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial (0)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this one, or several")
    options = parser.parse_args(arguments)
    sys.dont_write_bytecode = True  # a site file is a module, so each trial has its own
    with tempfile.TemporaryDirectory(prefix="onesided-fuzz-build-") as folder:
        os.environ["ONESIDED_BUILD"] = folder
        os.environ["ONESIDED_SESSION"] = str(Path(folder) / "reframe")
        provide(Path(folder))
        counts, changes = {}, set()
        for kind in options.kind or KINDS:
            seeds = range(options.seed, options.seed + options.trials)
            counts[kind], seen = tried(kind, seeds)
            changes |= seen
    print(table(counts))
    print(f"\nKinds of change: {len(changes)}.")
    return int(any(found[trial.WRONG] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main())

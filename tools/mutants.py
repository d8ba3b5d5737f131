#!/usr/bin/env python3
"""Change one place of the software at a time, and see whether a test fails: the mutation proof.

Each entry of tools/mutants.yaml is one such change, a mutant, with the claim that it breaks and the
tests that should see it first. A mutant is applied in a worktree of HEAD in a temporary folder,
never in the checkout. It is killed by a test that fails with the change and passes without.

What each mutant came to goes to build/mutants.jsonl; a run goes on from an earlier one of the same
HEAD. Exit codes: 0, 1 more than three survive, or one without a reason, or a mutant was not tested,
2 the list is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FIELDS = {"name", "file", "find", "replace", "what", "tests"}
OPTIONAL = {"survives"}
MOST_SURVIVORS = 3
TIMEOUT_S = 3600
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")
EVERYTHING = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
"""What `make test` adds to that."""
TEST_LINE = re.compile(r"^(FAILED|ERROR) (.+?)(?: - .*)?$", re.M)
KILLED, OPEN, SURVIVED = "killed", "open", "survived"


class ListError(Exception):
    """The list of mutants is wrong: one line with file, field, found, expected."""


@dataclass(frozen=True)
class Mutant:
    """One change, as the list has it."""

    name: str
    file: str
    find: str
    replace: str
    what: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def digest(self) -> str:
        """What tells whether an earlier result is of this very change and these tests."""
        parts = (self.file, self.find, self.replace, *self.tests)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def applied(self, root: Path) -> str:
        """Return the file's text with the change.

        Raises:
            ListError: what is to be replaced does not stand there exactly once.
        """
        path = root / self.file
        count = path.read_text("utf-8").count(self.find) if path.is_file() else 0
        if count != 1 or self.find == self.replace:
            found = f"found {count} times in {self.file}"
            raise ListError(f"mutants.yaml: {self.name}: find: {found}, expected once")
        return path.read_text("utf-8").replace(self.find, self.replace)


def read(path: Path) -> list[Mutant]:
    """Return the mutants of a list.

    Raises:
        ListError: an entry has other fields than it must have, or a name is there twice.
    """
    found: dict[str, Mutant] = {}
    for entry in yaml.safe_load(path.read_text("utf-8")):
        name = entry.get("name")
        if not FIELDS <= set(entry) <= FIELDS | OPTIONAL or name in found:
            expected = f"a name of its own and {', '.join(sorted(FIELDS))}"
            raise ListError(f"{path.name}: {name}: found {', '.join(entry)}, expected {expected}")
        found[name] = Mutant(**{**entry, "tests": tuple(entry["tests"])})
    return list(found.values())


@contextlib.contextmanager
def worktree(root: Path) -> Iterator[Path]:
    """Give a worktree of HEAD; it is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="onesided-mutants-") as folder:
        path = Path(folder) / "tree"
        git = ("git", "-C", str(root), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(path), "HEAD"], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=False)


def variables(tree: Path, root: Path) -> dict[str, str]:
    """Return the variables under which a worktree's sources are tested, with ready environments."""
    build = os.environ.get("ONESIDED_BUILD") or str(root / "build")
    kept = {name: value for name, value in os.environ.items() if name != "ONESIDED_ROOT"}
    return {**kept, "PYTHONPATH": str(tree / "src"), "ONESIDED_BUILD": build}


def demand_own_sources(tree: Path, root: Path) -> None:
    """See that a worktree's package is the one that is imported there.

    Raises:
        ListError: another one is: every mutant would survive.
    """
    command = [sys.executable, "-c", "import onesided; print(onesided.__file__)"]
    answer = subprocess.run(
        command, cwd=tree, env=variables(tree, root), capture_output=True, text=True, check=True
    )
    if not Path(answer.stdout.strip()).is_relative_to(tree.resolve()):
        raise ListError(f"PYTHONPATH: found {answer.stdout.strip()}, expected a file in {tree}")


def pytest(tree: Path, root: Path, arguments: Sequence[str]) -> tuple[str, str]:
    """Run tests in a worktree; return ``passed``, ``failed`` or how else it ended, and the test."""
    process = subprocess.Popen(
        [*PYTEST, *arguments],
        cwd=tree,
        env=variables(tree, root),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT_S)
    except BaseException as fault:
        os.killpg(process.pid, signal.SIGKILL)
        if isinstance(fault, subprocess.TimeoutExpired):
            return "timed out", " ".join(arguments)
        raise
    kind, test = next(iter(TEST_LINE.findall(output)), ("", ""))
    if process.returncode == 0:
        return "passed", ""
    if process.returncode == 1 and kind == "FAILED":
        return "failed", test
    last = (output.strip().splitlines() or [""])[-1]
    return f"pytest exited {process.returncode}", test or last


def decide(mutant: Mutant, tree: Path, root: Path, quick: bool) -> tuple[str, str]:
    """Return what a mutant came to, and the test that caught it."""
    path = tree / mutant.file
    original, changed = path.read_text("utf-8"), mutant.applied(tree)
    try:
        _write(path, changed)
        ended, test = pytest(tree, root, mutant.tests)
        if ended == "passed" and not quick:
            ended, test = pytest(tree, root, EVERYTHING)
    finally:
        _write(path, original)
    if ended == "passed":
        return (OPEN if quick else SURVIVED), ""
    if ended != "failed":
        return ended, test
    without, _ = pytest(tree, root, [test])
    return (KILLED, test) if without == "passed" else ("fails without the change", test)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    # Python takes bytecode of the same size and second for that of this text
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)


def earlier(results: Path, head: str, quick: bool) -> dict[str, dict[str, Any]]:
    """Return what earlier runs of the same HEAD found, by digest."""
    lines = results.read_text("utf-8").splitlines() if results.is_file() else []
    found = [json.loads(line) for line in lines if line.endswith("}")]
    wanted = (KILLED, SURVIVED, *([OPEN] if quick else []))
    return {one["digest"]: one for one in found if one["head"] == head and one["outcome"] in wanted}


def run(mutants: Sequence[Mutant], root: Path, quick: bool) -> list[dict[str, Any]]:
    """Decide on each mutant; return one line each, which is also added to the results."""
    results = root / "build" / "mutants.jsonl"
    results.parent.mkdir(exist_ok=True)
    head = subprocess.check_output(["git", "-C", str(root), "rev-parse", "HEAD"], text=True).strip()
    known, lines = earlier(results, head, quick), []
    with worktree(root) as tree:
        demand_own_sources(tree, root)
        for mutant in mutants:
            mutant.applied(tree)
        for mutant in mutants:
            line = known.get(mutant.digest)
            if line is None:
                begin_s = time.monotonic()
                outcome, test = decide(mutant, tree, root, quick)
                seconds = round(time.monotonic() - begin_s, 1)
                line = {**asdict(mutant), "digest": mutant.digest, "head": head}
                line |= {"outcome": outcome, "test": test, "seconds": seconds}
                with results.open("a") as stream:
                    stream.write(json.dumps(line) + "\n")
                print(f"{outcome:10} {mutant.name} ({seconds} s) {test}", flush=True)
            lines.append({**line, "name": mutant.name, "survives": mutant.survives})
    return lines


def main() -> int:
    """Test the mutants that are asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="mutants; all if none is named")
    parser.add_argument("--list", action="store_true", help="say what there is and test nothing")
    parser.add_argument("--quick", action="store_true", help="run the tests that are named only")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    try:
        mutants = read(asked.root / "tools" / "mutants.yaml")
        unknown = set(asked.names) - {mutant.name for mutant in mutants}
        if unknown:
            raise ListError(f"mutants.yaml: name: found no {sorted(unknown)}, see --list")
        chosen = [one for one in mutants if not asked.names or one.name in asked.names]
        if asked.list:
            print("\n".join(f"{one.name:40} {one.file:48} {one.what}" for one in chosen))
            return 0
        lines = run(chosen, asked.root, asked.quick)
    except ListError as fault:
        print(f"mutants: {fault}", file=sys.stderr)
        return 2
    for line in lines:
        print(f"{line['name']:40} {line['file']:48} {line['outcome']:10} {line['test']}")
    left = [line for line in lines if line["outcome"] != KILLED]
    survivors = [line for line in left if line["outcome"] in (SURVIVED, OPEN)]
    print(f"{len(lines) - len(left)} of {len(lines)} killed")
    unexplained = [line for line in left if not line["survives"]]
    return int(len(survivors) > MOST_SURVIVORS or bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())

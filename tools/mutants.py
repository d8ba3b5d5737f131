"""Change one place of the software at a time, and see whether a test fails: the mutation proof.

Each entry of tools/mutants.yaml is one such change, a mutant. The mutant is applied in a worktree
of HEAD in a temporary folder. A test that fails with the change and passes without it kills the
mutant.

The results go to build/mutants.jsonl; a run continues an earlier run of the same HEAD. Tests that
measure wait for each other, whatever the number of jobs (tests/quiet.py). Exit codes: 0, 1 a mutant
is not killed and has no reason, or more than three are not killed, 2 bad input.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("name", "file", "find", "replace", "what", "tests")
MOST_SURVIVORS = 3
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
NOT_SLOW = ("-m", "not slow")
EVERYTHING = ("--numprocesses", "2")
TEST_LINE = re.compile(r"^(FAILED|ERROR) (.+?)(?: - .*)?$", re.M)
KILLED, OPEN, SURVIVED = "killed", "open", "survived"


class ListError(Exception):
    """A fault in the list of mutants or in an option: one line with field, found, expected."""


@dataclass(frozen=True)
class Mutant:
    """One change of the list; `survives` is the reason why no test kills the mutant."""

    name: str
    file: str
    find: str
    replace: str
    what: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def digest(self) -> str:
        """Return a digest that tells whether an earlier result is for the same change and tests."""
        return hashlib.sha256(repr(replace(self, what="", survives="")).encode()).hexdigest()[:12]

    def applied(self, root: Path) -> str:
        """Return the file's text with the change; the file must have the replaced text once."""
        path = root / self.file
        text = path.read_text("utf-8") if path.is_file() else ""
        if text.count(self.find) != 1:
            found = f"found {text.count(self.find)} times in {self.file}"
            raise ListError(f"mutants.yaml: {self.name}: find: {found}, expected once")
        return text.replace(self.find, self.replace)


def read(path: Path) -> list[Mutant]:
    """Return the mutants of a list; each has the same fields and its own name."""
    found: dict[str, Mutant] = {}
    for entry in yaml.safe_load(path.read_text("utf-8")):
        name = entry.get("name")
        if not set(FIELDS) <= set(entry) <= {*FIELDS, "survives"} or name in found:
            expected = f"{', '.join(FIELDS)}, and a name of its own"
            raise ListError(f"{path.name}: {name}: found {', '.join(entry)}, expected {expected}")
        found[name] = Mutant(**{**entry, "tests": tuple(entry["tests"])})
    return list(found.values())


@contextlib.contextmanager
def worktree(root: Path) -> Iterator[Path]:
    """Give a worktree of HEAD, and remove it at the end."""
    git = ("git", "-C", str(root), "worktree")
    with tempfile.TemporaryDirectory(prefix="onesided-mutants-") as folder:
        path = Path(folder).resolve() / "tree"
        subprocess.run([*git, "add", "--quiet", "--detach", str(path), "HEAD"], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=False)


def variables(tree: Path, build: Path) -> dict[str, str]:
    """Return the variables of a worktree's tests, which make them use the worktree's package."""
    found = {name: value for name, value in os.environ.items() if name != "ONESIDED_ROOT"}
    found |= {"ONESIDED_BUILD": str(build), "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", "import onesided; print(onesided.__file__)"]
    imported = subprocess.check_output(command, cwd=tree, env=found, text=True).strip()
    if not Path(imported).is_relative_to(tree):
        raise ListError(f"PYTHONPATH: onesided: found {imported}, expected a file in {tree}")
    return found


@dataclass(frozen=True)
class Bench:
    """The place where mutants are tested."""

    tree: Path
    variables: dict[str, str]

    def test(self, arguments: Sequence[str]) -> tuple[str, str]:
        """Run pytest; return passed, failed or another end, and the first test with this result.

        A slow test runs only if the list names the test itself, and not its file.
        """
        marks = () if all("::" in name for name in arguments) else NOT_SLOW
        command = ["timeout", "--foreground", "1h", *PYTEST, *marks, *arguments]
        answer = subprocess.run(
            command, cwd=self.tree, env=self.variables, capture_output=True, text=True, check=False
        )
        kind, test = next(iter(TEST_LINE.findall(answer.stdout)), ("", ""))
        ended = {(0, ""): "passed", (1, "FAILED"): "failed", (124, ""): "timed out"}
        return ended.get((answer.returncode, kind), f"pytest exited {answer.returncode}"), test

    def decide(self, mutant: Mutant, quick: bool) -> tuple[str, str]:
        """Return a mutant's result, and the test that caught it."""
        original = (self.tree / mutant.file).read_text("utf-8")
        self._write(mutant.file, mutant.applied(self.tree))
        try:
            ended, test = self.test(mutant.tests)
            if ended == "passed" and not quick:
                ended, test = self.test(EVERYTHING)
        finally:
            self._write(mutant.file, original)
        if ended == "passed":
            return (OPEN if quick else SURVIVED), ""
        if ended == "failed":
            ended = KILLED if self.test([test])[0] == "passed" else "fails without the change"
        return ended, test

    def _write(self, name: str, text: str) -> None:
        (self.tree / name).write_text(text, "utf-8")
        # Python takes bytecode of the same size and second for this text's bytecode
        shutil.rmtree((self.tree / name).parent / "__pycache__", ignore_errors=True)


def known_lines(results: Path, head: str, quick: bool) -> dict[str, dict[str, Any]]:
    """Return the results of an earlier run of the same HEAD, by the mutants' digests."""
    known = {}
    for line in map(json.loads, results.open(encoding="utf-8") if results.exists() else ()):
        if line["head"] == head and line["outcome"] in (KILLED, SURVIVED, OPEN if quick else ""):
            known[line["digest"]] = line
    return known


def run(mutants: Sequence[Mutant], root: Path, quick: bool, jobs: int) -> list[dict[str, Any]]:
    """Decide on each mutant; return a line for each, which is also added to the results."""
    results = root / "build" / "mutants.jsonl"
    results.parent.mkdir(exist_ok=True)
    head = subprocess.check_output(["git", "-C", str(root), "rev-parse", "HEAD"], text=True).strip()
    known, writes = known_lines(results, head, quick), threading.Lock()
    free: queue.SimpleQueue[Bench] = queue.SimpleQueue()

    def line_of(mutant: Mutant) -> dict[str, Any]:
        if mutant.digest in known:
            return known[mutant.digest]
        bench, begin_s = free.get(), time.monotonic()
        try:
            outcome, test = bench.decide(mutant, quick)
        finally:
            free.put(bench)
        line = {"digest": mutant.digest, "head": head, "outcome": outcome, "test": test}
        line["seconds"] = round(time.monotonic() - begin_s, 1)
        with writes, results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"name": mutant.name, **line}) + "\n")
            print(f"{outcome} {mutant.name} ({line['seconds']} s) {test}", flush=True)
        return line

    with contextlib.ExitStack() as stack:
        for job in range(jobs):
            tree, build = stack.enter_context(worktree(root)), root / "build" / "mutants" / str(job)
            # files built with sanitizers stay, with the path of their worktree
            shutil.rmtree(build / "tests", ignore_errors=True)
            free.put(Bench(tree, variables(tree, build)))
        [mutant.applied(tree) for mutant in mutants]
        with ThreadPoolExecutor(jobs) as pool:
            lines = list(pool.map(line_of, mutants))
    return [
        {**line, "name": mutant.name, "file": mutant.file, "why": mutant.survives}
        for mutant, line in zip(mutants, lines, strict=True)
    ]


def main() -> int:
    """Test the chosen mutants; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="mutants; all if none is named")
    parser.add_argument("--list", action="store_true", help="say what there is and test nothing")
    parser.add_argument("--quick", action="store_true", help="run only the tests that are named")
    parser.add_argument("--jobs", type=int, default=2, help="so many at a time (default: 2)")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    asked = parser.parse_args()
    try:
        if asked.jobs < 1:
            raise ListError(f"--jobs: found {asked.jobs}, expected 1 or more")
        mutants = read(asked.root / "tools" / "mutants.yaml")
        if unknown := set(asked.names) - {mutant.name for mutant in mutants}:
            raise ListError(f"names: found {', '.join(unknown)}, expected names of --list")
        chosen = [one for one in mutants if not asked.names or one.name in asked.names]
        lines = [] if asked.list else run(chosen, asked.root, asked.quick, asked.jobs)
    except ListError as fault:
        print(f"mutants: {fault}", file=sys.stderr)
        return 2
    if asked.list:
        print("\n".join(f"{one.name:38} {one.file:42} {one.what}" for one in chosen))
        return 0
    for line in lines:
        end = line["test"] or line["why"]
        print(f"{line['name']:38} {line['file']:42} {line['outcome']:8} {end}")
    left = [line for line in lines if line["outcome"] != KILLED]
    print(f"{len(lines) - len(left)} of {len(lines)} killed")
    return int(len(left) > MOST_SURVIVORS or not all(line["why"] for line in left))


if __name__ == "__main__":
    sys.exit(main())

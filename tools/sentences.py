"""Draw random sentences of the project, for a reader who did not write them.

    python tools/sentences.py 50 --seed 7

The sentences are from README, docs and docstrings. A sentence that has to be read twice is a
defect.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
LEAST_WORDS = 6
NO_PROSE = ("#", "|", "- ", "![", "```", "    ")


def _of_page(text: str) -> Iterator[str]:
    """Yield the paragraphs of a page, without code, tables and headings."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for paragraph in text.split("\n\n"):
        if paragraph.strip() and not paragraph.startswith(NO_PROSE):
            yield paragraph


def _of_module(text: str) -> Iterator[str]:
    """Yield the docstrings of a module, including those of its constants."""
    for node in ast.walk(ast.parse(text)):
        written = node.value if isinstance(node, ast.Expr) else None
        if isinstance(written, ast.Constant) and isinstance(written.value, str):
            yield re.split(r"\n\s*(?:Args|Attributes|Returns|Raises):", written.value)[0]


def sentences(root: Path) -> list[tuple[str, str]]:
    """Return file and sentence, for every sentence with enough words to be misread."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "src/onesided/*.py", "reframe_checks/*.py"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = []
    for name in listed.stdout.split():
        text = (root / name).read_text("utf-8")
        for part in _of_module(text) if name.endswith(".py") else _of_page(text):
            for sentence in SENTENCE.split(" ".join(part.split())):
                if len(sentence.split()) >= LEAST_WORDS:
                    found.append((name, sentence))
    return found


def main() -> None:
    """Print the drawn sentences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    drawn = random.Random(options.seed).sample(sentences(Path.cwd()), options.count)
    for number, (name, sentence) in enumerate(drawn, 1):
        print(f"{number:3}. {sentence}\n     ({name})")


if __name__ == "__main__":
    main()

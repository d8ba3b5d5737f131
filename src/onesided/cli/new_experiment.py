"""Write the files of a new experiment: renamed copies of the files in docs/add-an-experiment.md."""

import argparse
import re
from pathlib import Path

from onesided.cli.command import argument, command
from onesided.environments import kernels, libraries
from onesided.system import paths
from onesided.system.errors import InputError

EXAMPLE = "get_latency"
EXAMPLE_STUDY = "tutorial"
FILES = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)```$", re.DOTALL | re.MULTILINE)
"""A pattern for the files in docs/add-an-experiment.md: a file's name, then a block of text."""
PUBLISHED = "results/published/"
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,40}")
EXPECTED = "small letters, digits and underscores, a letter first: it names a C file and a module"


def example(published: bool = True) -> dict[str, str]:
    """Return the texts of the files in docs/add-an-experiment.md; the keys are the files' paths.

    If `published` is true, the result also has the source's numbers, and the files are changed as
    in the last section of the page.
    """
    page = paths.project_root() / "docs" / "add-an-experiment.md"
    files = FILES.findall(page.read_text("utf-8"))
    if published:
        return dict(files)
    own: dict[str, str] = {}
    for name, text in files:
        if not name.startswith(PUBLISHED):
            own.setdefault(name, text)
    return own


def files_of(name: str, study: str) -> dict[str, str]:
    """Return the texts of the files of a new experiment; the keys are the files' paths.

    `name` is the name of the kernel, the check, the package and the campaign. `study` is the folder
    of the kernel.

    Raises:
        InputError: `name` or `study` is not valid, or `study` is a folder for other things.
    """
    for option, text in (("NAME", name), ("--study", study)):
        if not IDENTIFIER.fullmatch(text):
            raise InputError("new", option, text, EXPECTED)
    if study in libraries.NO_STUDIES:
        raise InputError("new", "--study", study, "a folder of kernels alone")
    words = name.split("_")
    renamed = {
        'Study("tutorial", "Tutorial")': f'Study("{study}", "{_title_of(study)}")',
        f"kernels/{EXAMPLE_STUDY}/": f"kernels/{study}/",
        f"studies/{EXAMPLE_STUDY}/": f"studies/{study}/",
        f"studies.{EXAMPLE_STUDY} ": f"studies.{study} ",
        "The tutorial's study": f"The study {study}",
        EXAMPLE_STUDY: name,
        EXAMPLE: name,
        "GetLatency": "".join(word.capitalize() for word in words),
        "get-latency": "-".join(words),
        "Get latency": " ".join(words).capitalize(),
    }
    pattern = re.compile("|".join(map(re.escape, renamed)))

    def rename(text: str) -> str:
        return pattern.sub(lambda found: renamed[found.group()], text)

    return {rename(path): rename(text) for path, text in example(published=False).items()}


def _title_of(study: str) -> str:
    """Return the title of a new study, from its name."""
    return study.replace("_", " ").capitalize()


def _describes(path: Path) -> bool:
    """Tell whether a file is the ``__init__.py`` that describes an existing study."""
    return path.name == "__init__.py" and path.exists()


def write(name: str, study: str) -> list[Path]:
    """Write the files of a new experiment; return their paths.

    Raises:
        InputError: a name is not valid, or one of the files exists; nothing was written.
    """
    files = {paths.project_root() / path: text for path, text in files_of(name, study).items()}
    # the description of an existing study is not written again
    files = {path: text for path, text in files.items() if not _describes(path)}
    if any(name in kernels.names(library) for library in libraries.LIBRARIES):
        raise InputError("new", "NAME", name, "a name that no kernel has")
    for path in files:
        if path.exists():
            raise InputError(path, None, "a file of this name", "a name that no experiment has")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)


@command(
    "new",
    "write the files of a new experiment: kernel, check, analysis, page and campaign "
    "(docs/add-an-experiment.md)",
    argument("name", help="of the kernel and of all that belongs to it"),
    argument(
        "--study", default="own", help="the folder of the kernel, by its source (%(default)s)"
    ),
)
def new(options: argparse.Namespace) -> int:
    """Write the files of a new experiment, which can run without changes."""
    for path in write(options.name, options.study):
        print(path.relative_to(paths.project_root()))
    print(f"make report CAMPAIGN={options.name} runs it")
    return 0

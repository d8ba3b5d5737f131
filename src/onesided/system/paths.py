"""The paths of the project's files and folders, for all other modules."""

import hashlib
import os
import re
from pathlib import Path

from onesided.system.errors import InputError

USABLE = re.compile(r"[\w /.+@=~(),-]*")
"""The pattern of paths that every part of the software accepts: letters and digits of any script,
blanks, and a few other characters. All other characters may have a meaning for a shell, for
Snakemake (braces), for ReFrame (``$``) or in lists of paths (``:``)."""

PLAIN = re.compile(r"[\w/.+@=~-]*")
"""The pattern of paths that all MPIs accept. For example, MPICH's compiler wrapper splits paths at
blanks."""

FOLDER_VARIABLES = (
    "ONESIDED_ROOT",
    "ONESIDED_BUILD",
    "ONESIDED_RESULTS",
    "ONESIDED_REFERENCES",
    "ONESIDED_SPACK_ENVIRONMENT",
    "ONESIDED_IMAGES",
)
"""The environment variables whose values are folders. A user may set these variables to paths
relative to the current folder."""


def resolve_variables() -> None:
    """Make the paths in `FOLDER_VARIABLES` absolute, because stages run in other folders."""
    for name in FOLDER_VARIABLES:
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).resolve())


def project_root() -> Path:
    """Return the path of the checkout: ``ONESIDED_ROOT`` if set, else the checkout of this file."""
    declared = os.environ.get("ONESIDED_ROOT")
    return Path(declared).resolve() if declared else Path(__file__).resolve().parents[3]


def config_dir() -> Path:
    """Return the path of ``config/``, which declares environments, settings and campaigns."""
    return project_root() / "config"


def build_dir() -> Path:
    """Return the path of ``build/`` (``ONESIDED_BUILD`` if set).

    All content of ``build/`` can be made again at any time. If MPIs do not accept the path of
    ``build/`` in the checkout (`PLAIN`), ``build/`` is in the user's cache folder.
    """
    declared = os.environ.get("ONESIDED_BUILD")
    if declared:
        return Path(declared).resolve()
    folder = project_root() / "build"
    return folder if PLAIN.fullmatch(str(folder)) else _cache_dir() / _digest(folder)


def _cache_dir() -> Path:
    declared = os.environ.get("XDG_CACHE_HOME")
    return (Path(declared) if declared else Path.home() / ".cache").resolve() / "onesided"


def _digest(folder: Path) -> str:
    return "build-" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]


def environments_dir() -> Path:
    """Return the folder that contains one folder for each MPI environment."""
    return build_dir() / "environments"


def environment_file(name: str, provider: str | None = None) -> Path:
    """Return the JSON file that describes environment ``name``.

    `provider` replaces the declared provider; None stands for the declared provider.
    """
    return environments_dir() / name / f"environment{f'-{provider}' if provider else ''}.json"


def spack_dir() -> Path:
    """Return the folder with the record of what Spack built, and its logs."""
    return build_dir() / "spack"


def images_dir() -> Path:
    """Return the folder of container images (``ONESIDED_IMAGES`` if set)."""
    declared = os.environ.get("ONESIDED_IMAGES")
    return Path(declared).resolve() if declared else build_dir() / "containers"


def results_dir() -> Path:
    """Return ``results/`` (``ONESIDED_RESULTS`` if set), which has a folder for each campaign."""
    declared = os.environ.get("ONESIDED_RESULTS")
    return Path(declared).resolve() if declared else project_root() / "results"


def campaign_results(name_or_folder: str) -> Path:
    """Return a campaign's folder of results, from the folder's path or from the campaign's name.

    If the argument is an existing path, it is not looked up as a campaign's name. A missing folder
    is no error here; the function that reads the folder reports the error.
    """
    folder, named = Path(name_or_folder), results_dir() / name_or_folder
    is_named = not folder.exists() and is_name(name_or_folder) and named.is_dir()
    return named if is_named else folder


def check() -> None:
    """Check that every part of the software accepts the paths of the project's folders.

    Raises:
        InputError: a path has a character that has another meaning for a part of the software.
    """
    for path in (project_root(), results_dir()):
        check_usable(path)
    for path in (build_dir(), images_dir()):
        if not PLAIN.fullmatch(str(path)):
            expected = "neither blanks nor signs: MPICH's compiler wrapper breaks at them"
            raise InputError("ONESIDED_BUILD", None, path, expected)


def check_usable(path: Path) -> None:
    """Check that every part of the software accepts a path.

    Raises:
        InputError: the path has a character that has another meaning for a part of the software.
    """
    usable = USABLE.match(str(path)).end()
    if usable < len(str(path)):
        found = f"{str(path)[usable]!r} in its path"
        raise InputError(path, None, found, "letters, digits, blanks and /.+@=~(),-_")


def is_below(path: str | Path, folder: str | Path) -> bool:
    """Tell whether a path is below a folder, as written or when symbolic links are followed."""
    by_name = Path(os.path.normpath(path)).is_relative_to(folder)
    return by_name or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
EXPECTED = (
    "a name of at most 64 letters (a to z), digits, dots, dashes and underscores "
    "that begins with none of . and -"
)


def is_name(text: object) -> bool:
    """Tell whether a text may be a name, for example of an environment or a campaign.

    The JSON schemas call the format of such names ``name``. A name can be one part of a path (it is
    not ``..`` and has no ``/``) and one word in a shell. A name does not begin with a dash, as an
    option does.
    """
    return isinstance(text, str) and NAME.fullmatch(text) is not None


def check_name(source: str | Path, field: str | None, text: str) -> str:
    """Return the text if it can be a name (see `is_name`), else raise an error.

    Raises:
        InputError: the text is not a name.
    """
    if not is_name(text):
        raise InputError(source, field, repr(text), EXPECTED)
    return text

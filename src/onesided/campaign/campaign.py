"""Read and validate a campaign file: its environments, checks, settings and rounds."""

import warnings
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided.environments import containers, declarations, provision, settings
from onesided.system import documents, paths, surroundings
from onesided.system.errors import InputError


@dataclass(frozen=True)
class Campaign:
    """A validated campaign file.

    Attributes:
        name: the file's name without suffix; results are in ``results/<name>``.
        document: the content of the file, as described by the schema ``campaign``.
        root: the folder that contains the campaign's folder of results; None for ``results``.
    """

    name: str
    path: Path
    document: dict[str, Any]
    root: Path | None = None

    @property
    def environments(self) -> list[str]:
        """The names of the campaign's environments; inside an image, the image's environments."""
        if containers.inside():
            return list(containers.read_own()["environments"])
        return self.document["environments"]

    @property
    def provider(self) -> str | None:
        """The provider of every MPI in the campaign; None if each MPI has its declared provider."""
        return provision.asked_provider(self.document.get("provider"))

    @property
    def partitions(self) -> list[str]:
        """ReFrame's ``system:partition`` names."""
        return self.document["partitions"]

    @property
    def rounds(self) -> list[int]:
        """The numbers of the rounds in which every cell runs, from 1."""
        return list(range(1, self.document["rounds"] + 1))

    @property
    def until(self) -> dict[str, Any] | None:
        """The goal and the limit of further rounds; None if the campaign has no further rounds."""
        return self.document.get("until")

    @property
    def ranks(self) -> list[int] | dict[str, Any] | None:
        """The numbers of ranks that the campaign names; None if the campaign names no numbers."""
        return self.document.get("ranks")

    @property
    def site_file(self) -> Path:
        """The ReFrame configuration file of the campaign's site."""
        return site_file(self.document["site"])

    @cached_property
    def results(self) -> Path:
        """The campaign's folder of results."""
        return (self.root or paths.results_dir()) / self.name

    def environments_on(self, partition: str) -> list[str]:
        """Return the environments that run on a partition: all environments of the campaign."""
        return self.environments

    def environment(self, name: str, partition: str | None = None) -> dict[str, Any]:
        """Return the document that describes an environment of the campaign.

        `partition` matters if the campaign's partitions have environments of their own.
        """
        return provision.read(name, self.provider)

    def keep_environment(self) -> None:
        """Let launches keep the shell variables that an MPI reads, if the campaign asks for it."""
        if self.document.get("keep_environment"):
            surroundings.keep()

    def reframe_selection(self) -> list[str]:
        """Return the options of ReFrame that select the campaign's tests."""
        select = self.document["select"]
        names = ", ".join(repr(name) for name in self.document["settings"])
        # only one expression, because ReFrame selects tests that fit any of several expressions
        expression = f"setting in ({names},)"
        if "expression" in select:
            # the line feed ends a comment that the expression may have
            expression += f" and ({select['expression'].strip()}\n)"
        tags = [f"--tag={tag}" for tag in select.get("tags", [])]
        return [f"--filter-expr={expression}", *tags]

    def setting_values(self) -> dict[str, dict[str, Any]]:
        """Return each setting's variables for each environment, or why there are none."""
        mpis = self._families_and_versions()
        return {
            setting: {name: settings.value(setting, *mpi).document() for name, mpi in mpis.items()}
            for setting in self.document["settings"]
        }

    def _families_and_versions(self) -> dict[str, tuple[str | None, str | None]]:
        """Return each environment's MPI family and version, declared or else found by the probe."""
        declared = declarations.declared(in_containers=True)
        found: dict[str, tuple[str | None, str | None]] = {}
        for name in self.environments:
            one = declared[name]
            if one.family and one.version:
                found[name] = one.family, one.version
            else:
                document = self.environment(name)
                found[name] = document["family"], document["version"]
        return found

    def measuring(self) -> dict[str, Any]:
        """Return the entries of the campaign file that can change a launch.

        The other entries of the file only choose launches, or are text for readers.
        """
        names = ("site", "launch_timeout_s")
        return {name: self.document[name] for name in names}


def site_file(site: str) -> Path:
    """Return the ReFrame configuration file of a site."""
    return paths.project_root() / "reframe_checks" / "sites" / f"{site}.py"


def with_settings(wanted: Iterable[str], tags_of_others: Container[str]) -> list[str]:
    """Return the names of the campaigns in ``config/campaigns`` that run all of the given settings.

    A campaign that selects one of the tags in `tags_of_others` (tags of other experiments) is left
    out.
    """
    wanted, found = set(wanted), []
    for path in sorted((paths.config_dir() / "campaigns").glob("*.yaml")):
        document = documents.read_yaml(path, "campaign")
        foreign = any(tag in tags_of_others for tag in document["select"].get("tags", ()))
        if wanted <= set(document["settings"]) and not foreign:
            found.append(path.stem)
    return found


PUBLISHED = "published"
"""The name of the folder with the results that papers published, beside the campaigns' folders."""


def resolve(name_or_path: str) -> Path:
    """Return the path of a campaign file, from its path or its name in ``config/campaigns``.

    Raises:
        InputError: there is no such file (the existing names are listed), or a folder of results
            cannot have the name.
    """
    folder = paths.config_dir() / "campaigns"
    named = folder / f"{name_or_path}.yaml"
    if paths.is_name(name_or_path) and named.is_file():
        return named
    path = Path(name_or_path)
    if path.is_file():
        paths.check_name(path, "name of the file", path.stem)
        if path.stem == PUBLISHED:
            raise InputError(path, "name of the file", PUBLISHED, "one that is not taken")
        return path.resolve()
    known = ", ".join(sorted(found.stem for found in folder.glob("*.yaml")))
    raise InputError(folder, None, f"no campaign {name_or_path!r}", f"one of {known}, or a file")


def _require_known(path: Path, field: str, found: list[str], known: list[str], where: str) -> None:
    for index, name in enumerate(found):
        if name not in known:
            raise InputError(
                path, f"{field}.{index}", repr(name), f"one of {', '.join(known)} (from {where})"
            )


def _check_expression(path: Path, expression: str) -> None:
    """Check that Python can parse the campaign's filter expression, before ReFrame gets it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(expression.strip(), "select.expression", "eval", dont_inherit=True)
    except SyntaxError as fault:
        found = f"{fault.msg} {_place(fault)}: {expression.strip()}"
        raise InputError(path, "select.expression", found, "a Python expression") from None
    except (ValueError, RecursionError, MemoryError) as fault:
        raise InputError(path, "select.expression", fault, "a Python expression") from None


def _place(fault: SyntaxError) -> str:
    line = f"line {fault.lineno}, " if (fault.lineno or 1) > 1 else ""
    return f"at {line}column {fault.offset}" if fault.offset else f"at {line}the end"


def _check_until(path: Path, document: dict[str, Any]) -> None:
    """Check that `until` names a goal, and allows at least as many rounds as `rounds`."""
    until, least = document.get("until"), document["rounds"]
    if until is None:
        return
    if not {"undecided", "half_width_percent"} & set(until):
        raise InputError(path, "until", until, "undecided or half_width_percent, or both")
    if until["at_most_rounds"] < least:
        expected = f"{least} or more, as rounds says"
        raise InputError(path, "until.at_most_rounds", until["at_most_rounds"], expected)


def load(name_or_path: str) -> Campaign:
    """Read a campaign file, and check that every name in the file is declared.

    Raises:
        InputError: the campaign file is faulty; nothing was started.
    """
    path = resolve(name_or_path)
    paths.check_usable(path)
    document = documents.read_yaml(path, "campaign")
    _check_expression(path, document["select"].get("expression", "True"))
    _check_until(path, document)
    if "ranks" in document:
        for fault in documents.faults(document["ranks"], "ranks", path, "ranks"):
            raise fault
    declared = list(declarations.declared(in_containers=True))
    _require_known(
        path, "environments", document["environments"], declared, "config/environments.yaml"
    )
    _require_known(path, "settings", document["settings"], settings.names(), "config/settings.yaml")
    if not site_file(document["site"]).is_file():
        sites = sorted(found.stem for found in site_file("x").parent.glob("[!_]*.py"))
        raise InputError(path, "site", repr(document["site"]), f"one of {', '.join(sites)}")
    return Campaign(path.stem, path, document)


def listed() -> list[str]:
    """Return one line of text for each campaign of ``config/campaigns``: name, time, description.

    Raises:
        InputError: a file of a campaign is faulty.
    """
    folder = paths.config_dir() / "campaigns"
    found = [load(path.stem) for path in sorted(folder.glob("*.yaml"))]
    rows = [(one.name, time_of(one), one.document["description"]) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [
        f"{name:{widths[0]}}  {time:{widths[1]}}  {description}" for name, time, description in rows
    ]


def time_of(campaign: Campaign) -> str:
    """Return in words how long a campaign took on this machine, or else the campaign's size."""
    took_s = _took_s(campaign.results)
    if took_s is not None:
        return f"took {_minutes(took_s)} here"
    count = len(campaign.rounds)
    size = f"{_counted(count, 'round')} of {_counted(len(campaign.environments), 'MPI')}"
    most = (campaign.until or {}).get("at_most_minutes")
    if most is not None:
        return f"{size}, and further ones in the first {most:g} min"
    return f"{size}; never run here"


def _took_s(results: Path) -> float | None:
    """Return the seconds that a campaign took; None if no record can be read."""
    try:
        record = documents.read_json(results / "campaign.json", "campaign_record")
    except InputError:
        return None
    return (record.get("timing") or {}).get("wall_s")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"

"""Find the faults in a site file before a job is submitted.

A site file may use the environments of this project, or only environments of the site's own. If all
environments are the site's own, the site file is checked against what ReFrame needs, and may have
other features and extras. The site file is loaded in the same way as by ReFrame. Some programs can
exist only on the site's own machine, such as those of a scheduler. On the site's machine (see
`hostnames`), a missing program is a fault. On any other machine, a missing program is only a note.
"""

import re
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reframe.core import backends, config, settings
from reframe.core.exceptions import ConfigError

from onesided.environments import site_mpi
from onesided.sites import LOCAL, WIRE, job_start, launchers
from onesided.sites.job_start import Entry
from onesided.sites.launchers import SRUN
from onesided.system import documents, values
from onesided.system.command import one_line
from onesided.system.errors import InputError
from onesided.system.text import line

ONE_NODE, NETWORK = "one_node", "network"
#: The launcher of a partition whose environments use their own launchers.
OWN_LAUNCHER = "mpiexec"
#: The most characters of a command in a message about its failure.
MOST_OF_A_COMMAND = 50


@dataclass
class Findings:
    """What was found in a site file: faults, notes and partitions.

    Attributes:
        faults: faults that must be corrected.
        notes: lines that the user should know.
        partitions: one line for each partition that could be read.
    """

    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    partitions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Partition:
    """A partition in a site file, with its environments.

    Attributes:
        path: the site file.
        name: ``system:partition``.
        entry: the partition's entry in ReFrame.
        documents: by ReFrame's name, the document of each environment; None for an environment of
            the site's own.
        undefined: the names of environments that the file does not define for the partition.
        is_here: whether the file is for this machine.
    """

    path: Path
    name: str
    entry: Entry
    documents: dict[str, Entry | None]
    undefined: list[str]
    is_here: bool

    def fault(self, where: str, found: object, expected: str) -> InputError:
        """Return an error about a field of the partition."""
        return InputError(self.path, f"{self.name}: {where}", found, expected)

    @property
    def ready(self) -> list[Entry]:
        """The documents of the partition's environments that are ready to run."""
        return [one for one in self.documents.values() if one and one["status"] == "ready"]

    @property
    def is_foreign(self) -> bool:
        """Whether all environments of the partition are the site's own.

        If all environments are the site's own, the features and extras are the site's own, too.
        """
        return bool(self.documents) and not any(self.documents.values())

    @property
    def extras(self) -> Entry:
        """The extras of the partition."""
        return self.entry.get("extras", {})

    @property
    def interfaces(self) -> Entry:
        """The extra ``srun_mpi`` of the partition; empty if it is not a mapping."""
        said = self.extras.get("srun_mpi")
        return said if isinstance(said, dict) else {}

    @property
    def features(self) -> list[str]:
        """The features of the partition."""
        return self.entry.get("features", [])


def check(path: Path) -> Findings:
    """Check a site file against ReFrame, docs/vocabulary.md, the environments and this machine."""
    findings = Findings()
    try:
        site = _load(path)
        systems = _systems(site)
        documents.refuse(values.fault(systems), path)
    except InputError as fault:
        findings.faults.append(fault)
        return findings
    for system in systems:
        try:
            _check_system(site, system, path, findings)
        except InputError as fault:
            findings.faults.append(fault)
    return findings


def _check_system(site: Any, system: Entry, path: Path, findings: Findings) -> None:
    job_start.select(site, system["name"], path)
    is_here = _is_here(system, path)
    if is_here:
        findings.faults += job_start.faults_of_modules(site, system, path)
    else:
        findings.notes.append(
            f"{system['name']} is another machine than {socket.gethostname()}: "
            "its programs are not looked for in earnest, its modules and commands are not tried"
        )
    for entry in system["partitions"]:
        name = f"{system['name']}:{entry['name']}"
        job_start.select(site, name, path)
        partition = Partition(path, name, entry, *_environments_of(site, entry), is_here)
        _check_partition(partition, findings)
        for failure, steps in job_start.failures(site, system, entry, try_them=is_here):
            _report(failure, steps, partition, findings)


def _load(path: Path) -> Any:
    """Load a ReFrame configuration from a file, as ReFrame itself would load it.

    Raises:
        InputError: the file cannot be loaded, or ReFrame refuses it.
    """
    if not path.is_file():
        raise InputError(path, None, "no such file", "a site file, such as sites/laptop.py")
    try:
        site = config.load_config(str(path))
        site.validate()
    except InputError as fault:  # the declarations are faulty, or lack a name
        where = f"{fault.source}: {fault.field}" if fault.field else fault.source
        raise InputError(path, where, fault.found, fault.expected) from fault
    except SyntaxError as fault:
        raise InputError(path, f"line {fault.lineno}", fault.msg, "Python") from fault
    except ConfigError as fault:
        expected = "a configuration that ReFrame takes"
        raise InputError(path, *_reason(fault, path), expected) from fault
    except Exception as fault:
        found = f"{type(fault).__name__}: {fault}"
        raise InputError(path, None, found, "a file that Python can load") from fault
    return site


def _reason(fault: Exception, path: Path) -> tuple[str | None, str]:
    """Return the field and the message of an error that ReFrame or its schema raised.

    The message is returned without the file's path, because the whole error begins with the path.
    """
    cause = fault.__cause__ or fault
    if hasattr(cause, "absolute_path"):
        return ".".join(map(str, cause.absolute_path)) or None, cause.message
    return None, str(cause).replace(f"'{path}'", "a file that")


def _systems(site: Any) -> list[Entry]:
    """Return the systems that a site file defines; ReFrame lists them before its own systems."""
    own = len(settings.site_configuration["systems"])
    return site["systems"][: len(site["systems"]) - own]


def _is_here(system: Entry, path: Path) -> bool:
    """Tell whether ReFrame would use an entry of `systems` on this host."""
    for pattern in system["hostnames"]:
        try:
            if re.match(pattern, socket.gethostname()):
                return True
        except re.error as fault:
            where = f"{system['name']}: hostnames"
            raise InputError(path, where, pattern, f"a regular expression: {fault}") from fault
    return False


def _environments_of(site: Any, entry: Entry) -> tuple[dict[str, Entry | None], list[str]]:
    """Return the documents of a partition's environments by name, and the undefined names."""
    defined = {one["name"]: one for one in site["environments"]}
    names = entry.get("environs", [])
    documents_by_name = {
        name: defined.get(name, {}).get("extras", {}).get("onesided") for name in names
    }
    return documents_by_name, [name for name in names if name not in defined]


def _check_partition(partition: Partition, findings: Findings) -> None:
    faults = [
        *_words(partition),
        *_placement(partition),
        *_backends(partition),
        *_environments(partition),
    ]
    missing = list(_programs(partition))
    if partition.is_here:
        faults += missing
    else:
        findings.notes += [str(fault) for fault in missing]
    findings.faults += faults
    findings.notes += _notes(partition)
    findings.partitions.append(_line(partition))


def _words(partition: Partition) -> Iterator[InputError]:
    """Yield a fault for each extra or feature that is invalid or not in docs/vocabulary.md.

    If all environments of a partition are the site's own, only the values of this project's extras
    are checked.
    """
    said: dict[str, Any] = {"extras": partition.extras, "features": partition.features}
    if partition.is_foreign:
        known = documents.load_schema("partition")["$defs"]["extras"]["properties"]
        own = {name: value for name, value in partition.extras.items() if name in known}
        said = {"extras": own}
    for name, content in said.items():
        where = f"{partition.name}: {name}"
        yield from documents.faults(content, f"partition#{name}", partition.path, where)
    if "ranks" in partition.extras:
        where = f"{partition.name}: extras.ranks"
        yield from documents.faults(partition.extras["ranks"], "ranks", partition.path, where)


def _placement(partition: Partition) -> Iterator[InputError]:
    """Yield a fault for each pair of a partition's entries that disagree about its nodes."""
    if partition.is_foreign:
        return
    said = [word for word in (ONE_NODE, NETWORK) if word in partition.features]
    per_node = partition.extras.get("ranks_per_node")
    if len(said) != 1:
        found = " and ".join(said) or "neither"
        yield partition.fault("features", found, f"one of {ONE_NODE} and {NETWORK}")
    elif said == [NETWORK] and per_node is None:
        expected = f"how many ranks a node gets, for {NETWORK} says that they are on several"
        yield partition.fault("extras.ranks_per_node", "nothing", expected)
    elif said == [ONE_NODE]:
        expected = f"nothing, for {ONE_NODE} says that all ranks are on one"
        for name in ("ranks_per_node", "nodes"):
            if name in partition.extras:
                yield partition.fault(f"extras.{name}", partition.extras[name], expected)
    has_hosts = WIRE in partition.features
    is_local = partition.entry["scheduler"] == LOCAL
    if NETWORK in said and is_local and not has_hosts and _is_own(partition):
        expected = f"a scheduler that gives several nodes, or {ONE_NODE}"
        yield partition.fault("scheduler", f"{LOCAL} with {NETWORK}", expected)


def _is_own(partition: Partition) -> bool:
    return partition.entry["launcher"] == OWN_LAUNCHER


def _backends(partition: Partition) -> Iterator[InputError]:
    """Yield faults of a partition's scheduler and launcher, and of extras for the launcher."""
    for kind, get in (("scheduler", backends.getscheduler), ("launcher", backends.getlauncher)):
        try:
            get(partition.entry[kind])
        except ConfigError as fault:
            expected = f"a {kind} of ReFrame's that can be used here"
            yield partition.fault(kind, f"{partition.entry[kind]}: {fault}", expected)
    launcher = partition.entry["launcher"]
    if launcher in site_mpi.WITHOUT_RANKS:
        if not partition.is_foreign:
            yield _no_ranks(partition)
    elif (
        not partition.is_foreign
        and launcher not in (OWN_LAUNCHER, SRUN)
        and "launcher_placement" not in partition.extras
    ):
        expected = f"the options of {launcher} for unbound and core"
        yield partition.fault("extras.launcher_placement", "nothing", expected)
    if launcher != SRUN and "srun_mpi" in partition.extras:
        expected = f"nothing, for the launcher is {launcher} and not {SRUN}"
        yield partition.fault("extras.srun_mpi", "a mapping", expected)


def _no_ranks(partition: Partition) -> InputError:
    expected = f"a launcher that starts ranks, such as {OWN_LAUNCHER} or {SRUN}"
    return partition.fault("launcher", partition.entry["launcher"], expected)


def _environments(partition: Partition) -> Iterator[InputError]:
    """Yield faults for unusable environments, and a fault if no environment is ready."""
    for name in partition.undefined:
        expected = f"an environment that the file defines for {partition.name}"
        yield partition.fault("environs", name, expected)
    for document in partition.ready:
        program = document["launcher"]["path"]
        if _is_own(partition) and not Path(program).is_file():
            expected = f"the launcher of {document['name']}: `onesided environments` provides it"
            yield partition.fault("environs", f"no {program}", expected)
    if not partition.ready and not partition.is_foreign:
        reasons = [one["reason"] for one in partition.documents.values() if one]
        found = f"none that is ready; {reasons[0]}" if reasons else "none"
        yield partition.fault("environs", found, "an environment that is provided")


def _programs(partition: Partition) -> Iterator[InputError]:
    """Yield faults for programs and values of ``srun --mpi`` that this machine lacks."""
    entry = partition.entry
    kinds = {"scheduler": entry["scheduler"]}
    # the modules of a foreign environment may bring a launcher: `job_start` looks for it
    is_of_modules = partition.is_foreign and entry["launcher"] in launchers.LAUNCHERS_OF_AN_MPI
    if not _is_own(partition) and not is_of_modules:
        kinds["launcher"] = entry["launcher"]
    for kind, name in kinds.items():
        program = launchers.PROGRAMS.get(name)
        if program and shutil.which(program) is None:
            yield partition.fault(kind, f"no {program} on PATH", f"{name}'s program")
    if entry["launcher"] == SRUN and shutil.which(SRUN):
        yield from _interfaces(partition)


def _interfaces(partition: Partition) -> Iterator[InputError]:
    """Yield a fault for each value of ``srun --mpi`` that this machine's Slurm does not know."""
    known = launchers.srun_mpi_list()
    for family, value in partition.interfaces.items():
        if known and value not in known:
            expected = f"one of {', '.join(known)} (srun --mpi=list)"
            yield partition.fault(f"extras.srun_mpi.{family}", value, expected)


def _notes(partition: Partition) -> Iterator[str]:
    for name, document in partition.documents.items():
        if document and document["status"] != "ready":
            yield f"{partition.name}: {name} is not there: {one_line(document['reason'])}"
    entry = partition.entry
    if partition.is_foreign and entry["launcher"] in site_mpi.WITHOUT_RANKS:
        yield f"{_no_ranks(partition)}; the checks are skipped there"
    if entry["scheduler"] == LOCAL:
        return
    if "num_cpus" not in entry.get("processor", {}):
        yield (
            f"{partition.name}: processor.num_cpus is not said; whether ranks have to share cores "
            "is told by the cores of the machine that ReFrame runs on"
        )
    if entry["launcher"] == SRUN and not partition.is_foreign:
        served = partition.interfaces
        others = {one["family"] for one in partition.documents.values() if one}
        others -= {None, *served}
        if others:
            yield (
                f"{partition.name}: {', '.join(sorted(others))} not in srun_mpi; launched by the "
                "environment's own launcher inside the job"
            )


def _line(partition: Partition) -> str:
    said = f"{partition.name}: {partition.entry['scheduler']}, {partition.entry['launcher']}; "
    own = [name for name, document in partition.documents.items() if document is None]
    of_site = f"environments of the site's own: {', '.join(own)}"
    if partition.is_foreign:
        return said + of_site
    per_node = partition.extras.get("ranks_per_node", "all")
    declared = len(partition.documents) - len(own)
    ready = f"environments ready: {len(partition.ready)} of {declared}"
    return f"{said}ranks a node: {per_node}; {ready}" + (f"; {of_site}" if own else "")


def _report(
    failure: job_start.Failure,
    steps: list[job_start.Step],
    partition: Partition,
    findings: Findings,
) -> None:
    """Report a failed step: a fault if the step fails everywhere or jobs run here, else a note."""
    step = failure.step
    said = line(" ".join(step.said.split()), MOST_OF_A_COMMAND)
    found = f"{said} ({failure.found})" if failure.found else said
    fault = partition.fault(step.field, found, step.expected)
    if step.is_wrong or partition.entry["scheduler"] == LOCAL:
        findings.faults.append(fault)
        return
    commands = [one.command for one in steps[: steps.index(step) + 1]]
    typed = line(job_start.typed(commands, partition.entry))
    findings.notes.append(f"{fault}; on this machine. To try it in a job, type: {typed}")

"""What a job would fail at before its own commands: modules, commands and variables of a site."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onesided.sites import LOCAL, SLURM, job_start
from onesided.sites.partition import SRUN, Entry, Findings, Partition
from onesided.system.errors import InputError
from onesided.system.text import line

#: Characters of a command in a line that says how it failed.
MOST_OF_A_COMMAND = 50


def modules_of_reframe(site: Any, system: Entry, path: Path) -> Iterator[InputError]:
    """Yield why ReFrame cannot start: with this option it asks for modules before any job."""
    from reframe.core.exceptions import ConfigError
    from reframe.core.modules import ModulesSystem

    option = "resolve_module_conflicts"
    said = [one[option] for one in site["general"] if option in one]
    kind = system.get(job_start.MODULES_SYSTEM, job_start.NO_MODULES)
    if said and not said[0]:
        return
    try:
        ModulesSystem.create(kind)
    except ConfigError as fault:
        where = f"{system['name']}: {job_start.MODULES_SYSTEM}"
        expected = f"a modules system that ReFrame finds here, or {option} off in general"
        yield InputError(path, where, f"{kind}: {fault}", expected)


def start(site: Any, system: Entry, partition: Partition, findings: Findings) -> None:
    """Report what fails before a job's own commands; an environment may add to its partition."""
    login = any(one.get("use_login_shell") for one in site["general"])
    entries = {one["name"]: one for one in site["environments"]}
    environments = [entries.get(name) for name in partition.entry.get("environs", [])]
    alone = job_start.steps(system, partition.entry)
    tries = [job_start.steps(system, partition.entry, one) for one in environments if one]
    seen: set[job_start.Step] = set()
    for steps in [alone, *(one for one in tries if one != alone)]:
        failures = [job_start.Failure(step) for step in steps if step.is_wrong]
        if partition.is_here:
            failures += job_start.try_here(steps, login=login)
        for failure in failures:
            if failure.step not in seen:
                seen.add(failure.step)
                _report(failure, steps, partition, findings)


def _report(
    failure: job_start.Failure,
    steps: list[job_start.Step],
    partition: Partition,
    findings: Findings,
) -> None:
    """Add a fault where no machine takes the step, or this one runs the jobs; else a note."""
    step = failure.step
    said = line(" ".join(step.said.split()), MOST_OF_A_COMMAND)
    found = f"{said} ({failure.found})" if failure.found else said
    fault = partition.fault(step.field, found, step.expected)
    if step.is_wrong or partition.entry["scheduler"] == LOCAL:
        findings.faults.append(fault)
        return
    commands = [one.command for one in steps[: steps.index(step) + 1]]
    typed = line(_typed(commands, partition))
    findings.notes.append(f"{fault}; on this machine. To try it in a job, type: {typed}")


def _typed(commands: list[str], partition: Partition) -> str:
    """Return what a person types, in one line, to try commands within a job."""
    shell = f"bash -c {_quoted('; '.join(commands))}"
    if partition.entry["scheduler"] in SLURM:
        return shlex.join([SRUN, "--ntasks=1", *partition.entry.get("access", [])]) + f" {shell}"
    return shell


def _quoted(script: str) -> str:
    """Return a script as one word of bash, also one of several lines."""
    if "\n" not in script:
        return shlex.quote(script)
    escaped = script.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"$'{escaped}'"

"""Try the shell lines that a job runs before its own commands, in a shell like the job's.

If an environment is the site's own, its modules must provide a compiler and a launcher: the shell
then looks for these programs.

The shell script has the lines that ReFrame would write, and runs to its end even if a line fails.
Two bash traps record which lines of the script began and which failed. All lines run in the same
shell, as in a job, so that a module sees what an earlier command has set.
"""

import re
import shlex
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reframe.core.environments import normalize_module_list
from reframe.core.exceptions import ConfigError
from reframe.core.modules import ModulesSystem

from onesided.sites import SLURM, TEMPORARY_FOLDER_OF_THE_NODE
from onesided.sites.launchers import LAUNCHERS_OF_AN_MPI, SRUN
from onesided.system.command import Command, Outcome
from onesided.system.errors import InputError

Entry = dict[str, Any]

#: The time limit for all commands and modules of a partition together.
LIMIT_S = 60.0

MODULES_SYSTEM = "modules_system"
#: ReFrame's value for a machine without modules. It is ReFrame's default.
NO_MODULES = "nomod"
#: For each modules system: a command that tests whether a shell has it, and words for a message.
ASKED = {
    "lmod": (
        'type module; [ -n "${LMOD_CMD:-}" ] || { echo LMOD_CMD is not set >&2; false; }',
        "Lmod: the command `module` and the variable LMOD_CMD",
    ),
    "envmod": ("type module", "Environment Modules: the command `module`"),
    "tmod4": ("type module", "Environment Modules: the command `module`"),
    "spack": ("type spack", "Spack: the command `spack`"),
}
#: The beginning of a line that looks for a program.
LOOK_FOR = "command -v "
SCRIPT = r"""#!/bin/bash
exec {{onesided_marks}}>&2 >/dev/null
trap 'echo "{token} begin $? $LINENO ${{BASH_LINENO[*]}}" >&$onesided_marks' DEBUG
# in a subshell, or it would begin, too
trap '(echo "{token} failed $? $LINENO ${{BASH_LINENO[*]}}" >&$onesided_marks)' ERR
{lines}
trap - ERR DEBUG
echo "{token} end" >&$onesided_marks
# no 0: what the lines left running is ended then
exit 1
"""
#: The text before the messages of bash itself.
OF_BASH = re.compile(r"^\S*: line (\d+): ")


@dataclass(frozen=True)
class Step:
    """A step: a shell line that a job runs before its own commands.

    Attributes:
        field: the field of the site file that has the line.
        said: the value of this field.
        command: the command for the shell.
        expected: what would be correct.
        is_wrong: whether the line is wrong on every machine. Then it is not tried.
    """

    field: str
    said: str
    command: str
    expected: str
    is_wrong: bool = False

    @property
    def is_module(self) -> bool:
        """Whether the step loads an environment module."""
        return ".modules." in f".{self.field}"

    @property
    def is_program(self) -> bool:
        """Whether the step looks for a program, which a module may have to provide."""
        return self.command.startswith(LOOK_FOR)


@dataclass(frozen=True)
class Failure:
    """A step of a job that failed, and how it failed.

    Attributes:
        found: the exit status and the first line on standard error, or the time limit; empty if the
            step was not tried.
    """

    step: Step
    found: str = ""


def select(site: Any, name: str, path: Path) -> None:
    """Reduce a ReFrame configuration to what ReFrame uses for one system or partition.

    The reduction is needed because an environment of the same name may have other modules on each
    system.

    Raises:
        InputError: ReFrame cannot use the configuration for the system.
    """
    try:
        site.select_subconfig(name, ignore_resolve_errors=True)
    except (ConfigError, ValueError) as fault:
        raise InputError(path, name, str(fault), "a system that ReFrame takes") from fault


def faults_of_modules(site: Any, system: Entry, path: Path) -> Iterator[InputError]:
    """Yield why ReFrame cannot start.

    With the option `resolve_module_conflicts`, ReFrame needs the module system when it starts. In
    `site`, ReFrame's configuration, this system is selected.
    """
    option = "resolve_module_conflicts"
    kind = system.get(MODULES_SYSTEM, NO_MODULES)
    if not site.get(f"general/0/{option}"):
        return
    try:
        ModulesSystem.create(kind)
    except ConfigError as fault:
        where = f"{system['name']}: {MODULES_SYSTEM}"
        expected = f"a modules system that ReFrame finds here, or {option} off in general"
        yield InputError(path, where, f"{kind}: {fault}", expected)


def failures(
    site: Any, system: Entry, partition: Entry, *, try_them: bool
) -> Iterator[tuple[Failure, list[Step]]]:
    """Yield each step of a job that fails, together with all steps of the job.

    In `site`, ReFrame's configuration, this partition is selected. Each environment of the
    partition may add steps. `try_them` says whether to try the steps on this machine.
    """
    login = site.get("general/0/use_login_shell")
    entries = {one["name"]: one for one in site["environments"]}
    environments = [entries.get(name) for name in partition.get("environs", [])]
    alone = steps(system, partition)
    tries = [steps(system, partition, one) for one in environments if one]
    seen: set[Step] = set()
    for tried in [alone, *(one for one in tries if one != alone)]:
        found = [Failure(step) for step in tried if step.is_wrong]
        if try_them:
            found += try_here(tried, login=login)
        for failure in found:
            if failure.step not in seen:
                seen.add(failure.step)
                yield failure, tried


def steps(system: Entry, partition: Entry, environment: Entry | None = None) -> list[Step]:
    """Return a job's steps in ReFrame's order: steps of the partition, then of the environment."""
    kind = system.get(MODULES_SYSTEM, NO_MODULES)
    found = [*_commands(partition, ""), *_modules(partition, "", kind), *_variables(partition, "")]
    if environment:
        prefix = f"environments.{environment['name']}."
        found += [
            *_commands(environment, prefix),
            *_modules(environment, prefix, kind),
            *_variables(environment, prefix),
        ]
    if kind in ASKED:
        command, expected = ASKED[kind]
        asked = Step(MODULES_SYSTEM, kind, command, f"{expected}, in the shell of a job")
        # a command before the first module may set up the modules system
        modules = [place for place, step in enumerate(found) if step.is_module]
        found.insert(modules[0] if modules else len(found), asked)
    if environment and "onesided" not in environment.get("extras", {}):
        found += _programs(partition, environment)
    return found


def _programs(partition: Entry, environment: Entry) -> Iterator[Step]:
    """Yield steps that look for the compiler and launcher of an environment of a site's own."""
    name = environment["name"]
    programs = [(f"environments.{name}.cc", environment.get("cc", "cc"), "a compiler")]
    if launcher := LAUNCHERS_OF_AN_MPI.get(partition["launcher"]):
        programs.append(("launcher", launcher, f"a launcher, in the environment {name}"))
    for field, program, kind in programs:
        yield Step(field, program, LOOK_FOR + shlex.quote(program), f"{kind} that is on PATH")


def _commands(entry: Entry, prefix: str) -> Iterator[Step]:
    own = [one for one in entry.get("prepare_cmds", []) if one != TEMPORARY_FOLDER_OF_THE_NODE]
    for place, command in enumerate(own):
        yield Step(f"{prefix}prepare_cmds.{place}", command, command, "a command that ends with 0")


def _modules(entry: Entry, prefix: str, kind: str) -> Iterator[Step]:
    system = ModulesSystem.create(kind, validate=False)
    for place, module in enumerate(normalize_module_list(entry.get("modules", []))):
        field, said = f"{prefix}modules.{place}", module["name"]
        if not said.strip():
            yield Step(field, "no name", ":", "the name of a module", is_wrong=True)
        elif kind == NO_MODULES:
            expected = f"no module, or a {MODULES_SYSTEM} that loads modules"
            yield Step(field, said, ":", expected, is_wrong=True)
        else:
            command = "\n".join(system.emit_load_commands(**module))
            yield Step(field, said, command, "a module that can be loaded")


def _variables(entry: Entry, prefix: str) -> Iterator[Step]:
    for name, *values in entry.get("env_vars", []):
        value = str(values[0]) if values else ""
        line = f"{name}={value}"
        # ReFrame does not quote values: for the shell, text after a space is a second variable
        is_wrong = not _is_one_word(line)
        command = ":" if is_wrong else f"export {line}"
        expected = "one word of the shell, with quotes inside the value around spaces and quotes"
        yield Step(f"{prefix}env_vars.{name}", value, command, expected, is_wrong)


def _is_one_word(line: str) -> bool:
    """Tell whether a shell reads a line of text as one word.

    The answer is always yes if the line contains a command substitution, such as ``$(date)``.
    """
    if "$(" in line or "`" in line:
        return True
    try:
        return len(shlex.split(line)) == 1
    except ValueError:
        return False


def try_here(all_steps: Sequence[Step], *, login: bool) -> list[Failure]:
    """Run the steps of a job in one shell on this machine; return the failures in order.

    Steps that would fail on every machine are not run. `login` says whether a job's shell is a
    login shell.
    """
    if all(step.is_wrong for step in all_steps):
        return []
    token = f"onesided-{uuid.uuid4().hex}"
    lines = "\n".join(map(_marked, all_steps))
    script = SCRIPT.format(token=token, lines=lines)
    first = script.partition(lines)[0].count("\n") + 1
    with tempfile.TemporaryDirectory(prefix="onesided-") as name:
        folder = Path(name)
        (folder / "job.sh").write_text(script, "utf-8", errors="replace")
        (folder / "work").mkdir()
        outcome = Command().run(
            ["bash", *(["-l"] if login else []), folder / "job.sh"],
            log=folder / "stderr",
            timeout_s=LIMIT_S,
            folder=folder / "work",
        )
    found = _read(outcome, token, _Places(all_steps, first))
    return _without_consequences([found[place] for place in sorted(found)])


def _marked(step: Step) -> str:
    """Return a step's command.

    If the command begins with "(" or "{", bash would not report the line where the command begins,
    so an empty command is put before the command.
    """
    return f": ; {step.command}" if step.command.lstrip()[:1] in ("(", "{") else step.command


@dataclass(frozen=True)
class _Places:
    """Finds the job step to which a line of the shell script belongs.

    Attributes:
        first: the number of the line at which the first step begins.
    """

    steps: Sequence[Step]
    first: int

    def of(self, line: int) -> int:
        """Return the number of a line's step; lines after the last step belong to the last step."""
        end = self.first
        for place, step in enumerate(self.steps):
            end += step.command.count("\n") + 1
            if line < end:
                return place
        return len(self.steps) - 1


def _read(outcome: Outcome, token: str, places: _Places) -> dict[int, Failure]:
    """Return the failures that the traps wrote to the output; the keys are numbers of steps."""
    words: dict[int, list[str]] = {}
    statuses: dict[int, int] = {}
    begun, ended = 0, False
    for line in outcome.output.splitlines():
        before, mark, said = line.partition(token)
        if before.strip():
            words.setdefault(begun, []).append(before)
        kind, *numbers = said.split() if mark else [""]
        if kind == "begin":
            begun = _place(numbers, places)
        elif kind == "failed":
            statuses[_place(numbers, places)] = int(numbers[0])
        elif kind == "end":
            ended = True
    if outcome.status is None:
        statuses.pop(begun, None)
    found = {
        place: Failure(places.steps[place], _reason(status, words.get(place, [])))
        for place, status in statuses.items()
    }
    if outcome.status is None:
        limit = f"still running after {LIMIT_S:g} s, the limit; nothing after it was tried"
        found[begun] = Failure(places.steps[begun], limit)
    elif not ended:
        place = _refused(words.get(begun, []), places, begun)
        reason = _reason(outcome.status, words.get(begun, []))
        found.setdefault(place, Failure(places.steps[place], f"it ends the shell, {reason}"))
    return found


def _place(numbers: Sequence[str], places: _Places) -> int:
    """Return the number of the step that wrote a mark, itself or in a file that it sourced."""
    _, here, *callers = map(int, numbers)
    return places.of(callers[-2] if len(callers) > 1 else here)


def _refused(said: Sequence[str], places: _Places, begun: int) -> int:
    """Return the number of the step that bash could not parse, or else the step that began last."""
    for line in said:
        match = OF_BASH.match(line)
        if match and ("syntax error" in line or "unexpected EOF" in line):
            return places.of(int(match.group(1)))
    return begun


def _reason(status: int, said: Sequence[str]) -> str:
    first = f": {OF_BASH.sub('', said[0])}" if said else ""
    return f"exit status {status}{first}"


def _without_consequences(failures: list[Failure]) -> list[Failure]:
    """Leave out failures to load modules if the module system itself is missing.

    Failures to find a program are left out, too, if any other step failed.
    """
    if any(one.step.field == MODULES_SYSTEM for one in failures):
        failures = [one for one in failures if not one.step.is_module]
    others = [one for one in failures if not one.step.is_program]
    return others or failures


def typed(commands: Sequence[str], partition: Entry) -> str:
    """Return a command line that a user can type to try some commands in a job."""
    shell = f"bash -c {_quoted('; '.join(commands))}"
    if partition["scheduler"] in SLURM:
        return shlex.join([SRUN, "--ntasks=1", *partition.get("access", [])]) + f" {shell}"
    return shell


def _quoted(script: str) -> str:
    """Return a script quoted as one word for bash, even if the script has several lines."""
    if "\n" not in script:
        return shlex.quote(script)
    escaped = script.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"$'{escaped}'"

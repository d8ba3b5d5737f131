"""Make the ReFrame configuration of a site from the few lines in the site's file."""

import gc
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onesided.environments import declarations, provision
from onesided.system import paths, strays, surroundings

Entry = dict[str, Any]

LOCAL = "local"
#: The feature of a partition whose nodes are hosts of one machine (`onesided.system.wire`).
WIRE = "wire"
#: ReFrame's schedulers that submit with ``sbatch``: with accounting, and without it.
SLURM = ("slurm", "squeue")
#: How many times a second ReFrame looks whether a launch is finished. ReFrame's default slows down
#: to one look in ten seconds, but a launch on one machine often takes less time.
LOOKS_LOCAL = 10
#: A scheduler is asked less often, because several sessions wait for it at the same time.
LOOKS_SCHEDULER_MOST, LOOKS_SCHEDULER_LEAST = 1, 0.2
#: When ReFrame starts, it makes some hundred thousand objects that stay. Looking for garbage among
#: them after every 700 new objects, as Python does, takes 7 % of this time.
OBJECTS_PER_COLLECTION = 50_000
#: For each log record, even if it is not written, ReFrame collects all data of a check, which takes
#: about 10 ms. At the level `debug`, this would use a third of a core during the launches.
LOG_LEVEL = "verbose"
LOG = "reframe.log"
#: The pattern of the name of ReFrame's first log, and the module that opens this log.
FIRST_LOG, FIRST_LOG_OWNER = "rfm-*.log", "reframe.core.logging"
#: Lets a node use its own temporary folder, if it does not have TMPDIR of ReFrame's machine.
TEMPORARY_FOLDER_OF_THE_NODE = '[ -d "${TMPDIR:-/tmp}" ] || unset TMPDIR'

#: Further sections of a site file that `configuration` takes as they are.
SECTIONS = ("modes", "storage", "autodetect_methods")

PERFLOG_FIELDS = (
    "%(check_result)s",
    "%(check_job_completion_time)s",
    "%(check_display_name)s",
    "%(check_environ)s",
    "%(check_perfvalues)s",
)
PERFLOG_FIGURE = (
    "%(check_perf_var)s=%(check_perf_value)s %(check_perf_unit)s"
    " (r=%(check_perf_ref)s l=%(check_perf_lower_thres)s u=%(check_perf_upper_thres)s)|"
)


def configuration(
    system: str,
    descr: str,
    partitions: Sequence[Entry],
    hostnames: Sequence[str] = (".*",),
    **more: Any,
) -> Entry:
    """Return the dictionary that a site file calls ``site_configuration``.

    Every declared environment is in the configuration. If an environment was not provided yet,
    ReFrame skips its checks and says why. Environments in containers are in the configuration only
    if they were provided.

    Args:
        system: the name of the machine in ReFrame.
        descr: one line that describes the machine for readers.
        partitions: ReFrame's partition entries. ``environs`` has names from
            config/environments.yaml; by default all environments are used. docs/vocabulary.md lists
            the extras and features of this project.
        hostnames: regular expressions for the hosts on which ReFrame is started.
        more: further entries. ``environments`` is a list of environments to add. ``modes``,
            ``storage`` and ``autodetect_methods`` are ReFrame's sections. ``general`` is a mapping
            of ReFrame's general options, which replace the options here. Any other key is a key of
            ReFrame's system entry.

    Raises:
        InputError: config/environments.yaml is faulty, or does not have a name in ``environs``.
    """
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    surroundings.clear(but="RFM_")
    if strays.SESSION_MARKER not in os.environ:
        surroundings.say()
    folder = _folder()
    _move_first_log(folder)
    names = _names()
    added = more.pop("environments", [])
    general = {**_general(partitions), **more.pop("general", {})}
    sections = {name: more.pop(name) for name in SECTIONS if name in more}
    return {
        "systems": [
            {
                "name": system,
                "descr": descr,
                "hostnames": list(hostnames),
                "prefix": str(folder),
                "partitions": [_partition(entry, names) for entry in partitions],
                **more,
            }
        ],
        "environments": [*(_environment(name, system) for name in names), *added],
        "general": [general],
        "logging": [_logging(folder)],
        "modes": [regression_mode()],
        # a campaign keeps results itself, and many of its sessions may run at the same time
        "storage": [{"enable": strays.SESSION_MARKER not in os.environ}],
        **sections,
    }


def _names() -> list[str]:
    """Return the environments of a partition that does not list its environments (``environs``)."""
    declared = declarations.declared(in_containers=True)
    return [
        name
        for name, one in declared.items()
        if one.launch_model == declarations.NATIVE or paths.environment_file(name).exists()
    ]


def regression_mode() -> Entry:
    """Return the ReFrame mode ``regression``: a few checks, compared with the site's references."""
    checks = paths.project_root() / "reframe_checks"
    options = [
        f"--checkpath={checks}",
        "--recursive",
        "--tag=regression",
        "--filter-expr=setting == 'default'",
        "--setvar=hold_figures=yes",
    ]
    # ReFrame splits each option as a shell does
    return {"name": "regression", "options": [shlex.quote(option) for option in options]}


def _folder() -> Path:
    """Return the folder for ReFrame's files: the session's folder, or a folder in ``build/``."""
    declared = os.environ.get(strays.SESSION_MARKER)
    folder = Path(declared) if declared else paths.build_dir() / "reframe"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _move_first_log(folder: Path) -> None:
    """Let ReFrame write its first log file to a folder of this project.

    ReFrame opens this log file in the system's temporary folder, before it reads a site file.
    Without this function, the log file would remain in the temporary folder.
    """
    handlers = getattr(getattr(sys.modules.get(FIRST_LOG_OWNER), "_logger", None), "handlers", ())
    for handler in handlers:
        path = Path(getattr(handler, "baseFilename", ""))
        if path.match(FIRST_LOG):
            handler.close()
            path.unlink(missing_ok=True)
            # the next record opens the new file
            handler.baseFilename = str(folder / LOG)


def _partition(entry: Entry, names: Sequence[str]) -> Entry:
    """Return a partition of a site file, completed with the entries that this project adds."""
    chosen = [one.name for one in declarations.select(entry.get("environs", names))]
    order = os.environ.get(provision.ORDER_VARIABLE, "").split(",")
    chosen.sort(key=lambda name: order.index(name) if name in order else len(order))
    found = {
        **entry,
        "environs": [provision.reframe_name(name) for name in chosen],
    }
    if entry.get("scheduler") == LOCAL:
        return {"max_jobs": 1, **found}
    found["prepare_cmds"] = [TEMPORARY_FOLDER_OF_THE_NODE, *entry.get("prepare_cmds", [])]
    return found


def _environment(name: str, system: str) -> Entry:
    """Return the ReFrame entry of an environment, from the document that its provider wrote.

    The ReFrame entry sets no environment variables, because the checks set them
    (`kernels.shell_lines`).
    """
    document = provision.read(name)
    return {
        "name": provision.reframe_name(name),
        "cc": document["compilers"].get("c", "false"),
        "extras": {"onesided": document},
        "features": provision.reframe_features(document),
        "target_systems": [system],
    }


def _general(partitions: Sequence[Entry]) -> Entry:
    most = least = LOOKS_LOCAL
    if any(entry.get("scheduler") != LOCAL for entry in partitions):
        most, least = LOOKS_SCHEDULER_MOST, LOOKS_SCHEDULER_LEAST
    return {
        "resolve_module_conflicts": False,
        "remote_detect": False,
        "poll_rate_min": least,
        "poll_rate_max": most,
        "report_junit": None,
    }


def _logging(folder: Path) -> Entry:
    return {
        "level": LOG_LEVEL,
        "handlers": [
            {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"},
            {
                "type": "file",
                "name": str(folder / LOG),
                "level": LOG_LEVEL,
                "format": "[%(asctime)s] %(levelname)s: %(check_info)s: %(message)s",
            },
        ],
        "handlers_perflog": [
            {
                "type": "filelog",
                "prefix": "%(check_system)s/%(check_partition)s",
                "level": "info",
                "format": "|".join(PERFLOG_FIELDS),
                "format_perfvars": PERFLOG_FIGURE,
                "append": True,
            }
        ],
    }

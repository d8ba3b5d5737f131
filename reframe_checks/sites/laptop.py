"""A machine with no scheduler: one partition, and every declared environment found on it.

Used as ``reframe -C reframe_checks/sites/laptop.py``. Environments are read from the files that
``onesided environments`` writes; one that is not there yet, or could not be provided, is listed
all the same, so that its checks are skipped with the reason and not left out.
"""

import os
import pathlib

from onesided import environments, paths

PARTITION = "node"


def _environment_entry(name: str) -> dict:
    document = environments.read(name)
    variables = [[key, value] for key, value in document["variables"].items()]
    if document["prefix"]:
        variables.append(["PATH", f"{document['prefix']}/bin:$PATH"])
    return {
        "name": environments.reframe_name(name),
        "cc": document["compilers"].get("c", "false"),
        "env_vars": variables,
        "extras": {"onesided": document},
        "features": document["features"],
        "target_systems": ["laptop"],
    }


NAMES = list(environments.declared())
LOG_FOLDER = pathlib.Path(os.environ.get("ONESIDED_SESSION", paths.build_dir() / "reframe"))
LOG_FOLDER.mkdir(parents=True, exist_ok=True)
PERFLOG_FIELDS = [
    "%(check_result)s",
    "%(check_job_completion_time)s",
    "%(check_display_name)s",
    "%(check_environ)s",
    "%(check_perfvalues)s",
]
PERFLOG_FIGURE = "%(check_perf_var)s=%(check_perf_value)s %(check_perf_unit)s|"

site_configuration = {
    "systems": [
        {
            "name": "laptop",
            "descr": "this machine, as it is",
            "hostnames": [".*"],
            "prefix": str(LOG_FOLDER),
            "partitions": [
                {
                    "name": PARTITION,
                    "descr": "ranks side by side on this machine",
                    "scheduler": "local",
                    "launcher": "mpiexec",
                    "max_jobs": 1,
                    "environs": [environments.reframe_name(name) for name in NAMES],
                    "extras": {"launch_model": "native"},
                }
            ],
        }
    ],
    "environments": [_environment_entry(name) for name in NAMES],
    "general": [
        {
            "resolve_module_conflicts": False,
            "remote_detect": False,
            # looks a second; the default slows down to one in ten seconds, longer than a launch
            "poll_rate_min": 10,
            "poll_rate_max": 10,
            "report_junit": None,
        }
    ],
    "logging": [
        {
            "handlers": [
                {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"},
                {
                    "type": "file",
                    "name": str(LOG_FOLDER / "reframe.log"),
                    "level": "debug",
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
    ],
}

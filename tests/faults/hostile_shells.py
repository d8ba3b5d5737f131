"""Shells and limits in which a campaign has the same verdicts, or says what is wrong.

`test_hostile_shells.py` runs a small campaign in each shell, and `python tools/hostile_shells.py`
any other campaign. In the values, ``{scratch}`` is the folder that `prepare` fills, and
``{other_mpi}`` is the folder of another MPI's libraries.
"""

import contextlib
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from onesided.system import paths

ROOT = Path(__file__).parents[2]
ONESIDED = ROOT / ".venv/bin/onesided"
RUN_S = 1800
#: For a shell that may break installing and building: everything is made again in the shell.
FRESH = "ONESIDED_BUILD"
MPICH, OPENMPI, INTEL = "mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"


@dataclass(frozen=True)
class Shell:
    """One shell.

    Attributes:
        name: what is odd about the shell.
        variables: exported in the shell.
        unset: names of variables that the shell lacks.
        before: lines of bash before the command.
        refused: the name in the line with which a campaign ends; None if the campaign runs.
        mpi: the environment of a small campaign in the shell.
        fresh: MPIs and kernels are installed and built in the shell.
        quickly: each run of the tests tries the shell.
    """

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    before: str = ""
    refused: str | None = None
    mpi: str = MPICH
    fresh: bool = False
    quickly: bool = False


SHELLS = (
    Shell(
        "variables of every MPI",
        {
            "OMPI_MCA_osc": "ucx", "OMPI_MCA_pml": "ucx", "OMPI_MCA_opal_common_ucx_tls": "any",
            "OMPI_MCA_opal_common_ucx_devices": "any", "MPIR_CVAR_CH4_NETMOD": "ofi",
            "MPIR_CVAR_NOLOCAL": "1", "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp",
        },
        quickly=True,
    ),
    Shell("a progress thread", {"MPIR_CVAR_ASYNC_PROGRESS": "1", "MPICH_ASYNC_PROGRESS": "1",
                                "I_MPI_ASYNC_PROGRESS": "1"}, mpi=INTEL),
    Shell("transports", {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "nosuch0", "FI_PROVIDER": "psm3",
                         "FI_PROVIDER_PATH": "/not/there", "PSM2_DEVICES": "nosuch"},
          mpi=INTEL),
    Shell("launchers", {"HYDRA_HOST_FILE": "/not/there", "HYDRA_LAUNCHER": "rsh",
                        "MPIEXEC_TIMEOUT": "1", "PRTE_MCA_plm": "slurm", "OMPI_MCA_plm": "slurm",
                        "HYDRA_BINDING": "core"}, mpi=OPENMPI),
    Shell("rank of another launch", {"PMI_RANK": "3", "PMI_SIZE": "7", "PMI_FD": "17",
                                     "PMIX_RANK": "3", "PMIX_NAMESPACE": "gone",
                                     "OMPI_COMM_WORLD_RANK": "3", "MPI_LOCALRANKID": "3"},
          mpi=OPENMPI),
    Shell("placement", {"HWLOC_XMLFILE": "/not/there", "HWLOC_COMPONENTS": "-linux",
                        "OMPI_MCA_hwloc_base_binding_policy": "core",
                        "PRTE_MCA_hwloc_default_binding_policy": "core"}, mpi=OPENMPI),
    Shell("threads", {"OMP_NUM_THREADS": "64", "OMP_PROC_BIND": "true", "KMP_AFFINITY": "compact",
                      "GOMP_CPU_AFFINITY": "0", "POLARS_MAX_THREADS": "1",
                      "RAYON_NUM_THREADS": "1"}),
    Shell("memory", {"MALLOC_PERTURB_": "165", "MALLOC_ARENA_MAX": "1",
                     "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4096"}),
    Shell("a library before all others", {"LD_PRELOAD": "{other_mpi}/libmpi.so.40"}),
    Shell("the libraries of another MPI", {"LD_LIBRARY_PATH": "{other_mpi}:/not/there"},
          quickly=True),
    Shell("variables for containers", {"APPTAINERENV_FI_PROVIDER": "tcp",
                                       "SINGULARITYENV_MPIR_CVAR_NOLOCAL": "1"}),
    Shell("another compiler in the wrappers",
          {"MPICH_CC": "/bin/false", "OMPI_CC": "/bin/false", "I_MPI_CC": "/bin/false"},
          fresh=True),
    Shell("options of compilers",
          {"CFLAGS": "-no-such-option", "LDFLAGS": "-no-such-option", "CPPFLAGS": "-no-such-option",
           "CPATH": "{scratch}/include", "LIBRARY_PATH": "{other_mpi}"}, fresh=True),
    Shell("options of CMake and make",
          {"CMAKE_GENERATOR": "Unix Makefiles", "CMAKE_PREFIX_PATH": "{other_mpi}/..",
           "CMAKE_TOOLCHAIN_FILE": "/not/there", "CMAKE_BUILD_TYPE": "Debug",
           "DESTDIR": "{scratch}/elsewhere", "MAKEFLAGS": "--no-such-option"}, fresh=True),
    Shell("no such compiler", {"CC": "/not/there/cc"}, refused="CC"),
    Shell("a profile of Snakemake", {"SNAKEMAKE_PROFILE": "{scratch}/profile",
                                     "SNAKEMAKE_OUTPUT_CACHE": "/not/there"}),
    Shell("a configuration of ReFrame",
          {"RFM_CONFIG_FILES": "/not/there.py", "RFM_SYSTEM": "nosuch", "RFM_PREFIX": "/not/there",
           "RFM_MAX_RETRIES": "3", "RFM_DUMP_PIPELINE_PROGRESS": "1"}),
    Shell("another polars on PYTHONPATH", {"PYTHONPATH": "{scratch}/python"}),
    Shell("another Python's home", {"PYTHONHOME": "/not/there"}),
    Shell("options of Python", {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1",
                                "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error",
                                "PYTHONSTARTUP": "/not/there"}),
    Shell("a virtual environment", {"VIRTUAL_ENV": "/not/there", "CONDA_PREFIX": "/not/there",
                                    "CONDA_DEFAULT_ENV": "base", "CONDA_EXE": "/not/there/conda"}),
    Shell("variables of pip", {"PIP_USER": "1", "PIP_TARGET": "{scratch}/elsewhere",
                               "PIP_PREFIX": "{scratch}/elsewhere", "PIP_NO_BINARY": ":all:",
                               "PIP_DRY_RUN": "1", "PIP_REQUIRE_VIRTUALENV": "1"}, fresh=True),
    Shell("a file of pip's settings", {"PIP_CONFIG_FILE": "{scratch}/pip.conf"}, fresh=True),
    Shell("a proxy that is not there",
          {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
           "ALL_PROXY": "http://127.0.0.1:9"}),
    Shell("no folder for temporary files", {"TMPDIR": "/not/there"}),
    Shell("a file in place of that folder", {"TMPDIR": "{scratch}/pip.conf"}),
    Shell("a very long name of that folder", {"TMPDIR": "{scratch}/" + "long/" * 40},
          before='mkdir -p "$TMPDIR"', mpi=OPENMPI),
    Shell("a locale with commas", {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8",
                                   "LC_NUMERIC": "de_DE.UTF-8", "LANGUAGE": "de"}),
    Shell("a locale without UTF-8", {"LC_ALL": "POSIX", "PYTHONUTF8": "0",
                                     "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}),
    Shell("a narrow terminal", {"COLUMNS": "1", "LINES": "1", "NO_COLOR": "1", "TERM": "nosuch",
                                "FORCE_COLOR": "1"}),
    Shell("a noisy start of bash", {"BASH_ENV": "{scratch}/noisy.sh", "ENV": "{scratch}/noisy.sh"}),
    Shell("habits of shells", {"POSIXLY_CORRECT": "1", "CDPATH": "/tmp:/", "IFS": "/_-",
                               "GREP_OPTIONS": "--color=always", "GLOBIGNORE": "*"},
          mpi=OPENMPI),
    Shell("functions for programs",
          before="for name in mpiexec timeout cmake awk sed cat env python reframe printf; do "
                 'eval "$name() { echo not the program >&2; return 1; }"; export -f $name; done'),
    Shell("a repository of its own", {"GIT_DIR": "/not/there", "GIT_WORK_TREE": "/tmp"}),
    Shell("almost no variables", unset=("*",), mpi=OPENMPI),
    Shell("no home", unset=("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
          mpi=OPENMPI),
    Shell("a home that is not there", {"HOME": "/not/there", "XDG_CACHE_HOME": ""}, mpi=OPENMPI),
    Shell("umask 077", before="umask 077", mpi=INTEL),
    Shell("umask 0777", before="umask 0777"),
    Shell("256 open files", before="ulimit -n 256"),
    Shell("64 open files", before="ulimit -n 64", refused="ulimit -n"),
    Shell("a low limit that may be raised", before="ulimit -S -n 64; ulimit -S -s 256"),
    Shell("30 processes", before="ulimit -u 30", refused="ulimit -u"),
    Shell("small files", before="ulimit -f 1000", refused="ulimit -f"),
    Shell("little address space", before="ulimit -v 2000000", refused="ulimit -v"),
    Shell("a small stack", before="ulimit -s 256", refused="ulimit -s"),
    Shell("an endless stack", before="ulimit -s unlimited"),
    Shell("a minute of the processor", before="ulimit -t 60", refused="ulimit -t"),
    Shell("no standard input", before="exec 0<&-", mpi=OPENMPI),
    Shell("no standard files", before="exec 0<&- 1>&- 2>&-"),
    Shell("ends of children are ignored", before="trap '' CHLD"),
)  # fmt: skip


def prepare(scratch):
    """Put the files that the shells use into a folder."""
    files = {
        "python/polars/__init__.py": "raise SystemExit('another polars')\n",
        "python/yaml.py": "raise SystemExit('another yaml')\n",
        "profile/config.yaml": "executor: slurm\njobs: 100\n",
        "pip.conf": f"[global]\nuser = true\ntarget = {scratch}/elsewhere\n[install]\nprefix = /\n",
        "include/mpi.h": "#error another mpi.h\n",
        "noisy.sh": "echo noise; echo noise >&2\n",
    }
    for name, text in files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def other_mpi():
    """Return the library folder of an MPI that no campaign here launches."""
    return paths.environments_dir() / "openmpi-4.1.8/prefix/lib"


def environment_of(shell, scratch, own):
    """Return the whole environment of a command in a shell.

    Args:
        shell: the shell.
        scratch: the folder that `prepare` filled.
        own: the caller's variables: the folders of results and locks.
    """
    everything = "*" in shell.unset
    found = {"PATH": os.environ["PATH"]} if everything else dict(os.environ)
    filled = {
        name: value.format(scratch=scratch, other_mpi=other_mpi())
        for name, value in shell.variables.items()
    }
    fresh = {FRESH: str(scratch / "build")} if shell.fresh else {}
    kept = {name: value for name, value in found.items() if name not in shell.unset}
    return {**kept, **own, **fresh, **filled}


def run(shell, campaign, scratch, own):
    """Run a campaign in a shell; return the finished process."""
    prepare(scratch)
    said = scratch / "said"
    # standard files that the shell closes cannot be read from here
    script = f'{shell.before}\nexec "$0" "$@"'
    if shell.before.startswith("exec 0<&- 1"):
        script = f'{shell.before}\n"$0" "$@"\necho $? >"{said}"'
    answer = subprocess.run(
        ["bash", "-c", script, str(ONESIDED), "run", str(campaign)],
        env=environment_of(shell, scratch, own),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=RUN_S,
        check=False,
    )
    with contextlib.suppress(FileNotFoundError):
        answer.returncode = int(said.read_text())
    return answer


def verdicts(results):
    """Return the verdict of each cell of a campaign, with the transport of its launches."""
    document = json.loads((results / "verdicts.json").read_text())
    found = {_key(cell): [cell["verdict"]] for cell in document["cells"]}
    columns = ("environment", "test", "cell", "status", "transport")
    for row in (
        pl.read_parquet(results / "cells.parquet", columns=columns)
        .sort(columns)
        .iter_rows(named=True)
    ):
        transport = row["transport"]
        if (row["status"], transport) not in found[_key(row)]:
            found[_key(row)].append((row["status"], transport))
    return found


def _key(cell):
    return cell["environment"], cell["test"], cell["cell"]


def fault(shell, answer, results, plain):
    """Return in one line the fault of a run in a shell; None without a fault.

    Args:
        shell: the shell.
        answer: the result of `run`.
        results: the campaign's folder.
        plain: `verdicts` of the same campaign in a plain shell.
    """
    said = (answer.stdout + answer.stderr).strip()
    if shell.refused:
        lines = [line for line in answer.stderr.splitlines() if line.startswith("onesided: ")]
        is_right = answer.returncode == 2 and len(lines) == 1 and shell.refused in lines[0]
        return None if is_right else f"not refused with {shell.refused}: {answer.returncode} {said}"
    if answer.returncode != 0:
        return f"exit {answer.returncode}: {said}"
    found = verdicts(results)
    differ = [key for key in plain if found.get(key) != plain[key]]
    if not differ:
        return None
    first = differ[0]
    return f"{len(differ)} of {len(plain)} cells: {first}: {plain[first]}, {found.get(first)}"

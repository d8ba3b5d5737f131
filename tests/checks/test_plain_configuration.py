"""The checks under a site's own configuration: real ReFrame, with Debian's MPIs as modules."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.environments import kernels
from onesided.system import paths

ROOT = Path(__file__).parents[2]
REFRAME = Path(sys.executable).with_name("reframe")
MODULES = Path("/usr/share/modules/init/bash")
LMOD = Path(os.environ.get("LMOD_CMD", "/usr/share/lmod/lmod/libexec/lmod"))
#: The check's kernel, and the kernel that reports the transport.
KERNELS = "shared_counter,progress"
CHOSEN = "setting == 'default' and thread_level == 'single'"
#: Each environment has the fixture that builds the kernels, and the check.
BOTH = 2
FAMILIES = ("mpich", "openmpi")
#: The check is the same under each MPI of a module, so the second MPI is only in slow tests.
SLOW = pytest.mark.slow
OTHER = "openmpi"
PLAIN = """
site_configuration = {{
    "systems": [{{
        "name": "box", "descr": "a plain machine", "hostnames": [".*"],
        "modules_system": {system!r},
        "partitions": [
            {{"name": "compute", "scheduler": "local", "launcher": "mpirun", "max_jobs": 1,
             "environs": {names!r}, "features": ["cpu"], "extras": {{"mem_per_node": 16}},
             "prepare_cmds": ["source {init}"], "env_vars": {variables!r}}},
            {{"name": "login", "scheduler": "local", "launcher": "local", "environs": ["mpich"]}},
        ],
    }}],
    "environments": {environments!r},
}}
"""
#: A wrapper that compiles for another processor: 0x53 in the header's field is no machine here.
CROSS = """#!/bin/sh
{mpicc} "$@" || exit
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || [ "$2" != probe ] || printf '\\123\\000' |
        dd of=probe bs=1 seek=18 conv=notrunc 2>/dev/null
    shift
done
"""
ENVIRONMENTS = [
    {"name": "mpich", "modules": ["mpich"], "cc": "mpicc"},
    {"name": "openmpi", "modules": ["openmpi"], "cc": "mpicc"},
    {"name": "without_compiler", "cc": "not-there"},
    {"name": "without_mpi", "cc": "gcc"},
    {"name": "of_another", "modules": ["openmpi"], "cc": "mpicc.mpich"},
    {"name": "without_module", "modules": ["nothing-there"], "cc": "mpicc"},
    {"name": "crossed", "modules": ["mpich"], "cc": "mpicc-of-another-processor"},
]
VARIABLES = [["OMPI_ALLOW_RUN_AS_ROOT", "1"], ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"]]


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def module(folder, name, *, of):
    """Write a module that puts the programs of one of Debian's MPIs on PATH."""
    (folder / "modules" / name).write_text(f"#%Module\nprepend-path PATH {folder}/bin/{of}\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not MODULES.is_file():
        pytest.skip("no Environment Modules (Debian: environment-modules)")
    folder = tmp_path_factory.mktemp("site")
    (folder / "modules").mkdir()
    for family in FAMILIES:
        if shutil.which(f"mpicc.{family}") is None:
            pytest.skip(f"Debian's {family} is not installed")
        for name in ("mpicc", "mpirun", "mpiexec"):
            # MPICH's launcher looks for its proxy beside the path with which it was called
            text = f'#!/bin/sh\nexec /usr/bin/{name}.{family} "$@"\n'
            executable(folder / "bin" / family / name, text)
        module(folder, family, of=family)
    cross = CROSS.format(mpicc="/usr/bin/mpicc.mpich")
    executable(folder / "bin/mpich/mpicc-of-another-processor", cross)
    write(folder / "plain.py")
    return folder


def write(path, environments=ENVIRONMENTS, system="envmod", init=MODULES):
    path.write_text(
        PLAIN.format(
            system=system,
            names=[one["name"] for one in environments],
            init=init,
            variables=VARIABLES,
            environments=environments,
        )
    )


def reframe(site, *options, config="plain.py", build=None, variables=None):
    """Run the smoke check of the shared counter; return ReFrame's output."""
    asked = ["-c", "reframe_checks/shared_counter.py", "-t", "smoke", "-E", CHOSEN]
    answer = subprocess.run(
        [REFRAME, "-C", site / config, *asked, f"--prefix={site / 'reframe'}", *options],
        cwd=ROOT,
        env={
            **os.environ,
            "MODULEPATH": str(site / "modules"),
            "ONESIDED_BUILD": str(build or site / "build"),
            "ONESIDED_KERNELS": KERNELS,
            "TMPDIR": str(site),
            "RFM_COLORIZE": "n",
            "RFM_REPORT_FILE": str(site / "report.json"),
            "RFM_SQLITE_DB_FILE": str(site / "results.db"),
            **(variables or {}),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    said = answer.stdout + answer.stderr
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def ran(site):
    """Return ReFrame's output for a run in all environments of the site except one."""
    return reframe(site, "-r", "--performance-report", f"--prgenv=^(?!{OTHER}$)")


@pytest.fixture(scope="module")
def ran_in(site, request):
    """Return a function that gives ReFrame's output for the run with an MPI."""

    def said(family):
        if family != OTHER:
            return request.getfixturevalue("ran")
        return reframe(site, "-r", "--performance-report", f"--prgenv=^{family}$")

    return said


def document(site, environment, partition="box.compute", build="build"):
    path = site / build / "site_environments" / partition / environment / "environment.json"
    return json.loads(path.read_text())


def of(said, environment, word, partition="compute"):
    """Return the lines about an environment with a word of ReFrame's, such as FAIL."""
    name = rf"@box:{partition}\+{environment}(?!\S)"
    return re.findall(rf"^\[\s*{word}\s*\] .*{name}.*$", said, re.M)


def reason(said, environment):
    (found,) = re.findall(
        rf"^FAILURE INFO for SiteKernels ~box:compute\+{environment} .*?^  \* Reason: (.*?)$",
        said,
        re.M | re.S,
    )
    return found


@pytest.mark.parametrize(
    ("family", "text"),
    [("mpich", "MPICH Version"), pytest.param(OTHER, "Open MPI v", marks=SLOW)],
)
def test_a_check_passes_and_the_mpi_of_a_module_is_found(site, ran_in, family, text):
    assert len(of(ran_in(family), family, "OK")) == BOTH
    found = document(site, family)
    assert (found["provider"], found["family"]) == ("reframe", family)
    assert found["library_version"].startswith(text)
    assert found["version"] in found["library_version"]
    assert found["thread_level_provided"] == "multiple"
    assert found["compilers"]["c"] == str(site / "bin" / family / "mpicc")


@pytest.mark.parametrize("family", [pytest.param("mpich", marks=SLOW), OTHER])
def test_lmod_brings_the_mpi_of_a_module_too(site, family):
    if not LMOD.is_file():
        pytest.skip("no Lmod (Debian: lmod, or LMOD_CMD)")
    (site / "lua").mkdir(exist_ok=True)
    (site / "lua" / f"{family}.lua").write_text(f'prepend_path("PATH", "{site}/bin/{family}")\n')
    write(site / "lmod.py", system="lmod", init=LMOD.parents[1] / "init/bash")
    variables = {"LMOD_CMD": str(LMOD), "MODULEPATH": str(site / "lua")}
    build = site / "of_lmod"
    chosen = ("--system=box:compute", f"--prgenv=^{family}$")
    said = reframe(site, "-r", *chosen, config="lmod.py", build=build, variables=variables)
    assert len(of(said, family, "OK")) == BOTH, said
    found = document(site, family, build=build.name)
    assert (found["family"], found["version"] in found["library_version"]) == (family, True)


@pytest.mark.parametrize("family", ["mpich", pytest.param(OTHER, marks=SLOW)])
def test_reframe_shows_the_figures_of_each_mpi(ran_in, family):
    said = ran_in(family)
    report = said[said.index("PERFORMANCE REPORT") :]
    assert re.search(rf"box:compute.*{family}|@box:compute\+{family}", report)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("without_compiler", ["no compiler: not-there is not on PATH"]),
        ("of_another", ["mpirun", "of 1, not of 2", "MPICH Version"]),
        ("without_module", ["nothing-there"]),
        ("crossed", ["mpirun exited", "mpicc-of-another-processor is for another"]),
    ],
)
def test_what_does_not_work_is_one_line_that_says_why(ran, environment, words):
    line = reason(ran, environment)
    assert all(word in line for word in words), line
    assert len(of(ran, environment, "FAIL")) == 1
    assert of(ran, environment, "OK") == []


def test_an_environment_without_mpi_and_a_launcher_without_ranks_are_skipped(ran):
    fixture = of(ran, "without_mpi", "SKIP")[0]
    assert "gcc compiles no MPI program" in fixture
    assert "mpi.h" in fixture
    assert "starts no ranks" in of(ran, "mpich", "SKIP", "login")[0]
    for name, partition in (("without_mpi", "compute"), ("mpich", "login")):
        assert of(ran, name, "FAIL", partition) == []
        assert len(of(ran, name, "SKIP", partition)) == BOTH


def test_a_dry_run_needs_no_mpi_and_says_nothing_of_one(site):
    said = reframe(site, "--dry-run", "--system=box:compute", build=site / "nothing")
    # ReFrame itself asks the modules system for the module
    assert re.findall(r"^FAILURE INFO for (\S+ \S+)", said, re.M) == [
        "SiteKernels ~box:compute+without_module"
    ]
    for name in ("mpich", "without_compiler", "without_mpi", "of_another"):
        assert len(of(said, name, "OK")) == BOTH
    assert not (site / "nothing/site_environments").exists()


@pytest.mark.parametrize("run", ["--dry-run", pytest.param("-r", marks=SLOW)])
def test_the_command_line_chooses_ranks_and_time_limits(site, ran, run):
    """Four ranks on two cores are slow; the script before the run lists what will run."""
    said = reframe(
        site,
        *(run, "--keep-stage-files", "--system=box:compute", "-p", "mpich"),
        *("-P", "SharedCounterSmoke.ranks=4", "-S", "launch_timeout_s=77"),
    )
    assert len(of(said, "mpich", "OK")) == BOTH, said
    scripts = [*(site / "reframe/stage/box/compute/mpich").glob("SharedCounterSmoke*/rfm_job.sh")]
    texts = [path.read_text() for path in scripts]
    assert any("mpirun -np 4" in text and " 77 " in text for text in texts)


@SLOW
def test_an_environment_of_this_project_may_stand_beside_one_of_the_sites_own(
    site, ran, ready_environment
):
    ready_environment("mpich-5.0.2")
    build = site / "build"
    for name in ("environments", "kernels/mpich-5.0.2"):
        (paths.build_dir() / name).mkdir(parents=True, exist_ok=True)
        (build / name).symlink_to(paths.build_dir() / name)
    (site / "mixed.py").write_text(
        f"""
from onesided import sites
own = {ENVIRONMENTS[0]!r}
site_configuration = sites.configuration(
    "box", "", [{{"name": "compute", "scheduler": "local", "launcher": "mpirun",
                 "environs": ["mpich-5.0.2"], "prepare_cmds": ["source {MODULES}"]}}],
    modules_system="envmod", environments=[own],
)
site_configuration["systems"][0]["partitions"][0]["environs"].append("mpich")
"""
    )
    said = reframe(site, "-r", config="mixed.py")
    assert len(of(said, "mpich", "OK")) == BOTH, said
    assert len(of(said, "mpich-5_0_2", "OK")) == BOTH, said


@SLOW
def test_after_another_mpi_came_under_a_modules_name_the_kernels_are_built_again(
    site, ran, monkeypatch
):
    module(site, "mpich", of="openmpi")
    try:
        said = reframe(site, "-r", "--system=box:compute", "-p", "mpich")
    finally:
        module(site, "mpich", of="mpich")
    assert len(of(said, "mpich", "OK")) == BOTH, said
    assert document(site, "mpich")["family"] == "openmpi"
    monkeypatch.setenv("ONESIDED_BUILD", str(site / "build"))
    kernel = kernels.prefix_of(document(site, "mpich")) / "bin/shared_counter"
    libraries = subprocess.run(["ldd", kernel], capture_output=True, text=True, check=True)
    assert "libmpi.so" in libraries.stdout
    assert "libmpich" not in libraries.stdout

"""Made-up MPIs of a machine: compiler wrappers that report what a test needs about a library."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from onesided import cli
from onesided.environments import spack_machine
from onesided.system import documents, paths
from onesided.system.errors import InputError

CHECKOUT = Path(__file__).resolve().parents[3]
SAYS = {
    "mpich@5.0.2": "MPICH Version:      5.0.2\nMPICH Device:       ch4:ucx ofi",
    "mpich@4.0.2": "MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx",
    "openmpi@5.0.11": "Open MPI v5.0.11, package: Open MPI user@localhost, ident: 5.0.11",
    "intel-oneapi-mpi@2021.18.1": "Intel(R) MPI Library 2021.18.1 for Linux* OS",
    "mvapich@4.1": "MVAPICH Version      : 4.1\nMVAPICH Release date : never",
    "mvapich2@2.3.7": "MVAPICH2 Version      : 2.3.7\nMVAPICH2 Device: ch3:mrail",
    "cray-mpich@8.1.29.28": "MPI VERSION    : CRAY MPICH version 8.1.29.28 (ANL base 3.4a2)",
}
COMPILES = """#!/bin/sh
if [ "$1" = -show ]; then echo "cc -I/nowhere -I{include} -lmpi"; exit 0; fi
{before}
while [ "$1" != -o ]; do shift; done
cat > "$2" <<'END'
#!/bin/sh
cat <<'SAID'
{library}
{text}
SAID
END
chmod +x "$2"
"""
MODULES_HOMES = (os.environ.get("MODULESHOME"), "/usr/share/modules", "/usr/share/lmod/lmod")


def make_mpi(root, text, *, wrapper="bin/mpicc", library="lib/libmpi.so.12", before=""):
    """Make a wrapper, its library and its headers below a folder; return the wrapper."""
    for name in (wrapper, library, "include/mpi.h"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    script = COMPILES.format(
        include=root / "include", library=root / library, text=text, before=before
    )
    (root / wrapper).write_text(script)
    (root / wrapper).chmod(0o755)
    return root / wrapper


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A checkout with the project's configuration on a machine with no MPI, modules or Spack."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    for name in ("MODULESHOME", "SPACK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name, **found: None)
    shutil.copytree(CHECKOUT / "config", tmp_path / "config")
    return tmp_path


def provide_wheel(machine, name, text, **changes):
    """Pretend that an environment was provided; return its prefix."""
    family = name.split("-")[0]
    prefix = machine / "build/environments" / name / "prefix"
    wrapper = make_mpi(prefix, text)
    # files that the machine file does not read may stay empty
    document = dict.fromkeys(documents.load_schema("environment")["required"]) | {
        "schema": "onesided/environment/1",
        "name": name,
        "provider": "wheel",
        "family": family,
        "library": "MPI",
        "version": name.split("-")[1],
        "status": "ready",
        "reason": None,
        "prefix": str(prefix),
        "compilers": {"c": str(wrapper)},
        "launcher": {"path": "/x", "placement": {"unbound": [], "core": []}, "oversubscribe": []},
        "variables": {},
        "features": [],
        "library_version": "x",
        "library_version_pattern": "x",
        "standard_version": "4.1",
        "thread_level_provided": "multiple",
        "left_behind": [],
        "left_behind_temporary": [],
        "launch_model": "native",
        "declaration_digest": "0" * 64,
        **changes,
    }
    paths.environment_file(name).write_text(json.dumps(document))
    return prefix


def sourced(script, given):
    """Return the variables of a shell after reading a script."""
    outcome = subprocess.run(
        ["/bin/sh", "-c", f"{script}\nexec /usr/bin/env -0"],
        env={"PATH": "/usr/bin:/bin", **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split("=", 1) for line in outcome.stdout.split("\0") if line)


@pytest.fixture
def debian(machine, monkeypatch):
    """A /usr that two MPIs share, as on Debian."""
    usr = machine / "usr"
    for suffix, spec, library in (
        ("mpich", "mpich@4.0.2", "libmpich.so.12"),
        ("openmpi", "openmpi@5.0.11", "libmpi.so.40"),
    ):
        make_mpi(usr, SAYS[spec], wrapper=f"bin/mpicc.{suffix}", library=f"lib/{library}")
        (usr / f"bin/mpiexec.{suffix}").touch()
    for name in ("bin/hydra_pmi_proxy", "bin/orted", "bin/mpicc", "lib/libmpi.so"):
        (usr / name).touch()
    monkeypatch.setattr(shutil, "which", lambda name, **_: on_path(usr / "bin" / name))
    return usr


def on_path(program):
    return str(program) if program.exists() else None


@pytest.fixture
def module_tree(tmp_path, monkeypatch):
    """Return a function that adds a modulefile to a real tree of modules, if modules exist here."""
    homes = [home for home in MODULES_HOMES if home and (Path(home) / "init/bash").is_file()]
    if not homes:
        pytest.skip("environment modules are not installed")
    monkeypatch.setenv("MODULESHOME", homes[0])
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modulefiles"))
    monkeypatch.delenv("LOADEDMODULES", raising=False)

    def add(name, text):
        path = tmp_path / "modulefiles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#%Module1.0\n{text}\n")

    return add


@pytest.fixture
def two_mpis(machine):
    provide_wheel(machine, "mpich-5.0.2", SAYS["mpich@5.0.2"])
    provide_wheel(machine, "impi-2021.18.1", SAYS["intel-oneapi-mpi@2021.18.1"])
    return machine


def file_of(machine, name="local"):
    return machine / "spack/machines" / f"{name}.yaml"


@pytest.fixture
def written(two_mpis):
    """A valid machine file; returns a function that changes and checks the file."""
    cli.main(["spack", "machine", "--write"])
    path = file_of(two_mpis)

    def change(old, new):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return path

    return change


def fault_of(path):
    with pytest.raises(InputError) as caught:
        spack_machine.check(path)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)

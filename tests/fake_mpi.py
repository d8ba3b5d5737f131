"""A checkout with an MPI made of a few lines of shell, in a real wheel that pip installs."""

import base64
import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
FINDINGS = {
    "library_version": "MPICH Version:      1.0\nMPICH Release date: never",
    "library_path": "PREFIX/bin/mpicc",
    "thread_level_provided": "multiple",
    "standard_version": "4.1",
    "abi": None,
    "ranks": 2,
    "errors": 0,
}
COMPILES = """#!/bin/sh
prefix=$(cd "$(dirname "$0")/.." && pwd)
sed "s,PREFIX,$prefix," "$prefix/bin/findings" > findings.template
printf '#!/bin/sh\\ncp findings.template "$1"\\n' > probe
chmod +x probe
"""
LAUNCHES = """#!/bin/sh
while [ "$1" != -n ]; do shift; done
shift 2
"$@"
"""
NAME = "fake-1.0"

MPICH = "MPICH Version:\t4.0.2\nMPICH Release date:\tnever"
#: A compiler that writes a program for each source. The program of identify.c prints the library's
#: words in lines. The program of probe.c writes them into a file; with several ranks, rank 0 does
#: this.
WRAPPER = """#!/bin/sh
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
{before}
case $1 in
identify.c) printf '#!/bin/sh\\n{needs}\\ncat "%s/said"\\n' "$here" >identify; chmod +x identify ;;
probe.c)
    printf '#!/bin/sh\\n[ "${{FAKE_RANK:-0}}" -ne 0 ] || cp "%s" "$1"\\n' "$here/findings" >probe
    chmod +x probe ;;
esac
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def put_mpi(
    root,
    text=MPICH,
    suffix="",
    before="",
    needs="",
    library=None,
    names=("mpicc", "mpiexec"),
    launches=LAUNCHES,
    **findings,
):
    """Put an MPI with the given words about itself into a folder; return its compiler wrapper."""
    wrapper, launcher = names
    programs = root / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    library = library or root / "lib" / "libmpi.so.12"
    library.parent.mkdir(exist_ok=True)
    library.write_text(text)
    (programs / "said").write_text(f"{library}\n{text}\n")
    found = {"library_version": text, "library_path": str(library), **findings}
    (programs / "findings").write_text(json.dumps({**FINDINGS, **found}))
    script(programs / f"{wrapper}{suffix}", WRAPPER.format(before=before, needs=needs))
    script(programs / f"{launcher}{suffix}", launches)
    return programs / f"{wrapper}{suffix}"


class Fake:
    """A checkout with one made-up MPI, whose wheel can be broken in any way."""

    def __init__(self, root):
        self.root = root
        self.wheels = root / "wheels"
        self.config = root / "config"
        self.wheels.mkdir()
        self.config.mkdir()
        families = yaml.safe_load((CHECKOUT / "config/environments.yaml").read_text())["families"]
        self.document = {"schema": "onesided/environments/1", "families": families}
        self.document["environments"] = {}
        (self.config / "wheels.lock").write_text("")
        for name in ("variables", "settings"):
            shutil.copy(CHECKOUT / f"config/{name}.yaml", self.config)

    def declare(self, name=NAME, package="fakempi", compiler=COMPILES, launcher=LAUNCHES, **found):
        """Declare an MPI, make its wheel and lock it."""
        findings = json.dumps({**FINDINGS, **found})
        wheel = self.build(package, compiler, launcher, findings)
        with (self.config / "wheels.lock").open("a") as stream:
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            stream.write(f"{package}==1.0 --hash=sha256:{digest}\n")
        entry = {"provider": "wheel", "family": "mpich", "version": "1.0", "packages": [package]}
        self.document["environments"][name] = entry
        self.write()

    def write(self):
        (self.config / "environments.yaml").write_text(yaml.safe_dump(self.document))

    def build(self, package, compiler, launcher, findings):
        """Make the wheel by hand: a few files in a zip, their hashes in RECORD."""
        scripts = {"mpicc": compiler, "mpiexec": launcher, "findings": findings}
        info = f"{package}-1.0.dist-info"
        files = {f"{package}-1.0.data/scripts/{name}": text for name, text in scripts.items()}
        files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        digests = {name: hashlib.sha256(text.encode()).digest() for name, text in files.items()}
        record = [
            f"{name},sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')},"
            for name, digest in digests.items()
        ]
        files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
        path = self.wheels / f"{package}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                entry = zipfile.ZipInfo(name)
                entry.external_attr = 0o100755 << 16  # pip keeps execute permissions
                archive.writestr(entry, text)
        return path

    def unpack(self, found, prefix, command):
        """Unpack the wheel, which is quicker than pip."""
        shutil.rmtree(prefix, ignore_errors=True)
        (prefix / "bin").mkdir(parents=True)
        with zipfile.ZipFile(
            next(self.wheels.glob(f"{found.declaration.packages[0]}-*"))
        ) as archive:
            for name in archive.namelist():
                if "/scripts/" in name:
                    target = prefix / "bin" / Path(name).name
                    target.write_bytes(archive.read(name))
                    target.chmod(0o755)

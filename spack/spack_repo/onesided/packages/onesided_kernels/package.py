"""The kernels of onesided: programs that measure one-sided communication of one MPI."""

import json
import os
import pathlib
import re
import tempfile

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

# This file is in the checkout whose kernels it builds: <checkout>/spack/spack_repo/onesided/
# packages/onesided_kernels/package.py. Nothing has to be downloaded, and the commit is recorded.
CHECKOUT = pathlib.Path(__file__).resolve().parents[5]

# Open MPI refuses root, and more ranks than cores, unless told so; the others read none of these.
# `spack test run` starts with an empty environment, so what a user has set does not count.
LAUNCH_VARIABLES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    # a library's own leaks are no fault of the kernels
    "ASAN_OPTIONS": "detect_leaks=0",
}
EXIT_WRONG_DATA = 3

# What MPI_Get_library_version says of itself; against another MPI nothing is held.
LIBRARY_VERSIONS = {
    "mpich": r"MPICH Version:\s+{version}\b",
    "openmpi": r"Open MPI v{version}\b",
    # the third number is missing in what some versions say
    "intel-oneapi-mpi": r"Intel\(R\) MPI Library {series}\b",
    "mvapich": r"MVAPICH Version:\s+{version}\b",
    "cray-mpich": r"CRAY MPICH version {version}\b",
}


class OnesidedKernels(CMakePackage):
    """Programs that measure whether one-sided communication of an MPI makes progress while its
    target computes, what an operation costs, and whether the data is right."""

    git = CHECKOUT.as_uri()

    license("BSD-3-Clause", checked_by="onesided")

    # There is no release yet; a tag v<version> gets a line version(...) with its commit.
    version("main", branch="main")

    variant(
        "threads",
        default="single",
        values=("single", "funneled", "serialized", "multiple"),
        multi=False,
        description="Thread level that the kernels require of MPI unless told otherwise",
    )
    variant(
        "openshmem",
        default=False,
        description="Build the kernels of OpenSHMEM, too, into the prefix's folder openshmem",
    )
    variant(
        "sanitizers",
        values=disjoint_sets(("none",), ("address", "undefined"), ("thread",))
        .with_default("none")
        .with_non_feature_values("none"),
        description="Sanitizers to build with: for finding faults, not for measuring",
    )
    generator("ninja", "make", default="ninja")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("mpi@3:")
    requires(
        "^[virtuals=mpi] openmpi+openshmem",
        when="+openshmem",
        msg="the OpenSHMEM used is the one of the MPI itself, which only Open MPI has",
    )

    @property
    def root_cmakelists_dir(self):
        """The kernels' folder: a whole checkout, or that folder itself by ``spack develop``."""
        source = pathlib.Path(self.stage.source_path)
        below = source / "src" / "kernels"
        return str(below if below.is_dir() else source)

    def cmake_args(self):
        """Name the MPI by its wrapper: CMake must not look for another."""
        return [self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc), *self._options()]

    def _options(self):
        """Return the options of a build for either library."""
        sanitizers = [name for name in self.spec.variants["sanitizers"].value if name != "none"]
        return [
            self.define_from_variant("ONESIDED_THREAD_LEVEL", "threads"),
            self.define("ONESIDED_SANITIZE", ",".join(sanitizers)),
        ]

    @run_after("install")
    def install_kernels_of_openshmem(self):
        """Build once more, for a build is for one library; kernels of both have the same names."""
        if self.spec.satisfies("~openshmem"):
            return
        generator_name = "Ninja" if self.spec.satisfies("generator=ninja") else "Unix Makefiles"
        cmake = which("cmake", required=True)
        with tempfile.TemporaryDirectory() as folder:
            cmake(
                *("-S", self.root_cmakelists_dir, "-B", folder, "-G", generator_name),
                self.define("CMAKE_INSTALL_PREFIX", self.prefix.openshmem),
                self.define("ONESIDED_OPENSHMEM_COMPILER", self.spec["mpi"].prefix.bin.oshcc),
                *self._options(),
            )
            cmake("--build", folder)
            cmake("--install", folder)

    # ---- Stand-alone tests: `spack test run onesided-kernels` ----

    def _launcher(self, *names):
        """Return the MPI's own launcher: another one would start ranks that do not meet."""
        mpi = self.spec["mpi"]
        known = [getattr(mpi.package, "mpiexec", None)] if "mpiexec" in names else []
        paths = [*known, *(join_path(mpi.prefix.bin, name) for name in names)]
        for path in filter(None, paths):
            if os.access(path, os.X_OK):
                return Executable(path)
        # an MPI that is started by the batch system alone
        batch = which("srun")
        if batch is None:
            raise SkipTest(f"{mpi.name} has no {' or '.join(names)}, and there is no srun")
        return batch

    def _run(self, launcher, kernel, *options, expected_status=0, prefix=None):
        """Run two ranks of a kernel; return the lines they wrote. A status of None may be any."""
        output = pathlib.Path.cwd() / f"{kernel}-{expected_status}.jsonl"
        output.unlink(missing_ok=True)
        program = join_path(prefix or self.prefix, "bin", kernel)
        launcher(
            *("-n", "2", program, "--output", str(output), *options),
            extra_env=LAUNCH_VARIABLES,
            fail_on_error=False,
        )
        status = launcher.returncode
        if expected_status is not None and status != expected_status:
            raise RuntimeError(f"{kernel}: exit status {status}, expected {expected_status}")
        return [json.loads(line) for line in output.read_text("utf-8").splitlines()]

    def _check_header(self, header):
        """Hold what ran against what the spec says: the thread level and whose library it was."""
        asked = self.spec.variants["threads"].value
        level = header["thread_level"]
        if level["required"] != asked:
            raise RuntimeError(f"thread level: required {level['required']}, expected {asked}")
        said = header["mpi"]["library_version"]
        version = self.spec["mpi"].version
        expected = LIBRARY_VERSIONS.get(self.spec["mpi"].name, "").format(
            version=re.escape(str(version)), series=re.escape(str(version.up_to(2)))
        )
        if not re.search(expected, said):
            raise RuntimeError(f"library: {said[:60]!r} ran, expected {expected!r}")

    def _check_results(self, lines, last=("finished",)):
        """Every cell has its result, every datum was verified, and the library ended as it may."""
        results = [line for line in lines if line["type"] == "result"]
        faults = [line["cell"] for line in results if line["status"] != "ok"]
        unverified = [line["cell"] for line in results if not line["verification"]]
        missing = set(lines[0]["cells"]) - {line["cell"] for line in results}
        if faults or unverified or missing or lines[-1]["type"] not in last:
            raise RuntimeError(
                f"cells with faults {faults}, unverified {unverified}, missing {sorted(missing)}; "
                f"last line {lines[-1]['type']}, expected {' or '.join(last)}"
            )

    def test_two_ranks_verify_their_data(self):
        """run the shared counter on two ranks of the spec's MPI and verify its numbers"""
        launcher = self._launcher("mpiexec", "mpirun")
        lines = self._run(launcher, "shared_counter", "--compute_ms", "1")
        self._check_header(lines[0])
        self._check_results(lines)

    def test_wrong_data_is_found(self):
        """alter a value of a linked list on purpose and see the verification find it"""
        launcher = self._launcher("mpiexec", "mpirun")
        options = ("--operation", "append", "--idiom", "exclusive", "--fault", "altered_value")
        lines = self._run(launcher, "linked_list", *options, expected_status=EXIT_WRONG_DATA)
        (status,) = (line["status"] for line in lines if line["type"] == "result")
        if status != "wrong_data":
            raise RuntimeError(f"a value was altered, and the status of the cell is {status}")

    def test_openshmem_verifies_its_data(self):
        """run the shared counter of OpenSHMEM on two ranks and verify its numbers"""
        if self.spec.satisfies("~openshmem"):
            raise SkipTest("built without OpenSHMEM")
        launcher = self._launcher("oshrun")
        options = {"expected_status": None, "prefix": self.prefix.openshmem}
        lines = self._run(launcher, "shared_counter", "--compute_ms", "1", **options)
        self._check_header(lines[0])
        # some libraries crash in shmem_finalize, after the last result
        self._check_results(lines, last=("finished", "result"))

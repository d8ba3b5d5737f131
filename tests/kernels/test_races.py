"""Threads of a rank share no data without a lock or an atomic: the thread sanitizer finds no race.

The sanitizer looks at the kernels only; races of the MPI libraries are left out
(races_of_mpi.supp).
"""

from __future__ import annotations

import subprocess

import pytest

from .conftest import HERE
from .launching import Kernel

SERVER = ("--target_state=idle,computes", "--computing-samples=2")
#: For each kernel with threads: the options of its launch, and the axis that says that threads
#: exist.
KERNELS = {
    "active_accumulate": ("--way=server_thread", "--size_bytes=8,16384", *SERVER),
    "adapter_sharing": ("--arrangement=threads", "--pairs=2"),
    "gather": ("--way=server_thread", "--elements=64,4096", *SERVER),
    "matrix_vector": (
        "--threads=2",
        "--variant=rows,columns,rows_forked,columns_created,columns_lazy",
    ),
    "overlap": ("--transfer=thread_send,thread_put",),
    "overlapped_output": ("--way=thread_posix,thread_write_at", "--workers=1,2"),
    "remote_read": ("--way=put_back,send_back,get_and_write,send_and_write", "--server=thread"),
    "threaded_calls": ("--arrangement=one_for_all,one_each", "--streams=2"),
}
FEW = ("--thread-level=multiple", "--samples=2", "--burst=2")
#: The sanitizer does not see that MPI's libraries take their locks, only that they release them.
OPTIONS = f"suppressions={HERE / 'races_of_mpi.supp'}:report_mutex_bugs=0"

# nothing here is timed, and a launch has few operations
pytestmark = [
    pytest.mark.beside,
    pytest.mark.parametrize("environment", ["mpich-5.0.2"], indirect=True),
]


@pytest.fixture(scope="session")
def thread_sanitizer(tmp_path_factory):
    """Skip the test if the compiler has no thread sanitizer."""
    folder = tmp_path_factory.mktemp("thread-sanitizer")
    source = folder / "none.c"
    source.write_text("int main(void) { return 0; }\n", "utf-8")
    command = ["cc", "-fsanitize=thread", source, "-o", folder / "none"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        pytest.skip(f"no thread sanitizer here: {(answer.stderr or 'none').splitlines()[-1]}")


@pytest.fixture
def racing(thread_sanitizer, environment, built, tmp_path):
    """Return a function that gives a kernel with the thread sanitizer."""

    def found(name):
        folder = built(environment, "thread", (name,))
        return Kernel(environment, folder / name, tmp_path, {"TSAN_OPTIONS": OPTIONS})

    return found


@pytest.mark.one_case("name")
@pytest.mark.parametrize("name", KERNELS)
def test_threads_of_a_rank_do_not_race(racing, name):
    run = racing(name).launch(*FEW, *KERNELS[name])
    assert "ThreadSanitizer" not in run.stderr
    assert run.code == 0, run.stderr
    assert set(run.statuses.values()) == {"ok"}

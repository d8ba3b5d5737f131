"""Existing cores and cores that this process may use are two numbers."""

import os
import subprocess
import sys

import pytest

from onesided.system import cores

MANY = range(8)


def size_of_cache(name):
    """Return the size of a cache from the C library's own program; 0 if it is unknown."""
    answer = subprocess.run(["getconf", name], capture_output=True, text=True, check=True)
    said = answer.stdout.strip()
    return int(said) if said.isdecimal() else 0


def test_caches_have_the_sizes_that_the_c_library_names():
    levels = [size_of_cache(f"LEVEL{level}_CACHE_SIZE") for level in (4, 3, 2)]
    found = next((size for size in levels if size), cores.UNKNOWN_CACHE_BYTES)
    assert cores.largest_cache_bytes() == found
    assert cores.own_cache_bytes() == size_of_cache("LEVEL1_DCACHE_SIZE") + levels[2]


def test_a_cache_that_the_c_library_does_not_know_has_a_usual_size(monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: -1)
    assert (cores.largest_cache_bytes(), cores.own_cache_bytes()) == (cores.UNKNOWN_CACHE_BYTES, 0)

    def unknown(name):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert (cores.largest_cache_bytes(), cores.own_cache_bytes()) == (cores.UNKNOWN_CACHE_BYTES, 0)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return a function that makes files of control groups, for a process that may use 8 cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(MANY))

    def make(own, **files):
        (tmp_path / "own").write_text(own)
        for path, text in files.items():
            file = tmp_path / "groups" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        root = tmp_path / "groups"
        return cores.Groups(tmp_path / "own", (root, root / "unified"), root)

    return make


V1 = "4:cpuset:/elsewhere\n3:cpu,cpuacct:/job\n"


@pytest.mark.parametrize(
    ("own", "files", "quota", "usable"),
    [
        ("0::/job/step\n", {}, None, 8),
        ("0::/job/step\n", {"job/step/cpu.max": "max 100000\n"}, None, 8),
        ("0::/job/step\n", {"job/step/cpu.max": "350000 100000\n"}, 3.5, 3),
        ("0::/job/step\n", {"unified/job/step/cpu.max": "350000 100000\n"}, 3.5, 3),
        ("0::/job/step\n", {"job/step/cpu.max": "50000 100000\n"}, 0.5, 1),
        ("0::/job/step\n", {"job/step/cpu.max": "1600000 100000\n"}, 16, 8),
        # the least of a group and of the groups above
        ("0::/a/b\n", {"a/b/cpu.max": "max 1000\n", "a/cpu.max": "4000 1000\n"}, 4, 4),
        ("0::/a/b\n", {"a/b/cpu.max": "2000 1000\n", "a/cpu.max": "4000 1000\n"}, 2, 2),
        # a container does not see the host's path of its group
        ("0::/of/the/host\n", {"cpu.max": "200000 100000\n"}, 2, 2),
        ("0::/\n", {"cpu.max": "no numbers\n"}, None, 8),
        (
            V1,
            {"cpu/job/cpu.cfs_quota_us": "250000\n", "cpu/job/cpu.cfs_period_us": "100000\n"},
            2.5,
            2,
        ),
        (V1, {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "9"}, None, 8),
        ("", {"cpu.max": "100000 100000\n"}, None, 8),
    ],
)
def test_a_quota_leaves_whole_cores_and_one_at_least(groups, own, files, quota, usable):
    made = groups(own, **files)
    assert cores.quota(made) == quota
    assert cores.usable(made) == usable


def test_without_the_files_the_affinity_mask_alone_counts(groups, tmp_path):
    nowhere = tmp_path / "nowhere"
    assert cores.usable(cores.Groups(nowhere, (nowhere,), nowhere)) == len(MANY)


@pytest.mark.skipif(cores.existing() < 2, reason="the machine has one core")
def test_a_process_on_one_core_may_use_one_of_those_that_exist():
    last = max(os.sched_getaffinity(0))
    program = "from onesided.system import cores; print(cores.existing(), cores.usable())"
    line = ["taskset", "-c", str(last), sys.executable, "-c", program]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert said.split() == [str(cores.existing()), "1"]

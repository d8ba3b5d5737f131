"""config/wheels.lock: its valid content, and what stays unchanged when a version is added."""

import pytest

from onesided.environments.declarations import parse_lock
from onesided.environments.providers.wheel import add_to_lock
from onesided.system.errors import InputError

ONE = "one==1.0 \\\n    --hash=sha256:" + "a" * 64
ONE_NEWER = "one==1.1 \\\n    --hash=sha256:" + "b" * 64 + " \\\n    --hash=sha256:" + "c" * 64
TWO = "two==3.0 \\\n    --hash=sha256:" + "d" * 64
LOCK = f"# a comment\n\n# One\n{ONE}\n\n# Two\n{TWO}\n"


def test_every_pin_is_found_with_its_lines():
    found = parse_lock(LOCK, "wheels.lock")
    assert {pin: one.text for pin, one in found.items()} == {"one==1.0": ONE, "two==3.0": TWO}


@pytest.mark.parametrize(
    "text",
    [
        "one==1.0\n",
        "one>=1.0 --hash=sha256:" + "a" * 64,
        "one==1.0 --hash=md5:" + "a" * 32,
        "one==1.0 --hash=sha256:abc",
        ONE + " \\\n",
        ONE[:-10],
        "--index-url https://example.invalid/simple\n",
        f"{ONE}\n{ONE}\n",
    ],
)
def test_what_is_no_version_with_hashes_is_a_fault_with_its_line(text):
    with pytest.raises(InputError, match=r"wheels\.lock: line \d+: found "):
        parse_lock(text, "wheels.lock")


def test_a_version_is_added_behind_its_kin_and_nothing_else_changes(tmp_path):
    path = tmp_path / "wheels.lock"
    path.write_text(LOCK)
    add_to_lock(path, ["one"], parse_lock(ONE_NEWER, "").values())
    assert path.read_text() == LOCK.replace(ONE, f"{ONE}\n{ONE_NEWER}")


def test_the_first_version_of_a_package_is_added_at_the_end(tmp_path):
    path = tmp_path / "wheels.lock"
    path.write_text(LOCK)
    add_to_lock(path, ["new"], parse_lock(ONE_NEWER, "").values())
    assert path.read_text() == f"{LOCK}\n{ONE_NEWER}\n"

"""What a campaign reports about its checkout."""

import subprocess

import pytest

from onesided.campaign import collect
from onesided.system import processes


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(processes.paths, "project_root", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://git.example.org/group/onesided.git", "https://git.example.org/group/onesided"),
        ("https://name:secret@git.example.org/onesided", "https://git.example.org/onesided"),
        ("/a/folder/onesided", None),
        ("git@git.example.org:group/onesided.git", None),
    ],
)
def test_the_repository_is_a_page_without_a_user_or_nothing(checkout, address, told):
    subprocess.run(["git", "remote", "add", "origin", address], cwd=checkout, check=True)
    assert collect.repository() == told


def test_without_a_repository_nothing_is_said(checkout):
    assert collect.repository() is None

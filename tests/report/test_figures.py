"""The script for interactive charts: made once, and kept if the folder is writable."""

import pytest
import vl_convert

from onesided.report import figures


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return the test's own build folder; forget other folders' scripts."""
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    figures.library.cache_clear()
    yield tmp_path / "build"
    figures.library.cache_clear()


def test_a_second_report_is_made_without_bundling_the_script_again(build, monkeypatch):
    first = figures.library()
    assert "vegaEmbed" in first
    figures.library.cache_clear()
    monkeypatch.setattr(vl_convert, "javascript_bundle", None)
    assert figures.library() == first


def test_another_version_of_the_bundler_bundles_its_own(build, monkeypatch):
    figures.library()
    figures.library.cache_clear()
    monkeypatch.setattr(vl_convert, "__version__", "2.0.0")
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "another")
    assert figures.library() == "another"


def test_where_nothing_may_be_kept_the_script_is_there_all_the_same(build):
    build.write_text("no folder")
    assert "vegaEmbed" in figures.library()

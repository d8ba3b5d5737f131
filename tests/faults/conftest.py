"""MPIs for each worker, so that its tests may replace launchers."""

from pathlib import Path

import pytest

from onesided.environments import provision


@pytest.fixture(scope="session")
def own_build(tmp_path_factory):
    return tmp_path_factory.mktemp("own-build")


@pytest.fixture
def own_environment(own_build, monkeypatch):
    """Return a function that gives the document of an environment in this folder."""
    monkeypatch.setenv("ONESIDED_BUILD", str(own_build))

    def ready(name):
        document = provision.provide(name)
        if document["status"] != "ready":
            pytest.skip(f"{name} is unavailable: {document['reason']}")
        return document

    return ready


@pytest.fixture
def replace_launcher(own_environment):
    """Return a function that replaces a launcher by a program, for this test.

    In the program, ``{kept}`` is the launcher. The function returns a function that restores the
    launcher.
    """
    replaced = []

    def restore():
        while replaced:
            kept, launcher = replaced.pop()
            kept.replace(launcher)

    def replace(program, name="mpich-5.0.2"):
        launcher = Path(own_environment(name)["launcher"]["path"])
        kept = launcher.rename(launcher.with_name("mpiexec.kept"))
        replaced.append((kept, launcher))
        launcher.write_text(program.replace("{kept}", str(kept)))
        launcher.chmod(0o755)
        return restore

    yield replace
    restore()

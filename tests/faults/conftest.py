"""MPIs that are a worker's own, so that its tests may replace their launchers."""

from pathlib import Path

import pytest

from onesided.environments import provision


@pytest.fixture(scope="session")
def own_build(tmp_path_factory):
    """Return a folder for environments and kernels beside those of the checkout."""
    return tmp_path_factory.mktemp("own-build")


@pytest.fixture
def own_environment(own_build, monkeypatch):
    """Return a function that gives the document of an environment in that folder."""
    monkeypatch.setenv("ONESIDED_BUILD", str(own_build))

    def ready(name):
        document = provision.provide(name)
        if document["status"] != "ready":
            pytest.skip(f"{name} is unavailable: {document['reason']}")
        return document

    return ready


@pytest.fixture
def replace_launcher(own_environment):
    """Return a function that puts a program in the place of a launcher, for this test.

    ``{kept}`` in the program is the launcher itself. What the function returns puts it back.
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

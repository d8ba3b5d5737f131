"""Progress: a line for each change without a terminal, and a table on a terminal."""

import io

from onesided.system.display import Progress


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True


def test_elsewhere_every_change_of_state_is_one_line():
    stream = io.StringIO()
    with Progress(["mpich", "openmpi"], stream) as progress:
        progress.state("mpich", "installing")
        progress.state("mpich", "installing")
        progress.end("mpich", "ready", succeeded=True, detail="5.0.2")
        progress.note("a minute left")
    lines = [line.split("] ")[1] for line in stream.getvalue().splitlines()]
    assert lines == ["mpich: installing", "mpich: ready (0.0 s): 5.0.2", "a minute left"]


def test_a_terminal_keeps_the_last_state_of_every_task():
    stream = Terminal()
    with Progress(["mpich", "openmpi"], stream) as progress:
        progress.state("mpich", "installing")
        progress.end("mpich", "unavailable", succeeded=False, detail="no space [left]")
        progress.end("late", "ready", succeeded=True)
    last = stream.getvalue()[-400:]
    assert all(word in last for word in ("mpich", "no space [left]", "openmpi", "waiting", "late"))

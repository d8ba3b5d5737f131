"""The rooms of the kernels' sources: an include leads to its own room or to a lower one."""

import re

from onesided.environments import kernels

#: The lowest first. A study is above all rooms, and includes no other study.
ROOMS = ("harness", "mpi", "rma", "slots")
#: The other library's room: above the harness, beside the rooms of MPI.
BESIDE = {"openshmem": ("harness", "openshmem")}


def below(room):
    """Return the rooms that a file of a room may include."""
    if room in ROOMS:
        return ROOMS[: ROOMS.index(room) + 1]
    return BESIDE.get(room, (*ROOMS, *BESIDE, room))


def arrows_up(file):
    """Yield the includes of a file from a higher room."""
    name = file.relative_to(kernels.sources())
    included = re.findall(r'^#include "(\w+)/', file.read_text("utf-8"), re.MULTILINE)
    yield from (f"{name}: {room}" for room in included if room not in below(name.parts[0]))


def test_no_include_leads_to_a_room_above():
    files = sorted(kernels.sources().rglob("*.[ch]"))
    assert [arrow for file in files for arrow in arrows_up(file)] == []

"""A counter that several ranks on other hosts want at once: its turns are as in a queue."""

from collections import defaultdict

import pytest
from wire_launches import launch

from onesided.studies.wire.trips import Point, trips_of, turn_of

pytestmark = [pytest.mark.measures, pytest.mark.slow]

MPICH = "mpich-5.0.2"
DELAYS_US = (10_000, 20_000, 40_000)
HOSTS = ("h1", "h2", "h3", "h4")
AXES = ("synchronisation", "origins")
ORIGINS = 3
CELLS = f"synchronisation=lock_exclusive,lock_all_flush;origins=1,{ORIGINS}"
#: Four ranks share two cores: the scheduler causes the rest of a time and a little of the slope.
SHARE = 0.2


def test_turns_of_several_origins_are_those_of_a_queue(ready_environment, tmp_path):
    points = defaultdict(list)
    for delay_us in DELAYS_US:
        document = ready_environment(MPICH)
        options = {"axes": AXES, "hosts": HOSTS, "name": "contended_counter"}
        found = launch(document, tmp_path, delay_us, delay_us, {}, CELLS, **options)
        for way, times in found.items():
            points[way].append(Point(str(delay_us), times["message"], times["turn"]))
    counted = {way: trips_of(own).line.slope for way, own in points.items()}
    for synchronisation, alone in (("lock_exclusive", 3), ("lock_all_flush", 1)):
        assert counted[synchronisation, 1] == pytest.approx(alone, rel=SHARE)
        turn = turn_of(alone, ORIGINS)
        assert counted[synchronisation, ORIGINS] == pytest.approx(turn, rel=SHARE)

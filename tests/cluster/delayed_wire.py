"""A wire with a delay where the kernel has no netem: every Ethernet frame is held, then passed on.

Started in the network namespace that holds one leg of each host's veth pair::

    python delayed_wire.py LEG LEG DELAY_S

Says ``ready`` when it listens. Offloads stay as they are: the kernel's header before each frame
(`PACKET_VNET_HDR`) tells of a checksum still to be made or of a segment larger than a frame, and
is passed on with it.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections import deque

# from asm-generic/socket.h, linux/if_ether.h and linux/if_packet.h; Python has no names for them
SO_RCVBUFFORCE = 33
ETH_P_ALL = 0x0003
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
#: A segment that the kernel has not cut into frames, with its header.
FRAME_BYTES = 65536 + 128
BUFFER_BYTES = 8 * 1024**2
PRIORITY = 10


def leg_of(name: str) -> socket.socket:
    """Return a socket that gets what arrives at an interface and sends out of it."""
    leg = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    leg.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    leg.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    leg.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    leg.bind((name, ETH_P_ALL))
    leg.setblocking(False)
    return leg


def run_first() -> None:
    """Go before the ranks, which poll and leave no core idle; as it is where that is forbidden."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        print("no priority over the ranks: frames may be held for longer", file=sys.stderr)


def relay(legs: tuple[socket.socket, socket.socket], delay_s: float) -> None:
    """Pass on what arrives at either leg to the other one, `delay_s` after it arrived."""
    other = {legs[0]: legs[1], legs[1]: legs[0]}
    # one delay for all, so that the first to arrive is the first to go
    held: deque[tuple[float, socket.socket, bytes]] = deque()
    while True:
        wait_s = max(0.0, held[0][0] - time.monotonic()) if held else None
        for leg in select.select(legs, [], [], wait_s)[0]:
            frame = leg.recv(FRAME_BYTES)
            held.append((time.monotonic() + delay_s, other[leg], frame))
        while held and held[0][0] <= time.monotonic():
            _, leg, frame = held.popleft()
            leg.send(frame)


def main() -> None:
    """Listen at both legs until ended."""
    first, second, delay_s = sys.argv[1:]
    legs = (leg_of(first), leg_of(second))
    run_first()
    print("ready", flush=True)
    relay(legs, float(delay_s))


if __name__ == "__main__":
    main()

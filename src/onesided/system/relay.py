"""The wire between simulated hosts of this machine: it delays every Ethernet frame.

Each host has one end of a veth pair. The other end, called *leg*, is in the network namespace of
the relay. A frame that arrives at a leg is held for the delay, and then sent to the leg of its
destination host. Network offloads still work, because the Linux kernel's header before each frame
(`PACKET_VNET_HDR`) is passed on, too. This header says whether a checksum is missing, or whether a
segment is larger than a frame.
"""

import ctypes
import heapq
import os
import random
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# from asm-generic/socket.h, linux/if_ether.h and linux/if_packet.h; Python has no names for them
SO_RCVBUFFORCE = 33
ETH_P_ALL = 0x0003
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
VNET_HDR_BYTES = 10
#: A segment that the kernel has not cut into frames, with its header.
FRAME_BYTES = 65536 + 128
BUFFER_BYTES = 8 * 1024**2
PRIORITY = 10
#: The shortest time slice that Linux gives.
SLICE_NS = 100_000
#: The number of the system call, for which Python has no name.
SCHED_SETATTR, SCHED_SETATTR_ELSEWHERE = {"x86_64": 314}, 274
#: From linux/prctl.h: how much later than asked Linux may wake a process, in nanoseconds.
PR_SET_TIMERSLACK, SLACK_NS = 29, 1
BITS = 8
ADDRESS_BYTES = 6


@dataclass(frozen=True)
class Wire:
    """The properties of the simulated wire between two hosts: delay, jitter and bandwidth.

    Attributes:
        delay_s: the time from host to host in one direction, in seconds.
        jitter_s: the largest random addition to the delay, in seconds. Frames of a pair of hosts
            stay in order.
        bits_per_s: the rate at which the frames of a pair leave, one after the other; None if the
            rate is not limited.
    """

    delay_s: float
    jitter_s: float = 0.0
    bits_per_s: float | None = None


class Relay:
    """Passes Ethernet frames on between simulated hosts, with the delay of the wire."""

    def __init__(self, wire: Wire, hosts: Mapping[str, str]) -> None:
        """Open the legs; `hosts` maps the name of each leg to the hardware address of its host."""
        self.wire = wire
        self._leg_of = {
            bytes.fromhex(address.replace(":", "")): _opened(leg) for leg, address in hosts.items()
        }
        self._legs = list(self._leg_of.values())
        self._free_s: dict[tuple[socket.socket, socket.socket], float] = {}
        self._last_s: dict[tuple[socket.socket, socket.socket], float] = {}
        # due time, number, leg, frame: the number keeps frames with equal due times in their order
        self._held: list[tuple[float, int, socket.socket, bytes]] = []
        self._number = 0

    def run(self, ends: Sequence[int]) -> None:
        """Pass frames on until one of the given file descriptors can be read.

        The descriptor of a process can be read when the process has ended.
        """
        while True:
            wait_s = max(0.0, self._held[0][0] - time.monotonic()) if self._held else None
            readable = select.select([*self._legs, *ends], [], [], wait_s)[0]
            if not set(readable).isdisjoint(ends):
                return
            for leg in readable:
                self._take(leg, leg.recv(FRAME_BYTES), time.monotonic())
            while self._held and self._held[0][0] <= time.monotonic():
                _, _, leg, frame = heapq.heappop(self._held)
                leg.send(frame)

    def _take(self, leg: socket.socket, frame: bytes, now_s: float) -> None:
        """Store a frame that arrived at a leg, once for each leg to which it will be sent."""
        known = self._leg_of.get(frame[VNET_HDR_BYTES : VNET_HDR_BYTES + ADDRESS_BYTES])
        # a frame that is not for one host is for all other hosts
        for other in [known] if known else [one for one in self._legs if one is not leg]:
            self._number += 1
            due_s = self._due_s((leg, other), len(frame) - VNET_HDR_BYTES, now_s)
            heapq.heappush(self._held, (due_s, self._number, other, frame))

    def _due_s(
        self, pair: tuple[socket.socket, socket.socket], frame_bytes: int, now_s: float
    ) -> float:
        """Return the time at which a frame must arrive at its destination host."""
        gone_s = now_s
        if self.wire.bits_per_s:
            begin_s = max(now_s, self._free_s.get(pair, 0.0))
            gone_s = self._free_s[pair] = begin_s + BITS * frame_bytes / self.wire.bits_per_s
        due_s = gone_s + self.wire.delay_s
        if self.wire.jitter_s:
            due_s += random.uniform(0.0, self.wire.jitter_s)
            due_s = max(due_s, self._last_s.get(pair, 0.0))
            self._last_s[pair] = due_s
        return due_s


def _opened(name: str) -> socket.socket:
    """Return a raw socket that receives and sends the frames of a network interface."""
    leg = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    leg.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    leg.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    try:
        leg.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    except PermissionError:  # root of a user namespace lacks this right
        leg.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    leg.bind((name, ETH_P_ALL))
    return leg


class _Attributes(ctypes.Structure):
    """The first version of Linux's struct sched_attr (linux/sched/types.h)."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime_ns", ctypes.c_uint64),
        ("deadline_ns", ctypes.c_uint64),
        ("period_ns", ctypes.c_uint64),
    )


def go_first() -> bool:
    """Let this process run before the ranks, which poll and leave no core idle.

    Return whether the system allows this process to run first.

    If the user is root, this process gets priority over all others. For another user, this process
    gets short time slices. When a process with short time slices wakes up, Linux 6.12 and newer run
    it before processes with longer time slices. Linux may wake a process without priority up to
    50 us late, to wake several processes at once; this process is woken on time.
    """
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        return _take_short_slices()
    return True


def _take_short_slices() -> bool:
    wanted = _Attributes(policy=os.SCHED_OTHER, runtime_ns=SLICE_NS)
    wanted.size = ctypes.sizeof(wanted)
    number = SCHED_SETATTR.get(os.uname().machine, SCHED_SETATTR_ELSEWHERE)
    return ctypes.CDLL(None).syscall(number, 0, ctypes.byref(wanted), 0) == 0

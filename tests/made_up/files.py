"""Parallel input and output, and remote reads, with known times."""

from functools import partial

from made_up import generator as make

UNIT_S = 1e-4
EXT4, TMPFS = 0xEF53, 0x01021994
OPEN, DEVICE = 0.5, 20.0
#: Times of a write, in units, as in the source; a read takes half of them.
_CALLS = ("at_all", "at_all_darray", "at", "iat", "posix", "own_files", "one_rank")
WRITES = {
    "cubes": dict(zip(_CALLS, (1.0, 1.02, 2.0, 2.1, 4.0, 0.5, 3.0), strict=True)),
    "slabs": dict(zip(_CALLS, (1.5, 1.5, 1.2, 1.2, 0.8, 0.5, 3.0), strict=True)),
}
#: The cost of a request, and the seconds a byte from a disk and from memory, in units.
ASKING, COLD_BYTE, WARM_BYTE = 0.3, 1e-4, 1e-6
#: The cost of a request to write.
WRITTEN = {"local_write": 0.0, "get_and_write": 2 * ASKING, "send_and_write": ASKING}
SMALL_TOO = {"direction": "write", "storage": "disk", "blocks": "cubes"}


def cells_of(launch):
    if launch.kernel == "parallel_io":
        return make.points(
            direction=("write", "read"),
            way=WRITES["cubes"],
            storage=("disk", "tmpfs"),
            blocks=WRITES,
            side=lambda at: ("16", "64") if SMALL_TOO.items() <= at.items() else "64",
        )
    return make.points(
        way=("local", "put_back", "send_back", *WRITTEN),
        server=lambda at: "none" if at["way"].startswith("local") else "process",
        storage="disk",
        cache=lambda at: "none" if at["way"] in WRITTEN else ("warm", "cold"),
        size_bytes=(512, 16384, 65536, 1048576),
    )


def as_claimed(kernel, ranks, at):
    if kernel == "parallel_io":
        return WRITES[at["blocks"]][at["way"]] * (0.5 if at["direction"] == "read" else 1.0)
    asking = WRITTEN | {"local": 0.0, "put_back": ASKING, "send_back": 1.5 * ASKING}
    asking = asking[at["way"]]
    a_byte = COLD_BYTE if at["cache"] == "cold" else WARM_BYTE
    return asking + a_byte * int(at["size_bytes"])


def reversed_times(kernel, ranks, at):
    """Return times that contradict the source."""
    if kernel == "remote_read" and at["way"] != "local" and at["size_bytes"] != "512":
        return 10 * as_claimed(kernel, ranks, at)
    return 1 / as_claimed(kernel, ranks, at) if kernel == "parallel_io" else 1.0


#: Seconds of a system request, and of a byte.
REQUEST_S, BYTE_S = 2e-6, 1e-9


def requests(at):
    """Return the requests of each of two ranks, which have half of each run, or of the cube."""
    return float(int(at["side"]) ** 2) if at["blocks"] == "cubes" else 1.0


def as_equation_6_3(kernel, ranks, at):
    """Return times of system calls as the sum of a time of requests and a time of bytes."""
    if kernel != "parallel_io" or at["way"] != "posix":
        return as_claimed(kernel, ranks, at)
    bytes_of_rank = 4 * int(at["side"]) ** 3 / ranks
    return (requests(at) * REQUEST_S + bytes_of_rank * BYTE_S) / UNIT_S


def series(cell, times=as_claimed):
    """Return the series: the slowest of all ranks counts."""
    system = float(EXT4 if cell.at["storage"] == "disk" else TMPFS)
    yield make.Series("file_system", [system], unit="count")
    (noise,) = make.timed(cell, [0], unit=UNIT_S)
    time = times(*cell.place)

    def of(metric, factor, rank=0):
        return make.Series(metric, [factor * unit for unit in noise.samples], rank)

    if cell.kernel == "remote_read":
        yield of("time", time, 1)
        if cell.at["way"] in WRITTEN:
            return
        yield make.Series("resident", [float(cell.at["cache"] == "warm")] * 10, unit="1")
        return
    for rank in range(cell.ranks):
        yield of("time", time / (1 + rank), rank)
        yield of("open", OPEN, rank)
    if cell.at["direction"] == "write":
        yield of("device", DEVICE)
    if cell.at["way"] == "posix":
        for rank in range(cell.ranks):
            yield make.Series("requests", [requests(cell.at)], rank, unit="count")


campaign = partial(make.campaign, series, cells_of, kernels=("parallel_io", "remote_read"))

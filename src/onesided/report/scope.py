"""The scope of a report: machine, ranks, sizes and launches with which its campaign measured.

A report makes no claim for anything that was not measured.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from onesided.cells import verdicts
from onesided.environments import transport
from onesided.report import numbers
from onesided.report.material import Cell, Loaded
from onesided.report.words import listed

SHARED = "through shared memory"
NOT_SHARED = "not through shared memory"
BETWEEN = "between nodes"
SEVERAL = "on several nodes"
NOT_NETWORK = "This is not a network result."
SAME_MACHINE = "The nodes are hosts of one machine."


def size_label(size_bytes: int) -> str:
    """Return a size: ``8 bytes``, ``64 KiB``, ``1 MiB``."""
    for size, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= size and size_bytes % size == 0:
            return f"{size_bytes // size}{numbers.THIN_SPACE}{unit}"
    return f"{size_bytes}{numbers.THIN_SPACE}bytes"


def sizes(cells: Sequence[Cell]) -> list[str]:
    """Return the payload sizes of some cells, the smallest first."""
    known = {int(cell.labels["size_bytes"]) for cell in cells if "size_bytes" in cell.labels}
    return [size_label(size) for size in sorted(known)]


def ranks(cells: Sequence[Cell]) -> str | None:
    """Return the numbers of ranks: ``2 ranks``, ``2, 3 or 4 ranks``."""
    counts = sorted({cell.ranks for cell in cells if cell.ranks is not None})
    if not counts:
        return None
    if len(counts) == 1:
        return numbers.count(counts[0], "rank")
    return f"{listed([str(one) for one in counts], 'or')} ranks"


def launches(cells: Sequence[Cell]) -> str | None:
    """Return how many launches each cell has: ``6 launches of each cell``."""
    counts = sorted({cell.launches for cell in cells})
    if not counts:
        return None
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} launch{'' if counts == [1] else 'es'} of each cell"


def one_round(cells: Mapping[str, Sequence[Cell]], what: str) -> str | None:
    """Say which experiments were launched in only one round; None if there is no such experiment.

    `cells` has the cells of each experiment, by its title. `what` is the place that shows the
    experiments, as the sentence names it: ``this page``.
    """
    measured = {
        title: [cell.launches for cell in own if cell.verdict not in verdicts.NOT_MEASURED]
        for title, own in cells.items()
    }
    measured = {title: launched for title, launched in measured.items() if launched}
    once = [f"“{title}”" for title, launched in measured.items() if max(launched) == 1]
    if not once:
        return None
    whose = what if len(once) == len(measured) else listed(once)
    return (
        f"Each cell of {whose} was launched once. A value of one launch has no interval, and "
        "another launch may give another value."
    )


def _transport(loaded: Loaded, partition: tuple[str, str]) -> str | None:
    """Say how the ranks of a partition access windows; None if unknown or if cells differ."""
    system, name = partition
    rows = loaded.campaign.read_cells("system", "partition", "transport", "ranks", "nodes")
    rows = rows.filter((rows["system"] == system) & (rows["partition"] == name))
    run = rows.drop_nulls("nodes")
    if run.height and (run["nodes"] > 1).all():
        return BETWEEN if (run["nodes"] == run["ranks"]).all() else SEVERAL
    transports = [transport.from_text(text) for text in rows["transport"].drop_nulls().unique()]
    shared = {one.get("shm") for one in transports}
    words = {True: SHARED, False: NOT_SHARED}
    return words.get(shared.pop()) if len(shared) == 1 else None


def _is_one_machine(loaded: Loaded) -> bool:
    known = loaded.campaign.read_cells("clock_global")["clock_global"].drop_nulls()
    return known.len() > 0 and bool(known.all())


def cores(host: Mapping[str, Any]) -> str | None:
    """Return how many cores a machine has and, if fewer could be used, how many.

    `host` is from a campaign's record. Records of earlier versions lack the number of cores that
    could be used.
    """
    existing, usable = host.get("cores"), host.get("usable_cores")
    if not existing:
        return None
    words = numbers.count(int(existing), "core")
    fewer = usable is not None and int(usable) < int(existing)
    return f"{words}, of which {int(usable)} may be used" if fewer else words


def sentences(loaded: Loaded) -> list[str]:
    """Return sentences on the machine, the ranks, the transport and the launches of a campaign."""
    host = loaded.campaign.record.get("host") or {}
    machine = str(host.get("processor") or host.get("name") or "a machine that is not known")
    if words := cores(host):
        machine += f", {words}"
    partitions = list(dict.fromkeys((cell.system, cell.partition) for cell in loaded.cells))
    known = {place: _transport(loaded, place) for place in partitions}
    if len(partitions) == 1:
        places = [way for way in known.values() if way]
    else:
        places = [":".join(place) + (f" {way}" if way else "") for place, way in known.items()]
    one = _is_one_machine(loaded)
    first = f"one machine ({machine})" if one else f"several machines, from {machine}"
    parts = [ranks(loaded.cells), listed(places), launches(loaded.cells)]
    said = [f"Measured on {first}: {', '.join(part for part in parts if part)}."]
    if one and not {BETWEEN, SEVERAL, NOT_SHARED} & set(known.values()):
        said.append(NOT_NETWORK)
    if one and {BETWEEN, SEVERAL} & set(known.values()):
        said.append(SAME_MACHINE)
    if variables := caveat(loaded.campaign.record):
        said.append(variables)
    return said


def cleared(record: Mapping[str, Any]) -> list[str]:
    """Return the names of variables that were set in the shell and that sessions cleared."""
    shells = [session.get("shell") or {} for session in record.get("sessions", [])]
    return sorted({name for shell in shells for name in shell.get("cleared", [])})


def foreign(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return variables that were set in launches, although no environment or setting names them.

    Some of these variables were set in the shell, and the session did not clear them. The other
    variables were set by a module, by a command of the site, or by a file of the MPI; the ranks
    reported them. The keys of the result name an environment and a setting, or only an environment
    if the variables were set in all its launches.
    """
    by_place: dict[str, set[str]] = defaultdict(set)
    for session in record.get("sessions", []):
        kept = (session.get("shell") or {}).get("kept", {})
        by_place[str(session.get("environment"))] |= {f"{name}={kept[name]}" for name in kept}
    for facts in record.get("launch_facts", []):
        environment = str(facts.get("environment"))
        for setting, variables in (facts.get("foreign_variables") or {}).items():
            by_place[f"{environment}, {setting}"] |= set(variables) - by_place[environment]
    return {place: sorted(by_place[place]) for place in sorted(by_place) if by_place[place]}


def foreign_words(record: Mapping[str, Any]) -> str | None:
    """Return the variables of `foreign` as text, each set only once; None without variables."""
    places: dict[str, list[str]] = defaultdict(list)
    for place, variables in foreign(record).items():
        places[" ".join(variables)].append(place)
    return "; ".join(f"{words} ({'; '.join(at)})" for words, at in places.items()) or None


def caveat(record: Mapping[str, Any]) -> str | None:
    """Return a remark for all tables about the variables of `foreign`; None without variables."""
    words = foreign_words(record)
    return f"Run with variables that no setting names: {words}." if words else None

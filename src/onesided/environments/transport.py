"""Find out how an MPI transports window accesses, from the debug output of an untimed launch.

A debug report is the output of one launch of the kernel `progress` with one window flavor. A debug
report begins with the library's output, and ends with the kernel's JSON lines. If a debug report
does not show an attribute of the transport, the attribute is None. No attribute is guessed from
what a setting asks for.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from onesided.system import text, values

#: For each family, the variables that make the library report its transport. The function that
#: reads a family's debug reports knows only the texts that exactly these variables cause.
REPORT_VARIABLES: Mapping[str, Mapping[str, str]] = {
    "mpich": {
        "MPIR_CVAR_DEBUG_SUMMARY": "1",
        "MPIR_CVAR_DEBUG_CVARS": "1",
        "UCX_LOG_LEVEL": "info",
    },
    "openmpi": {
        "OMPI_MCA_osc_base_verbose": "100",
        "OMPI_MCA_pml_base_verbose": "100",
        "OMPI_MCA_btl_base_verbose": "100",
        "UCX_LOG_LEVEL": "info",
    },
    "impi": {"I_MPI_DEBUG": "10"},
}

#: Kernel and options of the launch of a debug report: one window, one untimed operation. The window
#: flavor is a further option.
REPORT_KERNEL = "progress"
REPORT_OPTIONS: Mapping[str, str] = {
    "operation": "put",
    "synchronisation": "lock_all_flush",
    "target_state": "idle",
    "samples": "1",
    "lengths-ms": "0",
    "latency-samples": "0",
    "warm-up": "0",
}

#: Transports (UCX), BTLs (Open MPI) and providers (libfabric) that work only within a node: ranks
#: share memory, or one rank copies from the memory of another rank.
SHARED_MEMORY = frozenset({"cma", "knem", "lnx", "posix", "shm", "sm", "smcuda", "sysv", "vader",
                           "xpmem"})  # fmt: skip


@dataclass(frozen=True)
class Transport:
    """The transport of accesses to a window: component, network module, provider and so on.

    An attribute is None if the debug report does not give its value.

    Attributes:
        osc: the one-sided component of an Open MPI window.
        netmod: what carries bytes from rank to rank. For MPICH and Intel MPI: `ucx` or `ofi`. If
            ranks of one node use shared memory: `shm,ucx`, `shm,ofi` or only `shm`. For Open MPI:
            the point-to-point component.
        provider: what the network module uses: libfabric's provider, UCX's transports or Open MPI's
            BTL. If there are several, commas separate them.
        shm: whether ranks of one node reach the window through shared memory.
    """

    osc: str | None = None
    netmod: str | None = None
    provider: str | None = None
    shm: bool | None = None

    def document(self) -> dict[str, Any]:
        """Return the transport of a window as a JSON document."""
        return asdict(self)


def read(report: str, family: str) -> Transport:
    """Return the transport that a debug report shows.

    If this module cannot read reports of the MPI's family, all attributes are None.
    """
    reader = _READERS.get(family)
    return reader(report) if reader else Transport()


def from_text(written: str | None) -> dict[str, Any]:
    """Return a transport from its JSON text in cells.parquet; empty if the text is no object."""
    try:
        found = values.from_json(written or "{}")
    except (ValueError, RecursionError):
        return {}
    return text.plain(found) if isinstance(found, dict) else {}


def differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """List how the transport that was found differs from the transport that a setting asks for.

    `asked` has fields of `Transport`, with the value that each field must have. The result has one
    text for each field that differs, and the names of the fields that are not known.
    """
    differ, unknown = [], []
    for name, wanted in asked.items():
        value = found.get(name)
        if value is None:
            unknown.append(name)
        elif value != wanted and not (name == "provider" and _layered_on(value, wanted)):
            differ.append(f"{_words(name, wanted)} asked for, {_words(name, value)} found")
    return differ, unknown


def short(found: Mapping[str, Any]) -> str | None:
    """Describe a transport in a few words; return None if nothing is known about the transport."""
    parts = [
        *(_words(name, found[name]) for name in ("osc", "netmod", "provider") if found.get(name)),
        *([_words("shm", found["shm"])] if found.get("shm") is not None else []),
    ]
    return ", ".join(parts) or None


def _layered_on(provider: str, core: str) -> bool:
    """Tell whether a provider is `core`, alone or below a utility provider (``tcp;ofi_rxm``)."""
    return provider.partition(";")[0] == core


def _words(name: str, value: Any) -> str:
    if name == "shm":
        return "shared memory" if value else "no shared memory"
    return f"{name} {str(value).replace(',', '+')}"


def _only(values: Iterable[str]) -> str | None:
    """Return the value if all given values are equal; otherwise, or without values, None."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _joined(values: Iterable[str]) -> str | None:
    return ",".join(sorted(set(values))) or None


def _through_memory(transports: str | None) -> bool | None:
    """Tell whether shared memory is in a list of UCX transports; None if there is no list."""
    return None if transports is None else bool(SHARED_MEMORY & set(transports.split(",")))


def _kernel_lines(report: str, kind: str) -> list[dict[str, Any]]:
    """Return the JSON lines of one type that the kernel wrote into a debug report.

    Incomplete lines, and lines of programs other than the kernel, are left out.
    """
    found = []
    for line in report.split("\n"):
        if line.startswith(f'{{"type":"{kind}"'):
            try:
                found.append(values.from_json(line))
            except (ValueError, RecursionError):
                continue
    return found


def _flavors(report: str) -> set[str]:
    """Return the flavors of the windows that the kernel created in the launch."""
    flavors = [window.get("flavor") for window in _windows(report)]
    return {flavor for flavor in flavors if isinstance(flavor, str)}


def _windows(report: str) -> list[dict[str, Any]]:
    """Return the ``window`` entries of all result lines in a debug report."""
    windows = [result.get("window") for result in _kernel_lines(report, "result")]
    return [window for window in windows if isinstance(window, dict)]


def _on_one_host(report: str) -> bool:
    """Tell whether a debug report shows that all ranks of the launch were on one host."""
    headers = _kernel_lines(report, "header")
    processes = [header.get("processes") for header in headers]
    if not all(isinstance(one, list) for one in processes):
        return False
    known = [isinstance(one, dict) and one.get("host") for each in processes for one in each]
    return all(isinstance(host, str) for host in known) and len(set(known)) == 1


# ------------------------------------------------------------------------------------- UCX

_UCX_LANES = re.compile(r"UCX +INFO +\S+ (?:intra|inter)-node cfg#\d+ (.*)$", re.MULTILINE)
_UCX_LANE = re.compile(r"(\w+)\(([^)]*)\)")


def _ucx_endpoints(report: str) -> list[dict[str, set[str]]]:
    """Return, for each UCX endpoint configuration, the transports of each of its lanes."""
    return [
        {
            lane: {one.partition("/")[0] for one in transports.split()}
            for lane, transports in _UCX_LANE.findall(lanes)
        }
        for lanes in _UCX_LANES.findall(report)
    ]


def _ucx_transports(endpoints: Iterable[Mapping[str, set[str]]]) -> str | None:
    return _joined(name for lanes in endpoints for names in lanes.values() for name in names)


# ----------------------------------------------------------------------------------- MPICH

_MPICH_VARIABLE = re.compile(r"^CVAR: (\w+) = (.*)$", re.MULTILINE)
_MPICH_PROVIDER = re.compile(r"^libfabric provider: (\S+)", re.MULTILINE)
#: Variables that split a node into parts. No debug report says in which part a rank is.
_MPICH_CLIQUES = ("MPIR_CVAR_ODD_EVEN_CLIQUES", "MPIR_CVAR_NUM_CLIQUES")


def _mpich_local(report: str) -> bool | None:
    """Tell whether MPICH's ranks on one node use shared memory, and so bypass the network module.

    The result is None if the debug report does not show whether ranks use shared memory. A report
    lists only variables whose values differ from their defaults. Therefore a variable that is not
    in the list has its default, but only if the report has a list.
    """
    listed = dict(_MPICH_VARIABLE.findall(report))
    if "MPIR_CVAR_DEBUG_SUMMARY" not in listed or any(name in listed for name in _MPICH_CLIQUES):
        return None
    if listed.get("MPIR_CVAR_NOLOCAL", "0") != "0":
        return False
    return True if _on_one_host(report) else None


def _read_mpich(report: str) -> Transport:
    modules = {
        "ucx": _ucx_transports(_ucx_endpoints(report)),
        "ofi": _only(_MPICH_PROVIDER.findall(report)),
    }
    shown = {"ucx": "==== UCX netmod Capability ====", "ofi": "libfabric provider: "}
    module = _only(name for name, words in shown.items() if words in report)
    local = _mpich_local(report)
    if module is None or local is None:
        return Transport(provider=modules.get(module or ""), shm=local or None)
    provider = modules[module]
    through_memory = True if local else _through_memory(provider)
    return Transport(None, f"shm,{module}" if local else module, provider, through_memory)


# ------------------------------------------------------------------------------- Intel MPI

_INTEL = r"^\[0\] MPI startup\(\): "
_INTEL_PROVIDER = re.compile(_INTEL + r"libfabric provider: (\S+)", re.MULTILINE)
_INTEL_SHARED = re.compile(_INTEL + r"shm segment size ", re.MULTILINE)
_INTEL_END = re.compile(_INTEL + r"I_MPI_DEBUG=", re.MULTILINE)


def _read_intel(report: str) -> Transport:
    if not _INTEL_END.search(report):  # a report that is not cut ends with variables
        return Transport()
    shared = bool(_INTEL_SHARED.search(report))
    provider = _only(_INTEL_PROVIDER.findall(report))
    modules = [*(["shm"] if shared else []), *(["ofi"] if provider else [])]
    through_memory = shared or _through_memory(provider and provider.partition(";")[0])
    flavors = _flavors(report)
    if not through_memory and (not flavors or "shared" in flavors):
        through_memory = None  # the window itself may be of flavor shared
    return Transport(None, ",".join(modules) or None, provider, through_memory)


# -------------------------------------------------------------------------------- Open MPI

_OPENMPI_LINE = re.compile(r"^\[([^\]\s]+:\d+)\] (.*)$", re.MULTILINE)
_OPENMPI_PML = re.compile(r"selected (\w+) best priority \d+$")
_OPENMPI_SELECTED = re.compile(r"select: component (\w+) selected$")
_OPENMPI_FREED = re.compile(r"(\w+) component destroying window with id ")
_OPENMPI_BTL = re.compile(r"mca: bml: Using (\w+) btl for send to ")


def _openmpi_processes(report: str) -> list[list[str]]:
    lines = defaultdict(list)
    for process, words in _OPENMPI_LINE.findall(report):
        lines[process].append(words.rstrip())
    return list(lines.values())


def _openmpi_matches(lines: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    return [match[1] for match in map(pattern.match, lines) if match]


def _openmpi_selected(lines: list[str], pml: str | None) -> list[str]:
    """Return Open MPI's components for windows (osc), with "?" for an uncertain component.

    The debug report has lines of the same form for windows and for point-to-point messages. The
    line about point-to-point messages comes first. Open MPI 4.1 does not report which component it
    selects for windows.
    """
    selected = _openmpi_matches(lines, _OPENMPI_SELECTED)
    return selected[1:] if selected[:1] == [pml] else ["?"] * len(selected)


def _openmpi_component(report: str, processes: list[list[str]], pml: str | None) -> str | None:
    """Return Open MPI's component for all windows of a launch.

    The result is None if the debug report does not show for certain which component Open MPI uses.
    """
    told = [name for lines in processes for name in _openmpi_selected(lines, pml)]
    told += [name for lines in processes for name in _openmpi_matches(lines, _OPENMPI_FREED)]
    # only osc/ucx has endpoints with lanes for atomics but without a lane for messages
    if any("amo" in lanes and "tag" not in lanes for lanes in _ucx_endpoints(report)):
        told.append("ucx")
    # only osc/sm has this info key; osc/sm of series 4.1 reports nothing else about itself
    infos = [window.get("info") for window in _windows(report)]
    told += ["sm" for info in infos if isinstance(info, dict) and "blocking_fence" in info]
    component = _only(told)
    return None if component == "?" else component


def _openmpi_provider(
    report: str, processes: list[list[str]], osc: str | None, pml: str | None
) -> str | None:
    """Return the UCX transports or the BTL that carry window accesses; None for osc/sm."""
    endpoints = _ucx_endpoints(report)
    if osc == "ucx":
        return _ucx_transports(lanes for lanes in endpoints if "tag" not in lanes)
    if osc == "pt2pt" and pml == "ucx":
        return _ucx_transports(lanes for lanes in endpoints if "tag" in lanes)
    if osc == "rdma" or (osc == "pt2pt" and pml == "ob1"):
        named = [name for lines in processes for name in _openmpi_matches(lines, _OPENMPI_BTL)]
        return _joined(name for name in named if name != "self")
    return None


def _read_openmpi(report: str) -> Transport:
    processes = _openmpi_processes(report)
    pml = _only(name for lines in processes for name in _openmpi_matches(lines, _OPENMPI_PML))
    osc = _openmpi_component(report, processes, pml)
    provider = _openmpi_provider(report, processes, osc, pml)
    return Transport(osc, pml, provider, True if osc == "sm" else _through_memory(provider))


_READERS: Mapping[str, Callable[[str], Transport]] = {
    "mpich": _read_mpich,
    "impi": _read_intel,
    "openmpi": _read_openmpi,
}

"""What do exchanges of messages cost if the pairs of ranks and the message sizes are random?"""

from dataclasses import dataclass

from onesided.report.cells import apart, grouped
from onesided.report.material import Cell, Material
from onesided.report.numbers import count
from onesided.report.parts import Measure, Prose
from onesided.report.words import listed
from onesided.studies.llnl.exchange import DRAWN, ByProcesses, exchange, published_by_ranks
from onesided.studies.parts.exchanges import CHECKSUM, MEDIAN, PASS_BYTES
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today
from onesided.studies.parts.ways import size_of

SAME = "asynchronous_same_buffers"
CHECKED = (CHECKSUM.name, MEDIAN)


@dataclass(frozen=True)
class Maps:
    """Sentences with the checksums of random maps; a map says who sends how many bytes to whom.

    If launches had different maps, the sentence says so.
    """

    def parts(self, material: Material) -> list[Prose]:
        """Return a sentence for each map, or nothing if no launch recorded a map's checksum."""
        material = apart(material)
        drawn = [cell for cell in material.cells if material.measure(cell, *CHECKED)]
        maps = grouped(drawn, lambda cell: (cell.ranks, cell.axis("sides"), size_of(cell)))
        said = [_sentence(material, maps[key]) for key in sorted(maps)]
        return [Prose("The map", said)] if said else []


def _sentence(material: Material, cells: list[Cell]) -> str:
    """Say whether all launches of the given cells had the same random map of messages."""
    names: dict[float, set[str]] = {}
    for cell in cells:
        checksum = material.measure(cell, *CHECKED)
        assert isinstance(checksum, Measure)
        # if launches have different maps, the least and the greatest checksum differ
        for value in (checksum.low, checksum.value, checksum.high):
            names.setdefault(value, set()).add(cell.environment)
    first, each = cells[0], {f"{int(value):08x}": listed(sorted(names[value])) for value in names}
    largest = count(size_of(first), "byte")
    said = f"{first.ranks} ranks, {first.axis('sides')}-sided, up to {largest}: "
    if len(each) > 1:
        words = [f"{value} ({where})" for value, where in each.items()]
        return f"{said}the maps differ: {listed(words)}."
    total = material.measure(cells[-1], PASS_BYTES.name, MEDIAN)
    assert total is not None
    ((value, where),) = each.items()
    return f"{said}{total.value:.0f} bytes a pass, checksum {value} in every launch of {where}."


EXPERIMENT = exchange(
    __name__,
    "Some-to-some (STS)",
    32,
    lead=(
        "Random pairs of ranks exchange messages of random sizes, six a rank on average; "
        "double-sided, each pair is there a second time, reversed. The map is drawn from a seed. "
        "The bandwidth is the mean over all ranks of what they send in a pass, over its time."
    ),
    faster=Faster("some_to_some", "messages up to", left_out=(SAME,)),
    today=Today(
        "some_to_some",
        "messages of up to 262144 bytes, which fits LLNL's numbers.",
        "messages up to, bytes",
        lambda cell: cell.axis("largest_bytes") == DRAWN,
    ),
    own={"interface": "asynchronous", "sides": "single"},
    same=SAME,
    published=[published_by_ranks("sts")],
    by_ranks=ByProcesses(
        "sts", ["single_bandwidth", "double_bandwidth"], ["single_ms", "double_ms"], DRAWN
    ),
    more=[Maps()],
)

"""The sizes and settings that a campaign left out, and the commands that measure them."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from onesided.campaign import campaign
from onesided.campaign.declared import SIZE_AXIS, known_sizes
from onesided.environments import settings
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell
from onesided.report.scope import size_label
from onesided.report.words import listed


def run_commands(campaigns: Iterable[str]) -> Markup:
    """Return the commands that run some campaigns."""
    code = Markup("<code>onesided run {}</code>")
    return Markup(" or ").join(code.format(name) for name in campaigns)


def sizes_elsewhere(kernel: str, cells: Sequence[Cell]) -> Markup | None:
    """Say which declared campaigns have further sizes; None if the cells have several sizes.

    Args:
        kernel: the kernel of the cells.
        cells: the cells of a report.
    """
    own = {int(cell.labels[SIZE_AXIS]) for cell in cells if SIZE_AXIS in cell.labels}
    if len(own) != 1:
        return None
    declared = known_sizes(kernel)
    further = [name for name, sizes in declared.items() if not own >= set(sizes)]
    same = grouped(further, lambda name: tuple(declared[name]))
    said = [
        Markup("{} ({})").format(run_commands(names), listed([*map(size_label, sizes)]))
        for sizes, names in same.items()
    ]
    if not said:
        return None
    return Markup("To measure other sizes: {}.").format(Markup(" or ").join(said))


def settings_tried(cells: Sequence[Cell], kernels: Iterable[str]) -> Markup:
    """Say how many of the declared settings were tried, and which commands run the other settings.

    Args:
        cells: the cells of one or several experiments.
        kernels: the kernels of all experiments.
    """
    declared = settings.names()
    tried = [name for name in declared if name in {cell.setting for cell in cells}]
    said = f"{len(tried)} of {numbers.count(len(declared), 'setting')}"
    said += f" {'was' if len(tried) == 1 else 'were'} tried"
    if tried == [settings.DEFAULT]:
        said += f": {settings.DEFAULT}, which sets no environment variable"
    missing = set(declared) - set(tried)
    # if a tag is a kernel's name, it selects only this kernel's checks
    foreign = set(kernels) - {cell.kernel for cell in cells}
    others = campaign.with_settings(missing, foreign) if missing else []
    if others:
        return Markup("{}. To try the others: {}.").format(said, run_commands(others))
    return Markup("{}.").format(said)


def one_setting(name: str | None) -> str:
    """Name the setting of a table, and say how many settings are declared."""
    declared = settings.names()
    nothing = ", no environment variable set" if name == settings.DEFAULT else ""
    return f"Setting: {name}{nothing} (1 of {len(declared)})."

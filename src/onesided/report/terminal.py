"""The text on the terminal at the end of a campaign."""

from collections.abc import Sequence

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers, scope
from onesided.report.document import INDEX
from onesided.report.material import Loaded, Material
from onesided.report.provenance import damaged_files, further_rounds, timing_lines
from onesided.report.words import tally


def terminal_summary(loaded: Loaded) -> str:
    """Return the text for the terminal at a campaign's end: scope, answer, holes, time, paths.

    Args:
        loaded: the campaign's results.
    """
    folder = loaded.campaign.folder
    lines = [" ".join(scope.sentences(loaded))]
    answered = set()
    for material in loaded.materials():
        said = material.experiment.page.terminal_lines(material)
        if said:
            answered.add(material.experiment.study)
            lines.append(material.experiment.title)
            lines += [f"  {line}" for line in [*said, *_remarks(material)]]
    for study in loaded.experiments.briefs:
        told = () if study in answered else study.brief.sentences(loaded.campaign.record, None)
        lines += [f"{study.name}: {Markup(sentence).striptags()}" for sentence in told]
    words = [cell.verdict for cell in loaded.cells]
    missing = [word for word in words if word in verdicts.NOT_MEASURED]
    failed = [word for word in words if word in verdicts.FAILURES]
    open_words = [word for word in words if word == verdicts.UNDECIDED]
    lines.append(f"cells: {len(words)} declared, {len(missing)} not measured" + _brackets(missing))
    lines[-1] += f", {len(failed)} failed" + _brackets(failed)
    lines[-1] += f", {len(open_words)} undecided"
    lines += [rounds] if (rounds := further_rounds(loaded)) else []
    lines += [f"damaged files: {said}"] if (said := damaged_files(loaded)) else []
    lines.append("time: " + "; ".join(f"{what} {found}" for what, found in timing_lines(loaded)))
    advice = folder / "report" / "advice"
    lines += [f"what to use, a file per MPI: {advice}"] if advice.is_dir() else []
    lines.append(f"report: {folder / 'report' / INDEX}")
    plain = "\n".join(lines).replace(numbers.THIN_SPACE, " ")
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in plain) + "\n"


def _remarks(material: Material) -> list[str]:
    """Return one line for each environment with latencies out of all proportion."""
    lines = []
    for environment in material.environments:
        own = [cell for cell in material.cells if cell.environment == environment]
        timed = [(cell, found) for cell in own if (found := material.latency(cell))]
        remarked = [(cell, found) for cell, found in timed if found.remark]
        if remarked:
            cell, worst = max(remarked, key=lambda one: material.tail(one[0]))
            waited = material.waited(environment)
            lines.append(
                f"{environment}: {len(remarked)} of {len(timed)} latencies are out of all "
                f"proportion; the farthest, {cell.thread_level} {cell.entry['cell']}: "
                f"{numbers.seconds(worst.value)}, {worst.remark}"
                + (f"; {waited}" if waited else "")
            )
    return lines


def _brackets(words: Sequence[str]) -> str:
    return f" ({tally(words)})" if words else ""

"""The short answer: how a program makes an access complete while its target computes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from onesided.campaign import campaign
from onesided.campaign.declared import SIZE_AXIS, known_sizes
from onesided.cells import verdicts
from onesided.environments import settings
from onesided.report import answers, numbers, scope
from onesided.report.answers import Together, together, where
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Headline
from onesided.report.scope import size_label
from onesided.report.words import listed, tally
from onesided.studies.stfc.progress.advice import program
from onesided.studies.stfc.progress.cells import (
    DEFAULT_SETTING,
    FLAVORS,
    SYNCHRONISATIONS,
    WRITTEN,
    between_nodes,
    computing,
    declared_order,
    first_group,
    is_judged,
    is_on_several_nodes,
    levels_of,
    way_of,
)
from onesided.studies.stfc.progress.recommend import Advice
from onesided.studies.stfc.progress.use import first_advice
from onesided.studies.stfc.ways import Way, columns_of, completes, measured_with, reading, row_of

MOST_OPERATIONS = 6
"""With more operations than this, the answer gives their number in place of their names."""

MOST_WAYS = 6
"""The answer has at most this many ways to program; the truth table has all ways."""

SAY = WRITTEN.say

Pair = tuple[str, str]
"""Flavor and synchronisation."""


# ------------------------------------------------------------------------------ the ways


def _window(flavor: str) -> str:
    """Return the MPI call that makes a window of the given flavor."""
    return FLAVORS[flavor]["call"] if flavor in FLAVORS else flavor


def _synchronisation(name: str) -> str:
    return SYNCHRONISATIONS[name]["words"] if name in SYNCHRONISATIONS else name


def title(pairs: Sequence[Pair], every: Sequence[Pair]) -> str:
    """Name ways to program. Window flavors with the same synchronisations are named together.

    The pairs in `every` are all ways that can say something about progress. If `pairs` has all
    synchronisations that a flavor has in `every`, the name gives the number of synchronisations.
    """
    by_words: dict[str, list[str]] = {}
    for flavor in sorted(dict.fromkeys(f for f, _ in pairs), key=lambda f: (*FLAVORS, f).index(f)):
        own = [synchronisation for name, synchronisation in pairs if name == flavor]
        tested = {synchronisation for name, synchronisation in every if name == flavor}
        if set(own) == tested and len(own) > 1:
            words = f"each of the {numbers.count(len(own), 'synchronisation')} tested"
        else:
            words = listed(list(map(_synchronisation, own)), "or")
        by_words.setdefault(words, []).append(_window(flavor))
    return "; ".join(f"{listed(flavors, 'or')} with {words}" for words, flavors in by_words.items())


def _telling(cells: Sequence[Cell]) -> dict[Pair, list[Cell]]:
    """Return the cells of each way to program; omit ways whose cells say nothing about progress."""
    by_way = grouped(cells, way_of).items()
    return {pair: own for pair, own in by_way if any(map(is_judged, own))}


def _by_environment(cells: Sequence[Cell], environments: Sequence[str]) -> dict[str, Together]:
    by_name = grouped(cells, lambda cell: cell.environment)
    return {name: together(by_name.get(name, [])) for name in environments}


def ways(cells: Sequence[Cell], environments: Sequence[str]) -> list[Way]:
    """Return the ways to program; ways with progress in the most MPIs come first.

    `cells` are the cells of one setting in which the target computes without help.
    """
    tested = {pair: _by_environment(own, environments) for pair, own in _telling(cells).items()}
    words = [
        (pair, {name: verdict.word for name, verdict in own.items()})
        for pair, own in tested.items()
    ]
    return [
        Way(
            "+".join("_".join(pair) for pair in pairs),
            title(pairs, list(tested)),
            {name: _merged([tested[pair][name] for pair in pairs]) for name in environments},
            pairs,
        )
        for pairs, _ in answers.by_result(words)
    ]


def _merged(several: Sequence[Together]) -> Together:
    """Merge the verdicts of several ways to program; all these verdicts have the same word."""
    word = several[0].word
    notes = [verdict.note for verdict in several if verdict.note]
    if len(notes) == len(several) == 1:
        return several[0]
    return Together(word, "not every cell decided" if notes and word != answers.MIXED else None)


def way_rows(cells: Sequence[Cell]) -> dict[Pair, list[Cell]]:
    """Return, for each flavor and synchronisation, the cells whose target computes without help."""
    telling = _telling(computing(first_group(cells)))
    return {
        (_window(flavor), _synchronisation(name)): own for (flavor, name), own in telling.items()
    }


def helps(cells: Sequence[Cell], environments: Sequence[str]) -> list[Way]:
    """Return the ways in which a target can help, each with one verdict for each MPI.

    Cells with more threads than cores are left out, because they measure the scheduler.
    """
    every = {cell.axis("synchronisation") for cell in computing(cells) if is_judged(cell)}
    able = [cell for cell in cells if is_judged(cell) and not cell.is_crowded]
    by_state = grouped(able, lambda cell: cell.axis("target_state"))
    helping = []
    for state, words in WRITTEN.names["helps"].items():
        own = by_state.get(state)
        if not own:
            continue
        intervals = declared_order(own, "probe_interval_us")
        said = words.format(f"{listed(intervals, 'or')}{numbers.THIN_SPACE}µs")
        tested = declared_order(own, "synchronisation")
        if every - set(tested):
            windows = listed([*map(_window, declared_order(own, "flavor", FLAVORS))])
            said += f" (tested: {windows} with {listed([*map(_synchronisation, tested)], 'or')})"
        helping.append(Way(state, said, _by_environment(own, environments)))
    return helping


# ------------------------------------------------------------------------------ the sentences


def _what_to_use(ranked: Sequence[Way], kind: str) -> list[Markup]:
    """Say, for each way to program, in which MPIs accesses complete; the best way comes first."""
    best = ranked[0]
    same = {word for way in ranked for word in way.words.values()}
    names = answers.names(list(best.by_environment), list(best.by_environment), kind)
    if same == {verdicts.INDEPENDENT}:
        return [SAY("everywhere", names)]
    if same == {verdicts.WAITS}:
        return [SAY("nowhere", names)]
    shown = [SAY("way", way.title, completes(way.words, kind)) for way in ranked[:MOST_WAYS]]
    if best.good:
        shown[0] = SAY("best", best.title, where(best.words, kind))
    else:
        shown.insert(0, SAY("none_best"))
    return [*shown, SAY("more_ways")] if len(ranked) > MOST_WAYS else shown


def _within_and_between(
    within: Sequence[Way], between: Sequence[Way], kind: str, is_network: bool
) -> list[Markup]:
    """Say which ways to program to use, within a node and between nodes.

    The ways in `within` were measured where the campaign ran. The ways in `between` were measured
    over TCP; the list is empty if TCP was not tested. `kind` says what the rows of the answer are.
    If `is_network` is true, ranks of the campaign were on several nodes.
    """
    said = _what_to_use(within, kind)
    if between:
        others = _what_to_use(between, kind)
        return [SAY("within", said[0]), *said[1:], *(SAY("between", one) for one in others)]
    if is_network or not within[0].good:
        return said
    return [*said, SAY("only_within", run_commands(["wire_quick", "settings"]))]


def variables_sentence(advices: Mapping[str, Advice]) -> list[Markup]:
    """Say in which MPIs an environment variable helps, if any variable was tried and needed."""
    said = [
        SAY("variable", listed([f"{n}={value}" for n, value in advice.variables.items()]), name)
        for name, advice in advices.items()
        if advice.chosen
    ]
    left = [(n, a) for n, a in advices.items() if a.waiting and a.tried and not a.chosen]
    for words, turns in (("no variable helps", False), ("no variable is recommended for", True)):
        names = [name for name, a in left if any(effect.turned for effect in a.tried) == turns]
        said += [SAY("no_variable", words, listed(names))] if names else []
    return [SAY("variables", Markup("; ").join(said))] if said else []


def _nothing(cells: Sequence[Cell]) -> Markup:
    """Say why the campaign gives no answer."""
    reasons = [cell.detail or "no reason" for cell in cells if cell.verdict == verdicts.UNDECIDED]
    if not reasons:
        return SAY("nothing")
    (reason, _), *others = Counter(reasons).most_common()
    mostly = "mostly " if others else ""
    return SAY("undecided", numbers.count(len(reasons), "cell"), mostly, reason)


def _tested(cells: Sequence[Cell], setting: str | None) -> Markup:
    """Say with which cells the answer was tested, and how many of these cells are undecided."""
    judged = [cell for cell in cells if is_judged(cell)]
    operations, levels = declared_order(judged, "operation"), levels_of(judged)
    named = f" ({listed(operations)})" if len(operations) <= MOST_OPERATIONS else ""
    said = SAY(
        "tested",
        *(len(declared_order(judged, "flavor")), len(FLAVORS)),
        *(len(declared_order(judged, "synchronisation")), len(SYNCHRONISATIONS)),
        *(numbers.count(len(operations), "operation") + named, listed(scope.sizes(judged))),
        f"thread level{'' if len(levels) == 1 else 's'} {listed(levels)}",
    )
    undecided = sum(cell.verdict == verdicts.UNDECIDED for cell in cells)
    if undecided:
        every = f"{numbers.count(len(cells), 'cell')} {'is' if undecided == 1 else 'are'}"
        said += SAY("not_counted", undecided, every)
    return said if setting == DEFAULT_SETTING else said + SAY("setting", setting)


def sentences(material: Material, advices: Mapping[str, Advice]) -> list[Markup]:
    """Return the sentences of the answer: what to use, what helps, and what was tested.

    In `material`, the cells of each partition have environments of their own. `advices` has an
    advice for each environment.
    """
    group = first_group(material.cells)
    cells = computing(group)
    if not any(cell.verdict in verdicts.OBSERVED for cell in cells):
        return [_nothing(cells)]
    measured = measured_with(material.environments, cells)
    kind = answers.rows_are(cells)
    helping = helps(group, measured)
    elsewhere = sizes_elsewhere(material.experiment.kernel, material.cells)
    is_network = any(map(is_on_several_nodes, group))
    return [
        *_within_and_between(ways(cells, measured), _ways_between(material), kind, is_network),
        *(SAY("help", way.title, where(way.words, kind)) for way in helping),
        *variables_sentence(advices),
        *answers.missing_sentence(material.environments, measured),
        _tested(cells, group[0].setting),
        settings_tried(material.cells, material.experiments),
        *([elsewhere] if elsewhere else []),
    ]


def _ways_between(material: Material) -> list[Way]:
    """Return the ways to program between nodes; none if no cell between nodes was observed."""
    cells = computing(between_nodes(material.cells))
    if not any(cell.verdict in verdicts.OBSERVED for cell in cells):
        return []
    return ways(cells, measured_with(material.environments, cells))


# ------------------------------------------------------------------------------ the table


def _counts(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return how many cells of an MPI have each verdict, for the CSV."""
    judged = [cell.verdict for cell in cells if is_judged(cell)]
    named = (verdicts.INDEPENDENT, verdicts.WAITS)
    missing = [cell.verdict for cell in cells if cell.verdict in verdicts.NOT_MEASURED]
    return {
        "reading": reading([cell.verdict for cell in cells]),
        "judged": len(judged),
        "independent": judged.count(verdicts.INDEPENDENT),
        "waits": judged.count(verdicts.WAITS),
        "other": tally([*(word for word in judged if word not in named), *missing]) or None,
    }


def headline(apart: Material, material: Material) -> Headline:
    """Return the answer: sentences on what to do, and a table of MPIs and ways to program.

    In `apart`, the cells of each partition have environments of their own. In `material`, an
    environment has the cells of all partitions.
    """
    group = first_group(apart.cells)
    cells = computing(group)
    between = [
        replace(way, key=f"between+{way.key}", title=f"between nodes: {way.title}")
        for way in _ways_between(apart)[:MOST_WAYS]
    ]
    own = ways(cells, apart.environments)[:MOST_WAYS]
    shown = [*own, *between, *helps(group, apart.environments)]
    by_name = grouped(cells, lambda cell: cell.environment)
    rows = [row_of(name, shown) | _counts(by_name.get(name, [])) for name in apart.environments]
    setting = one_setting(group[0].setting)
    columns = {"way": columns_of(shown)}
    table = WRITTEN.table("progress_answer", rows, each=columns, setting=setting)
    said = sentences(apart, first_advice(material))
    return Headline(said, table, example=_example(apart, cells))


def _example(material: Material, cells: Sequence[Cell]) -> tuple[str, str] | None:
    """Return a C program that follows the answer's first sentence, and the program's title."""
    best, *_ = ways(cells, measured_with(material.environments, cells)) or [None]
    independent = (cell for cell in cells if cell.verdict == verdicts.INDEPENDENT)
    for cell in independent if best else ():
        if way_of(cell) in best.pairs:
            text = program(*way_of(cell), cell.axis("operation"))
            words = f"{title([way_of(cell)], [])} in C: an example for two ranks"
            return (words, text) if text else None
    return None


# ------------------------------------------------------------------------------ what was left out


def run_commands(campaigns: Iterable[str]) -> Markup:
    """Return the commands that run the given campaigns."""
    code = Markup("<code>onesided run {}</code>")
    return Markup(" or ").join(code.format(name) for name in campaigns)


def sizes_elsewhere(kernel: str, cells: Sequence[Cell]) -> Markup | None:
    """Say which declared campaigns have further message sizes.

    The result is None if the cells have several message sizes, or if no campaign has other sizes.
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

    `kernels` are the kernels of all experiments.
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
    """Say which setting a table's cells have, and how many settings are declared."""
    declared = settings.names()
    nothing = ", no environment variable set" if name == settings.DEFAULT else ""
    return f"Setting: {name}{nothing} (1 of {len(declared)})."

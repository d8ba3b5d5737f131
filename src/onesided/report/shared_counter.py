"""The shared counter's pages: the answer, Table 1, Figure 1, the probe, degradation, price."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from onesided import paths, verdicts
from onesided.errors import InputError
from onesided.experiments.shared_counter import BASE_CASE, IDLE_CASE
from onesided.report import figures, numbers
from onesided.report.frame import Cell, Material
from onesided.report.parts import (
    Column,
    Figure,
    Folded,
    Headline,
    Measure,
    Row,
    Section,
    Table,
    listed,
    tally,
)

FAMILIES: Mapping[str, Sequence[str]] = {
    "exclusive lock": ("mpi2_array", "mpi2_tree"),
    "atomic in a shared lock": ("fetch_and_op",),
    "atomic and flush": ("fetch_and_op_flush", "get_accumulate_flush", "compare_and_swap"),
}
"""Algorithms by the synchronisation they share, which is what progress depends on."""

FLAVORS = ("create", "allocate")
BASE_ALGORITHMS = ("mpi2_array", "fetch_and_op")
"""The source's own algorithm, and the one MPI has had for it since 3.0."""

HELPER_CASE = "helper_blocked"
CASES = {BASE_CASE: "Case 1", IDLE_CASE: "Case 2", HELPER_CASE: "Case 3"}
PUBLISHED = "shared_counter_table1.csv"
NOT_AVAILABLE = "N/A"
POINTS_A_PANEL = 30
"""More would hide each other; which are drawn does not depend on their values."""

LOWEST_PERFORMANCE = 0.1


def _jitter(cell: Cell) -> float:
    return float(cell.labels.get("jitter_percent") or 0)


def _compute_ms(cell: Cell) -> float:
    return float(cell.labels.get("compute_ms") or 0)


def _axis(cell: Cell, name: str) -> str:
    return str(cell.labels.get(name, ""))


def _steps(jitter: float) -> str:
    return "equal" if not jitter else f"±{jitter:g}{numbers.THIN_SPACE}%"


def _level_rank(level: str | None) -> int:
    levels = ("single", "funneled", "serialized", "multiple")
    return levels.index(level) if level in levels else -1


# ---------------------------------------------------------------- the answer in ten seconds


def _combined(cells: Sequence[Cell]) -> tuple[str, str | None]:
    """Return one word for several cells, and what it hides."""
    words = [cell.verdict for cell in cells]
    if not words:
        return verdicts.NOT_RUN, "no such cell was declared"
    for word in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        if word in words and (word in verdicts.FAILURES or set(words) <= {word}):
            first = next(cell.detail for cell in cells if cell.verdict == word)
            return word, f"{tally(words)}: {first}" if first else tally(words)
    seen = [word for word in words if word in verdicts.OBSERVED]
    if not seen:
        return verdicts.UNDECIDED, cells[0].detail
    return (seen[0] if len(set(seen)) == 1 else "mixed"), tally(words)


def _family_key(family: str, flavor: str) -> str:
    return f"{family}, {flavor}".replace(" ", "_").replace(",", "")


def _families(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    present = {_axis(cell, "algorithm") for cell in cells}
    return [
        (family, flavor)
        for family, members in FAMILIES.items()
        if present & set(members)
        for flavor in FLAVORS
        if any(_axis(cell, "flavor") == flavor for cell in cells)
    ]


def _worst(material: Material, cells: Iterable[Cell]) -> tuple[Measure, Cell] | None:
    found = [(material.measure(cell, "slowdown"), cell) for cell in cells]
    known = [(measure, cell) for measure, cell in found if measure is not None]
    return max(known, key=lambda pair: pair[0].value, default=None)


def _reading(words: Mapping[tuple[str, str], str]) -> str:
    """Say what an environment's row of verdicts is consistent with."""
    measured = {key: word for key, word in words.items() if word in (*verdicts.OBSERVED, "mixed")}
    if not measured:
        return "nothing measured" if set(words.values()) <= set(verdicts.NOT_MEASURED) else "open"
    independent = [key for key, word in measured.items() if word == verdicts.INDEPENDENT]
    if len(independent) == len(words):
        return "consistent with strong progress"
    if not independent:
        return "consistent with weak progress"
    return "consistent with weak progress; independent in part"


def _answer_row(
    material: Material, environment: str, keys: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    cells = [
        cell
        for cell in material.cells
        if cell.environment == environment and _axis(cell, "case") == BASE_CASE
    ]
    row: dict[str, Any] = {"environment": environment}
    words: dict[tuple[str, str], str] = {}
    for family, flavor in keys:
        chosen = [
            cell
            for cell in cells
            if _axis(cell, "algorithm") in FAMILIES[family] and _axis(cell, "flavor") == flavor
        ]
        words[family, flavor], _ = _combined(chosen)
        row[_family_key(family, flavor)] = words[family, flavor]
    worst = _worst(material, cells)
    row["reading"] = _reading(words)
    row["slowdown"] = worst[0] if worst else None
    row["where"] = _place_of(worst[1]) if worst else None
    return row, words


def _place_of(cell: Cell) -> str:
    return (
        f"{_axis(cell, 'algorithm')}, {_axis(cell, 'flavor')}, "
        f"{numbers.milliseconds_label(_compute_ms(cell))} {_steps(_jitter(cell))}, "
        f"{cell.thread_level}"
    )


def headline(material: Material) -> Headline:
    """Return which MPI progresses here, and by what factor the worst case is slower."""
    keys = _families(material.cells)
    rows, full, part, none = [], [], [], []
    for environment in material.environments:
        row, words = _answer_row(material, environment, keys)
        rows.append(row)
        seen = [word for word in words.values() if word in (*verdicts.OBSERVED, "mixed")]
        if not seen:
            continue
        independent = list(words.values()).count(verdicts.INDEPENDENT)
        group = full if independent == len(words) else part if independent else none
        group.append(environment)
    columns = [
        Column("environment", "MPI", header=True, note="reading"),
        *(
            Column(_family_key(family, flavor), f"{family}, {flavor}", verdict=True)
            for family, flavor in keys
        ),
        Column("slowdown", "slowest, over idle", numbers.factor, measure=True),
    ]
    table = Table(
        "shared_counter_answer",
        "Does an access to the counter complete while the process that holds it computes? By "
        "synchronisation and window flavor; all compute lengths, jitters and thread levels.",
        columns,
        rows,
        csv_only=(Column("reading", "reads as"), Column("where", "found with")),
        form="cards",
    )
    return Headline(_sentences(full, part, none, rows), table)


def _sentences(
    full: Sequence[str], part: Sequence[str], none: Sequence[str], rows: Sequence[Row]
) -> list[Markup]:
    groups = (
        (full, "progresses in every cell", "progress in every cell"),
        (part, "progresses in part", "progress in part"),
        (none, "makes the caller wait", "make the caller wait"),
    )
    said = [
        Markup("<strong>{}</strong> {}").format(listed(names), one if len(names) == 1 else many)
        for names, one, many in groups
        if names
    ]
    sentences = [Markup("; ").join(said) + "."] if said else []
    slow = [row for row in rows if row["slowdown"] is not None]
    if slow:
        worst = max(slow, key=lambda row: row["slowdown"].value)
        sentences.append(
            Markup(
                "The worst case: with {}, an access takes <strong>{}</strong> as long while the "
                "target computes as it does when the target is idle ({})."
            ).format(worst["environment"], numbers.factor(worst["slowdown"].value), worst["where"])
        )
    return sentences


# ------------------------------------------------------------------------------- Table 1


def read_published() -> list[dict[str, str]]:
    """Return the source's Table 1, as printed.

    Raises:
        InputError: the file is not there or lacks a column.
    """
    path = paths.project_root() / "results" / "published" / PUBLISHED
    try:
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    except OSError as fault:
        raise InputError(path, None, fault.strerror or fault, "the published table") from fault
    for name in ("hardware", "mpi", "processes", "work_s", "case1_s", "case2_s", "case3_s"):
        if not rows or name not in rows[0]:
            raise InputError(path, name, "no such column", "the published table's columns")
    return rows


_TABLE1_KEYS = ("work", "case1", "case2", "case3")
_TABLE1_TITLES = ("Work", "Case 1", "Case 2", "Case 3")


def _published_table() -> Table:
    columns = [
        Column("hardware", "Hardware", header=True, mark="hardware_mark"),
        Column("mpi", "MPI"),
        Column("processes", "# proc"),
        *(
            Column(f"{k}_s", t, mark=f"{k}_s_mark")
            for k, t in zip(_TABLE1_KEYS, _TABLE1_TITLES, strict=True)
        ),
    ]
    rows: list[Row] = []
    notes: dict[str, str] = {}
    for row in read_published():
        marked: dict[str, str] = dict(row)
        if row["note"]:
            mark = notes.setdefault(row["note"], chr(ord("a") + len(notes)))
            suspects = row["suspect"].split() or ["case1_s"]
            marked |= {f"{name}_mark": mark for name in suspects}
        rows.append(marked)
    beside = (Column("suspect", "suspect"), Column("note", "note"))
    return Table(
        "table1_published",
        "Published, 2008: Table 1 of the shared counter report, times in seconds, digits as "
        "printed.",
        columns,
        rows,
        csv_only=beside,
        notes=[(mark, text + ".") for text, mark in notes.items()],
        form="records",
    )


def _twin_key(cell: Cell) -> tuple[Any, ...]:
    """Return what the cases of one row of Table 1 have in common."""
    labels = tuple(sorted((k, str(v)) for k, v in cell.labels.items() if k != "case"))
    return (cell.group, cell.environment, cell.thread_level, labels)


def _twins(cells: Iterable[Cell]) -> list[dict[str, Cell]]:
    """Return the cells case by case, in the order in which they were declared."""
    found: dict[tuple[Any, ...], dict[str, Cell]] = {}
    for cell in cells:
        found.setdefault(_twin_key(cell), {})[_axis(cell, "case")] = cell
    return list(found.values())


def _value_or_word(material: Material, cell: Cell | None, metric: str, statistic: str) -> Any:
    """Return a measure; where there is none, or the cell failed, the verdict's word."""
    if cell is None:
        return None
    if cell.verdict in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        return cell.verdict
    return material.measure(cell, metric, statistic)


def _measured_row(material: Material, twin: Mapping[str, Cell]) -> dict[str, Any]:
    any_cell = next(iter(twin.values()))
    row: dict[str, Any] = {
        "hardware": material.hardware,
        "environment": any_cell.environment,
        "mpi": any_cell.environment,
        "with": f"{_axis(any_cell, 'algorithm')}, {_axis(any_cell, 'flavor')}",
        "processes": any_cell.ranks,
        "algorithm": _axis(any_cell, "algorithm"),
        "flavor": _axis(any_cell, "flavor"),
        "compute": numbers.milliseconds_label(_compute_ms(any_cell)),
        "steps": _steps(_jitter(any_cell)),
        "thread_level": any_cell.thread_level,
        "where": any_cell.group_label,
    }
    worked = twin.get(BASE_CASE) or twin.get(IDLE_CASE)
    row["work"] = _value_or_word(material, worked, "compute_mean", "rank_1")
    for case, title in CASES.items():
        key = title.lower().replace(" ", "")
        row[key] = _value_or_word(material, twin.get(case), "access_mean", "rank_1")
    return row


def _time_columns() -> list[Column]:
    return [
        Column(key, title, numbers.plain_seconds, measure=True, unit="s")
        for key, title in zip(_TABLE1_KEYS, _TABLE1_TITLES, strict=True)
    ]


def _base_point(material: Material) -> list[Cell]:
    """Return the cells that are shown at first sight.

    The highest thread level (the source asks for MULTIPLE, and case 3 needs it), the longest
    compute, the base algorithms, the first setting, placement and rank count declared.
    """
    cells = list(material.cells)
    if not cells:
        return []
    level = max((cell.thread_level for cell in cells), key=_level_rank)
    cells = [cell for cell in cells if cell.thread_level == level]
    first = cells[0]
    length = max(_compute_ms(cell) for cell in cells)
    present = {_axis(cell, "algorithm") for cell in cells}
    algorithms = [name for name in BASE_ALGORITHMS if name in present] or [sorted(present)[0]]
    return [
        cell
        for cell in cells
        if (cell.setting, cell.ranks, cell.placement)
        == (first.setting, first.ranks, first.placement)
        and _compute_ms(cell) == length
        and _axis(cell, "algorithm") in algorithms
    ]


def _least_jitter(cells: Sequence[Cell]) -> list[Cell]:
    least = min((_jitter(cell) for cell in cells), default=0.0)
    return [cell for cell in cells if _jitter(cell) == least]


def _table1(material: Material) -> Section:
    base = [_measured_row(material, t) for t in _twins(_least_jitter(_base_point(material)))]
    every = _by_environment(
        material, (_measured_row(material, twin) for twin in _twins(material.cells))
    )
    layout = [
        Column("hardware", "Hardware", header=True),
        Column("mpi", "MPI", note="with"),
        Column("processes", "# proc"),
        *_time_columns(),
    ]
    details = [
        Column("algorithm", "algorithm", header=True),
        Column("flavor", "flavor"),
        Column("compute", "compute"),
        Column("steps", "steps"),
        Column("thread_level", "thread level"),
        Column("processes", "# proc"),
        *_time_columns(),
        Column("where", "system"),
    ]
    lead = Markup(
        "Mean time of an access to the counter by process 1. <b>Case 1</b>: the process that "
        "holds it computes. <b>Case 2</b>: it waits in MPI_Barrier. <b>Case 3</b>: it computes, "
        "and a further thread of it waits in MPI (today in MPI_Recv; the source's MPI_Send to "
        "itself may return at once). Different machines, different decades: the two parts stand "
        "one below the other to compare patterns, not speeds."
    )
    today = Table(
        "table1_measured",
        Markup(
            "Today: the same layout, times in seconds, median over launches with its {}; {}"
        ).format(material.interval_words, _base_words(material)),
        layout,
        base,
        csv_only=(Column("algorithm", "algorithm"), Column("flavor", "flavor")),
        form="records",
    )
    all_rows = Table(
        "table1_measured_all",
        "Every algorithm, compute length, step and thread level, times in seconds.",
        details,
        every,
        groups="environment",
        csv_only=(Column("environment", "MPI"),),
        large=True,
    )
    parts = (_published_table(), today, Folded(f"All {len(every)} rows measured", all_rows))
    return Section("counter-table1", "Table 1, then and now", lead, parts)


def _base_words(material: Material) -> str:
    base = _least_jitter(_base_point(material))
    if not base:
        return "nothing was measured."
    cell = base[0]
    return (
        f"thread level {cell.thread_level}, {_steps(_jitter(cell))} computes of "
        f"{numbers.milliseconds_label(_compute_ms(cell))}, setting {cell.setting}."
    )


# ------------------------------------------------------------------------------ Figure 1


def _published_bars() -> list[dict[str, Any]]:
    bars = []
    for row in read_published():
        for case, key in (("case 1", "case1_s"), ("case 3", "case3_s")):
            value = None if row[key] == NOT_AVAILABLE else float(row["work_s"]) / float(row[key])
            length = f"{row['work_s']}{numbers.THIN_SPACE}s"
            bars.append(_bar(row["short_label"], case, value, length, NOT_AVAILABLE))
    return bars


def _bar(label: str, case: str, value: float | None, length: str, missing: str) -> dict[str, Any]:
    return {
        "label": label,
        "case": case,
        "value": value,
        "height": value if value is not None else LOWEST_PERFORMANCE,
        "compute": length,
        "text": length if value is not None else missing,
    }


def _measured_bars(material: Material, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    bars = []
    for twin in _twins(cells):
        for case, title in ((BASE_CASE, "case 1"), (HELPER_CASE, "case 3")):
            cell = twin.get(case)
            if cell is None:
                continue
            found = _value_or_word(material, cell, "communication_performance", "rank_1")
            work = material.measure(cell, "compute_mean", "rank_1")
            length = numbers.seconds(work.value) if work else numbers.DASH
            value = found.value if isinstance(found, Measure) else None
            label = f"{_axis(cell, 'algorithm')}|{_axis(cell, 'flavor')}"
            missing = found if isinstance(found, str) else "none"
            bars.append(
                {
                    **_bar(label, title, value, length, missing),
                    "environment": cell.environment,
                    "steps": _steps(_jitter(cell)),
                    "measure": found if isinstance(found, Measure) else missing,
                }
            )
    return bars


def _decades(bars: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    values = [bar["value"] for bar in bars if bar["value"]] or [1.0]
    low = min(LOWEST_PERFORMANCE, 10 ** math.floor(math.log10(min(values))))
    # half a decade above the tallest bar is room for the compute length written over it
    return low, 10 ** math.ceil(math.log10(max(values)) + 0.9)


_CASE_COLOURS = alt.Scale(
    domain=["case 1", "case 3"], range=[figures.colour("bar"), figures.SHADED]
)
_LOG_LABEL = (
    "datum.value < 1 ? format(datum.value, '~g') : "
    "replace(format(datum.value, ','), /,/g, '\u202f')"
)


def _performance_axis(low: float, high: float, title: str | None) -> dict[str, Any]:
    first, last = round(math.log10(low)), round(math.log10(high))
    ticks = [10.0**power for power in range(first, last + 1)]
    return {
        "scale": alt.Scale(type="log", domain=[low, high], nice=False),
        "axis": alt.Axis(title=title, values=ticks, labelExpr=_LOG_LABEL, labelSeparation=8),
    }


def _columns(
    bars: Sequence[Mapping[str, Any]],
    bounds: tuple[float, float],
    sideways: bool,
    width: int,
    title: str | None,
) -> alt.LayerChart:
    """Return the bars of one panel: upright, or lying where the page is narrow."""
    low, high = bounds
    order = list(dict.fromkeys(bar["label"] for bar in bars))
    plain = [{**{k: v for k, v in bar.items() if k != "measure"}, "base": low} for bar in bars]
    for bar in plain:
        bar["height"] = max(bar["height"], low) if bar["value"] else low
    names = alt.Axis(
        title=None, labelExpr="split(datum.label, '|')", labelAngle=0, ticks=False, domain=sideways
    )
    value = _performance_axis(low, high, "compute time over access time")
    across, along = ("y", "x") if sideways else ("x", "y")
    channel = {"x": alt.X, "y": alt.Y}
    offset = {"x": alt.XOffset, "y": alt.YOffset}[across]
    place = {
        across: channel[across]("label:N", sort=order, axis=names, scale=alt.Scale(padding=0.12)),
        f"{across}Offset": offset("case:N", sort=["case 1", "case 3"]),
    }
    hints = [
        alt.Tooltip("label:N", title="what"),
        alt.Tooltip("case:N"),
        alt.Tooltip("value:Q", title="compute over access", format=",.3~g"),
        alt.Tooltip("compute:N", title="compute length"),
    ]
    base = alt.Chart(alt.InlineData(values=plain))
    drawn = base.mark_bar(stroke=figures.colour("bar"), strokeWidth=1).encode(
        **place,
        **{along: channel[along]("height:Q", **value), f"{along}2": "base:Q"},
        fill=alt.Fill("case:N", scale=_CASE_COLOURS, legend=alt.Legend(title=None)),
        tooltip=hints,
    )
    turned = {"align": "left", "baseline": "middle", "fontSize": 9.5 if sideways else 10}
    turned |= {"dx": 4} if sideways else {"angle": 270, "dx": 4}
    written = base.mark_text(color=figures.colour("ink"), font=figures.FONT, **turned).encode(
        **place, **{along: channel[along]("height:Q", **value)}, text="text:N"
    )
    one = (
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2)
        .encode(**{along: channel[along]("one:Q")})
    )
    size = {"width": width, "height": 36 * len(order)} if sideways else {"width": width}
    size = size if sideways else {**size, "height": 250}
    if title:
        size["title"] = title
    return alt.layer(drawn, one, written).properties(**size)


def _performance_column() -> Column:
    return Column("value", "compute over access", numbers.ratio)


def _figure1_published() -> Figure:
    bars = _published_bars()
    bounds = _decades(bars)
    wide = _columns(bars, bounds, False, figures.WIDE_PX - 70, None)
    narrow = _columns(bars, bounds, True, figures.NARROW_PX - 110, None)
    drawn = figures.draw("figure1_published", wide, narrow)
    rows = [{**bar, "label": bar["label"].replace("|", ", ")} for bar in bars]
    for row in rows:
        row["value"] = row["value"] if row["value"] is not None else NOT_AVAILABLE
    table = Table(
        "figure1_published",
        "Communication performance from the published Table 1.",
        [
            Column("label", "MPI, machine", header=True),
            Column("case", "case"),
            Column("compute", "compute"),
            _performance_column(),
        ],
        rows,
    )
    return Figure(
        "figure1_published",
        "Published, 2008",
        "Figure 1 of the shared counter report, redrawn from its Table 1. Solid: case 1; hatched, "
        "directly after it: case 3; N/A where the MPI had no full multi-threading. The length of "
        "the compute is written at each bar. At the dashed line an access takes as long as a "
        "compute.",
        *drawn,
        table,
    )


def _figure1_measured(material: Material) -> Figure | None:
    bars = _measured_bars(material, _base_point(material))
    if not any(bar["value"] for bar in bars):
        return None
    bounds = _decades(bars)
    shown = {bar["environment"] for bar in bars if bar["value"]}
    empty = [name for name in material.environments if name not in shown]
    panels = [
        at
        for at in dict.fromkeys((bar["environment"], bar["steps"]) for bar in bars)
        if at[0] in shown
    ]
    per_line = len({steps for _, steps in panels})

    def panel(environment: str, steps: str, sideways: bool, width: int) -> alt.LayerChart:
        chosen = [b for b in bars if (b["environment"], b["steps"]) == (environment, steps)]
        return _columns(chosen, bounds, sideways, width, f"{environment}, {steps} computes")

    width = (figures.WIDE_PX - 40) // per_line - 55
    wide = alt.concat(*(panel(*at, False, width) for at in panels), columns=per_line)
    slim = figures.NARROW_PX - 110
    narrow = alt.concat(*(panel(*at, True, slim) for at in panels), columns=1)
    drawn = figures.draw("figure1_measured", wide, narrow)
    rows = [
        {**bar, "label": bar["label"].replace("|", ", "), "value": bar["measure"]} for bar in bars
    ]
    table = Table(
        "figure1_measured",
        "Communication performance measured here.",
        [
            Column("environment", "MPI", header=True),
            Column("label", "algorithm, flavor"),
            Column("steps", "steps"),
            Column("case", "case"),
            Column("compute", "compute"),
            Column("value", "compute over access", numbers.ratio, measure=True),
        ],
        rows,
    )
    caption = (
        "Total compute over total access time of process 1, median over launches. Where progress "
        "is independent the height grows with the compute length, which is written at each bar: "
        "compare heights within this figure, never with the published one. With equal computes "
        "the two ranks fall into step, so the same cells are shown with computes of random length "
        "too."
    )
    if empty:
        caption += f" Nothing to draw for {listed(empty)}; the table says why."
    return Figure("figure1_measured", "Measured here", caption, *drawn, table)


# --------------------------------------------------- access against what remained at the issue


def _spread(points: pl.DataFrame) -> pl.DataFrame:
    """Thin each panel's points evenly over launches and samples, whatever their values."""
    keys = ("environment", "flavor", "case", "family")
    kept = []
    for _, part in points.group_by(keys, maintain_order=True):
        step = max(1, math.ceil(part.height / POINTS_A_PANEL))
        kept.append(part.gather_every(step))
    return pl.concat(kept) if kept else points


def _probe_points(material: Material) -> pl.DataFrame:
    family_of = {name: family for family, names in FAMILIES.items() for name in names}
    axes = {
        axis: pl.col("labels").str.json_path_match(f"$.{axis}")
        for axis in ("algorithm", "flavor", "case", "compute_ms", "jitter_percent")
    }
    return (
        material.evidence.filter("valid")
        .join(material.labels, on=list(material.place), how="inner")
        .with_columns(**axes)
        .filter(pl.col("case").is_in([BASE_CASE, HELPER_CASE]))
        .with_columns(
            pl.col("algorithm").replace_strict(family_of, default="other").alias("family"),
            pl.col("case").replace_strict({BASE_CASE: "case 1", HELPER_CASE: "case 3"}),
        )
        .filter(pl.col("elapsed") > 0)
        .sort("environment", "flavor", "case", "family", "test", "cell", "round", "rank", "index")
    )


_FAMILY_SCALE = {
    "domain": list(FAMILIES),
    "range": [figures.colour(name) for name in ("first", "second", "third")],
}
_TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 1e-3 ? "
    "format(datum.value*1e3, '~g') + ' ms' : datum.value >= 1e-6 ? "
    "format(datum.value*1e6, '~g') + ' µs' : format(datum.value*1e9, '~g') + ' ns'"
)


def _time_scale(values: Sequence[float]) -> tuple[alt.Scale, list[float]]:
    low, high = min(values) * 0.8, max(values) * 1.25
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [step * 10.0**power for power in decades for step in steps]
    inside = [tick for tick in ticks if low <= tick <= high]
    return alt.Scale(type="log", domain=[low, high], nice=False), inside


def _probe_panel(
    points: pl.DataFrame, environment: str, case: str, width: int, height: int, scales: Any
) -> alt.LayerChart:
    (across, across_ticks), (up, up_ticks), ends = scales
    chosen = points.filter((pl.col("environment") == environment) & (pl.col("case") == case))
    columns = ("remaining", "elapsed", "family", "algorithm", "flavor", "round")
    x = alt.X(
        "remaining:Q",
        scale=across,
        axis=alt.Axis(title="left to compute", values=across_ticks, labelExpr=_TIME_LABEL),
    )
    y = alt.Y(
        "elapsed:Q",
        scale=up,
        axis=alt.Axis(title="access time", values=up_ticks, labelExpr=_TIME_LABEL),
    )
    dots = (
        alt.Chart(alt.InlineData(values=chosen.select(columns).to_dicts()))
        .mark_point(size=26, strokeWidth=1.3, opacity=0.8)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke(
                "family:N", scale=alt.Scale(**_FAMILY_SCALE), legend=alt.Legend(title=None)
            ),
            shape=alt.Shape(
                "flavor:N",
                scale=alt.Scale(domain=list(FLAVORS), range=["triangle-up", "circle"]),
                legend=alt.Legend(title=None),
            ),
            tooltip=[
                alt.Tooltip("algorithm:N"),
                alt.Tooltip("flavor:N"),
                alt.Tooltip("remaining:Q", title="left to compute, s", format=".3~g"),
                alt.Tooltip("elapsed:Q", title="access, s", format=".3~g"),
                alt.Tooltip("round:Q", title="launch"),
            ],
        )
    )
    waits = [{"remaining": end, "elapsed": end} for end in ends]
    diagonal = (
        alt.Chart(alt.InlineData(values=waits))
        .mark_line(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2, clip=True)
        .encode(x=x, y=y)
    )
    return alt.layer(diagonal, dots).properties(
        width=width, height=height, title=f"{environment}, {case}"
    )


def _figure_probe(material: Material) -> Figure | None:
    points = _spread(_probe_points(material))
    if not points.height:
        return None
    scales = (
        _time_scale(points["remaining"].to_list()),
        _time_scale(points["elapsed"].to_list()),
        (points["remaining"].min(), points["remaining"].max()),
    )
    panels = [
        (environment, case)
        for environment in material.environments
        for case in ("case 1", "case 3")
        if points.filter((pl.col("environment") == environment) & (pl.col("case") == case)).height
    ]
    per_line = 3 if len({case for _, case in panels}) == 1 else 2
    width = (figures.WIDE_PX - 40) // per_line - 75
    wide = alt.concat(
        *(_probe_panel(points, *at, width, 200, scales) for at in panels), columns=per_line
    )
    narrow = alt.concat(
        *(_probe_panel(points, *at, figures.NARROW_PX - 80, 190, scales) for at in panels),
        columns=1,
    )
    drawn = figures.draw("access_against_remaining", wide, narrow)
    columns = [
        Column("environment", "MPI", header=True),
        Column("case", "case"),
        Column("algorithm", "algorithm"),
        Column("flavor", "flavor"),
        Column("compute_ms", "compute, ms"),
        Column("jitter_percent", "jitter, %"),
        Column("round", "launch"),
        Column("remaining", "left to compute", numbers.seconds, unit="s"),
        Column("elapsed", "access", numbers.seconds, unit="s"),
    ]
    table = Table(
        "access_against_remaining",
        f"The accesses drawn, {points.height} of those issued while the target computed.",
        columns,
        points.select(column.key for column in columns).to_dicts(),
        large=True,
    )
    caption = (
        "One mark an access that was issued while the target computed, against what was left of "
        "that compute. On the dashed diagonal the access waited until the target came back to "
        "MPI; far below it, it completed on its own; a level band is a delay that saturates (a "
        f"scheduler's tick, a progress thread's interval). At most {POINTS_A_PANEL} marks a "
        "colour and shape, picked evenly."
    )
    return Figure(
        "access_against_remaining",
        "Access time against what the target had left to compute",
        caption,
        *drawn,
        table,
    )


# ------------------------------------------------------------------- degradation and price


def _by_environment(material: Material, rows: Iterable[Row]) -> list[Row]:
    """Bring each environment's rows together, otherwise in the order given."""
    return sorted(rows, key=lambda row: material.environments.index(row["environment"]))


def _degradation(material: Material) -> Section:
    jitters = sorted({_jitter(cell) for cell in material.cells})
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in material.cells:
        case = _axis(cell, "case")
        if case not in (BASE_CASE, HELPER_CASE):
            continue
        names = ("algorithm", "flavor", "compute_ms")
        key = (cell.group, cell.environment, cell.thread_level, *(_axis(cell, n) for n in names))
        row = found.setdefault(
            key,
            {
                "environment": cell.environment,
                "algorithm": _axis(cell, "algorithm"),
                "flavor": _axis(cell, "flavor"),
                "compute": numbers.milliseconds_label(_compute_ms(cell)),
                "thread_level": cell.thread_level,
                "with": f"{_axis(cell, 'flavor')}, "
                f"{numbers.milliseconds_label(_compute_ms(cell))}, {cell.thread_level}",
            },
        )
        name = f"{CASES[case].lower().replace(' ', '')}_{_jitter(cell):g}"
        row[name] = _value_or_word(material, cell, "degradation", "rank_1")
        if case == BASE_CASE:
            row[f"slowdown_{_jitter(cell):g}"] = _value_or_word(
                material, cell, "slowdown", "against_idle"
            )
    columns = [
        Column("algorithm", "algorithm", header=True, note="with"),
    ]
    beside = [
        Column("environment", "MPI"),
        Column("flavor", "flavor"),
        Column("compute", "compute"),
        Column("thread_level", "thread level"),
    ]
    for case in ("case1", "case3"):
        title = case.replace("case", "case ")
        columns += [
            Column(f"{case}_{j:g}", f"{title}, {_steps(j)}", numbers.significant, measure=True)
            for j in jitters
        ]
    columns += [
        Column(f"slowdown_{j:g}", f"access over idle, {_steps(j)}", numbers.factor, measure=True)
        for j in jitters
    ]
    lead = (
        "The source's second figure of merit: compute plus access time over compute time, from "
        "totals of process 1. 1 is no loss; 2 means that the program takes twice as long as it "
        "would have to. In 2008 it ran from 1.55 to 5.54 where it clearly exceeded 1. The last "
        "columns give the mean access in case 1 against the mean access to an idle target. "
        "Equal computes fall into step; ± means computes of random length."
    )
    table = Table(
        "degradation",
        Markup("Degradation factor, median over launches with its {}.").format(
            material.interval_words
        ),
        columns,
        _by_environment(material, found.values()),
        groups="environment",
        csv_only=beside,
        large=True,
    )
    return Section("counter-degradation", "Degradation factor", lead, (table,))


def _price(material: Material) -> Section | None:
    levels = sorted({cell.thread_level or "?" for cell in material.cells}, key=_level_rank)
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in material.cells:
        if _axis(cell, "case") != IDLE_CASE:
            continue
        row = found.setdefault(
            (cell.group, cell.environment, _axis(cell, "algorithm"), _axis(cell, "flavor")),
            {
                "environment": cell.environment,
                "algorithm": _axis(cell, "algorithm"),
                "flavor": _axis(cell, "flavor"),
            },
        )
        key = f"price_{cell.thread_level or '?'}"
        if row.get(key) is None:
            row[key] = _value_or_word(material, cell, "price", "median")
    rows = [row for row in found.values() if any(row.get(f"price_{level}") for level in levels)]
    if not any(isinstance(value, Measure) for row in rows for value in row.values()):
        return None
    columns = [
        Column("algorithm", "algorithm", header=True, note="flavor"),
        *(
            Column(f"price_{level}", f"at {level}", numbers.seconds, measure=True, unit="s")
            for level in levels
        ),
    ]
    lead = (
        "What an access costs while nobody computes, from bursts of operations that are timed as "
        "a whole. The thread level changes the price, so each level stands on its own: compare "
        "down a column."
    )
    table = Table(
        "price",
        Markup("Time of one access in a burst, median over launches with its {}.").format(
            material.interval_words
        ),
        columns,
        _by_environment(material, rows),
        groups="environment",
        csv_only=(Column("environment", "MPI"), Column("flavor", "flavor")),
    )
    return Section("counter-price", "Price of an access", lead, (table,))


def sections(material: Material) -> list[Section]:
    """Return the counter's sections, in the order in which they are read."""
    published = _figure1_published()
    measured = _figure1_measured(material)
    figure1 = Section(
        "counter-figure1",
        "Figure 1, then and now",
        "Communication performance, the source's first figure of merit: the time of a compute "
        "over the time of an access, on a logarithmic axis.",
        tuple(part for part in (published, measured) if part is not None),
    )
    found: list[Section | None] = [_table1(material), figure1]
    probe = _figure_probe(material)
    if probe is not None:
        lead = (
            "What the verdicts rest on, sample by sample: whether an access returned while the "
            "target provably still computed."
        )
        found.append(Section("counter-probe", "The probe", lead, (probe,)))
    found += [_degradation(material), _price(material)]
    return [section for section in found if section is not None]


def terminal_lines(material: Material) -> list[str]:
    """Return the answer as plain lines, one an environment."""
    keys = _families(material.cells)
    lines = []
    for environment in material.environments:
        row, _ = _answer_row(material, environment, keys)
        worst = row["slowdown"]
        slow = f"; slowest {numbers.factor(worst.value)} an idle target" if worst else ""
        lines.append(f"{environment}: {row['reading']}{slow}")
    return lines

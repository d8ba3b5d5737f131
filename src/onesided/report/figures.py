"""Draw the charts of a report: as static SVG in two widths, and as Vega-Lite for a browser."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

import vl_convert

from onesided.report import numbers, svg
from onesided.system import paths, writing
from onesided.system.errors import OnesidedError


class _Altair:
    """Altair, loaded when a chart is drawn, because ReFrame loads this module but draws nothing."""

    def __getattr__(self, name: str) -> Any:
        import altair

        return getattr(altair, name)


alt = _Altair()
"""Altair for modules of pages."""

Specification = dict[str, Any]
"""A chart in Vega-Lite."""

WIDE_PX = 960
NARROW_PX = 340
FONT = "Liberation Sans, Arial, Helvetica, Nimbus Sans, DejaVu Sans Condensed, sans-serif"
"""The fonts of figures. The width of a text is computed from the first font of this list. The
characters of the other fonts are as wide as those of the first font."""

PALETTE: Mapping[str, tuple[str, str]] = {
    "ink": ("#1b1b1a", "#e9e6e1"),
    "muted": ("#5a5854", "#aaa69f"),
    "grid": ("#dedbd5", "#3a3936"),
    "paper": ("#fefefd", "#191918"),
    "bar": ("#12568f", "#7db8e8"),
    "hatch": ("#cfe0ef", "#27425a"),
    "line": ("#a8480f", "#f0a36b"),
    "first": ("#0a6aa9", "#6cb6ea"),
    "second": ("#c4500a", "#f09a5e"),
    "third": ("#0b7a5a", "#4cc7a0"),
    "fourth": ("#7a4b94", "#c39bdb"),
}
"""All colours of figures, by name: the colour on a light page, then the colour on a dark page."""

SHADED = PALETTE["hatch"][0]

SERIES = ("first", "second", "third", "fourth")
"""The names of the colours for the series of a figure, in their order."""


def colour(name: str) -> str:
    """Return a colour of the light palette."""
    return PALETTE[name][0]


def series_colours(count: int) -> list[str]:
    """Return a colour for each of `count` series; if there are too few colours, they repeat."""
    return [colour(SERIES[at % len(SERIES)]) for at in range(count)]


def log_scale(values: Collection[float], margin: float) -> alt.Scale:
    """Return a logarithmic scale for values, longer at both ends by the factor `margin`."""
    return alt.Scale(type="log", domain=[min(values) / margin, max(values) * margin], nice=False)


def prefixed(unit: str) -> str:
    """Return a Vega expression that writes the label of a tick with its unit: 10 µs, or 3 M/s."""
    end = rf"/([^\d.]?)$/, '{numbers.THIN_SPACE}$1{unit.removeprefix('1')}'"
    return f"replace(format(datum.value, '~s'), {end})"


def chart(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart that has the given rows as its data, but no marks yet.

    In the chart, the rows are JSON text until the chart is drawn. With rows in any other form,
    Altair copies and checks every value whenever it combines charts.
    """
    return alt.Chart(alt.InlineData(values=json.dumps(list(rows))))


def combined(
    how: str, charts: Iterable[alt.TopLevelMixin | Specification], **properties: Any
) -> Specification:
    """Return the Vega-Lite specification of one chart that combines several charts.

    Altair's own functions for this task are slower: they copy all parts of all charts several
    times. `how` is ``layer``, ``concat``, ``hconcat`` or ``vconcat``. `charts` may have
    specifications from this function. `properties` has further properties of the combined chart, by
    their names in Vega-Lite.
    """
    whole: Specification = {"datasets": {}, how: []}
    for chart in charts:
        part = _as_specification(chart)
        whole["datasets"] |= part.pop("datasets")
        whole |= {name: part.pop(name) for name in ("$schema", "config")}
        whole[how].append(part)
    return whole | properties


def _as_specification(chart: alt.TopLevelMixin | Specification) -> Specification:
    return dict(chart) if isinstance(chart, dict) else chart.to_dict(validate=False)


def dark_style() -> str:
    """Return the CSS rules that redraw every static figure in the dark palette."""
    rules = []
    for light, dark in PALETTE.values():
        for attribute in ("fill", "stroke"):
            rules.append(f'.static svg [{attribute}="{light}"]{{{attribute}:{dark}}}')
    return "\n".join(rules)


def _config(narrow: bool) -> dict[str, Any]:
    size = 11
    text = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": size, "titleFontSize": size}
    inks = {"labelColor": colour("ink"), "titleColor": colour("muted")}
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 2,
        "view": {"stroke": None},
        "axis": {
            **text,
            **inks,
            "titleFontWeight": "normal",
            "gridColor": colour("grid"),
            "domainColor": colour("muted"),
            "tickColor": colour("muted"),
            "labelLimit": 140 if narrow else 160,
        },
        "legend": {
            **text,
            **inks,
            "orient": "top",
            "direction": "vertical" if narrow else "horizontal",
            "symbolStrokeColor": colour("bar"),
            "labelLimit": 0,  # no limit: names that are cut may look alike
            "columnPadding": 26,  # room for a reader's font if it is wider
            **({} if narrow else {"layout": {"top": {"direction": "horizontal", "margin": 26}}}),
        },
        "title": {
            "font": FONT,
            "fontSize": 12,
            "fontWeight": "bold",
            "color": colour("ink"),
            "anchor": "start",
        },
        "header": {**text, "labelColor": colour("ink")},
    }


def _themed(chart: alt.TopLevelMixin | Specification, narrow: bool) -> Specification:
    """Return the chart's specification with the fonts and colours of the report.

    Altair's `configure_...` functions are not used, because each of them copies all data.
    """
    specification = _as_specification(chart)
    data = specification["datasets"]
    specification["datasets"] = {name: json.loads(rows) for name, rows in data.items()}
    config = specification.setdefault("config", {})
    for name, value in _config(narrow).items():
        config[name] = {**config.get(name, {}), **value} if isinstance(value, dict) else value
    return specification


def _drawing(specification: Specification, name: str) -> str:
    """Return a chart as SVG. The SVG is made small, and its shaded bars get a pattern of lines."""
    drawn = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return svg.hatched(svg.small(drawn, name, FONT), name, SHADED, colour("bar"))


def draw(
    name: str, wide: alt.TopLevelMixin | Specification, narrow: alt.TopLevelMixin | Specification
) -> tuple[str, str, str]:
    """Return a wide SVG, a narrow SVG, and the Vega-Lite specification of the wide chart."""
    broad, slim = _themed(wide, narrow=False), _themed(narrow, narrow=True)
    drawings = _drawing(broad, f"{name}-wide"), _drawing(slim, f"{name}-narrow")
    return (*drawings, _as_text(broad))


def specification(chart: alt.TopLevelMixin | Specification) -> str:
    """Return the Vega-Lite specification of a chart that exists only in its interactive form."""
    return _as_text(_themed(chart, narrow=False))


def _as_text(specification: Specification) -> str:
    return json.dumps(specification, ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def as_file(drawing: str) -> str:
    """Return an SVG for a separate file, with a paper-coloured background."""
    paper = f'<rect width="100%" height="100%" fill="{colour("paper")}"/>'
    return re.sub(r"(<svg[^>]*>)", lambda found: found.group(1) + paper, drawing, count=1)


def packed(text: str) -> str:
    """Compress a text with gzip and encode it in base64; only a script reads the result."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


@cache
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed in one script that needs no other script.

    Making this script takes half of the time that a short report takes. Therefore the script is
    made only once for each version of vl-convert, and kept in a file if the build folder is
    writable.
    """
    kept = paths.build_dir() / "report" / f"vega-{vl_convert.__version__}.js"
    if kept.is_file():
        return kept.read_bytes().decode()
    script = vl_convert.javascript_bundle()
    with contextlib.suppress(OnesidedError):
        writing.write_text(kept, script)
    return script


@cache
def packed_library() -> str:
    """Return the script that `library` returns, compressed to a third of its size."""
    return packed(library())

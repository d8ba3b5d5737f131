"""Make Vega's drawings small: the same picture with a quarter of the SVG elements."""

import itertools
import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

NAMESPACE = "http://www.w3.org/2000/svg"
_UNSEEN = ("class", "role", "pointer-events", "aria-hidden", "aria-label", "aria-roledescription")
_AS_USUAL = {"opacity": "1", "transform": "translate(0,0)", "font-weight": "normal"}
_PLACE = re.compile(r"translate\(([-\d.]+),([-\d.]+)\)")


def small(drawing: str, name: str, font: str) -> str:
    """Return an SVG drawing that looks as before, but has fewer and shorter elements.

    Names inside the drawing begin with `name`, the name of the drawing, because a page has several
    drawings. `font` is the font family of the drawing's text; the root element names the family
    once.
    """
    root = ElementTree.fromstring(drawing)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    _strip(root, font)
    _flatten(root)
    count = itertools.count()
    _merge(root, "line", _lines)
    _merge(root, "path", lambda look, places: _marks(look, places, f"mark-{name}-{next(count)}"))
    shape = {key: root.get(key, "") for key in ("width", "height", "viewBox")}
    root.attrib = {"xmlns": NAMESPACE, **shape, "font-family": font}
    written = ElementTree.tostring(root, encoding="unicode")
    written = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found.group()):.2f}", written)
    return _own_names(written, name).replace(" />", "/>")


def _strip(parent: Element, font: str) -> None:
    """Remove what nobody sees in a drawing, such as frames without a colour and CSS classes.

    The labels of the marks are removed, too. A screen reader does not need these labels, because it
    reads the figure's table, which has the same values.
    """
    for child in list(parent):
        frame = child.get("class") in ("background", "foreground")
        if frame and {child.get("fill", "none"), child.get("stroke", "none")} == {"none"}:
            parent.remove(child)
            continue
        for key in _UNSEEN:
            child.attrib.pop(key, None)
        for key, usual in {**_AS_USUAL, "font-family": font}.items():
            if child.get(key) == usual:
                del child.attrib[key]
        _strip(child, font)


def _flatten(parent: Element) -> None:
    """Replace a group by its content if the group has no attributes or only shifts one element."""
    flat: list[Element] = []
    for child in list(parent):
        _flatten(child)
        moves_one = len(child) == 1 and list(child.attrib) == ["transform"]
        if child.tag == "g" and moves_one and "transform" not in child[0].attrib:
            child[0].set("transform", child.attrib.pop("transform"))
        if child.tag == "g" and not child.attrib:
            flat += list(child)
        elif child.tag != "g" or len(child):
            flat.append(child)
    parent[:] = flat


Look = tuple[tuple[str, str], ...]
"""All attributes of an element except its position; elements with equal attributes are drawn as
one."""


def _merge(root: Element, tag: str, drawn: Callable[[Look, list[str]], list[Element]]) -> None:
    """Draw neighbouring elements as one element if they differ only in their places.

    `tag` is the tag of the neighbours. `drawn` returns the elements to draw for a `Look` and the
    places of this look. A place is ``x,y``. The place of a line is ``x,yldx,dy``: the start point,
    the letter ``l``, and the end point relative to the start point. The length of a line is thus a
    part of its place, and lines of different lengths have the same look.
    """
    for parent in list(root.iter()):
        found: list[Element] = []
        for movable, run in itertools.groupby(list(parent), lambda child: _movable(child, tag)):
            same = list(run)
            if not movable or len(same) == 1:
                found += same
                continue
            alike: dict[Look, list[str]] = {}
            for element in same:
                match = _PLACE.fullmatch(element.attrib.pop("transform", "translate(0,0)"))
                assert match is not None
                place = f"{match[1]},{match[2]}{_end(element)}"
                alike.setdefault(tuple(element.items()), []).append(place)
            found += [one for look, places in alike.items() for one in drawn(look, places)]
        parent[:] = found


def _movable(element: Element, tag: str) -> bool:
    """Tell whether an element may be drawn together with its neighbours."""
    if element.tag != tag:
        return False
    return tag == "line" or _PLACE.fullmatch(element.get("transform", "")) is not None


def _end(element: Element) -> str:
    """Return a line's end point and remove it from the line's element; return "" for a mark."""
    if element.tag != "line":
        return ""
    return f"l{element.attrib.pop('x2', '0')},{element.attrib.pop('y2', '0')}"


def _lines(look: Look, places: list[str]) -> list[Element]:
    """Return one SVG path that draws all lines of the same look, such as a grid or ticks."""
    return [Element("path", {"d": "".join(f"M{place}" for place in places), **dict(look)})]


def _marks(look: Look, places: list[str], mark: str) -> list[Element]:
    """Return one SVG path that draws all marks of the same look, one mark at each vertex.

    A figure has hundreds of marks. With one element for each mark, marks would take most of the
    bytes of a page.
    """
    size = {"markerWidth": "20", "markerHeight": "20", "overflow": "visible"}
    marker = Element("marker", {"id": mark, "markerUnits": "userSpaceOnUse", **size})
    ElementTree.SubElement(marker, "path", dict(look))
    ends = ("start", "mid", "end") if len(places) > 1 else ("start",)
    # a browser draws no marker on a path that goes nowhere
    path = f"M{'L'.join(places)}" + ("h0" if len(places) == 1 else "")
    drawn = Element("path", {"d": path, "fill": "none", "stroke": "none"})
    for end in ends:
        drawn.set(f"marker-{end}", f"url(#{mark})")
    return [marker, drawn]


def _own_names(drawing: str, name: str) -> str:
    """Name clip paths after their drawing, because Vega counts clip paths over all drawings."""
    found = dict.fromkeys(re.findall(r"\bclip\d+\b", drawing))
    names = {clip: f"clip-{name}-{at}" for at, clip in enumerate(found)}
    return re.sub(r"\bclip\d+\b", lambda clip: names[clip.group()], drawing)


def hatched(drawing: str, name: str, ground: str, line: str) -> str:
    """Return a drawing in which all areas of the colour `ground` are hatched by lines."""
    pattern = f"hatch-{name}"
    hatch = (
        f'<defs><pattern id="{pattern}" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="5" height="5" fill="{ground}"/>'
        f'<path d="M0,0v5" stroke="{line}" stroke-width="2.2"/></pattern></defs>'
    )
    shaded = drawing.replace(f'fill="{ground}"', f'fill="url(#{pattern})"')
    if shaded == drawing:
        return drawing
    return re.sub(r"(<svg[^>]*>)", lambda found: found.group(1) + hatch, shaded, count=1)

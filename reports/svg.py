"""Drawings that live inside a page: no fixed colors, no shared ids, a name and a description for readers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Drawn in these, so that the page's style sheet can set the real colors for light, dark and paper.
INK = "#0a0b01"
GRID = "#0a0b02"
CLAIM = "#0a0b03"
UPPER = "#0a0b04"
MEASURED = "#0a0b05"
_VARIABLES = {
    INK: "var(--plot-ink)",
    GRID: "var(--plot-grid)",
    CLAIM: "var(--plot-claim)",
    UPPER: "var(--plot-upper)",
    MEASURED: "var(--plot-measured)",
}

_STYLE: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dpverify",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "lines.linewidth": 1.8,
}

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_LONG_DECIMAL = re.compile(r"(\d\.\d\d)\d+")
_FONT = re.compile(r"font:\s*(?:[a-z]+\s+)*([\d.]+px)[^;]*(;?)")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with the report's settings, whatever the user's matplotlibrc says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def inline(figure: Figure, name: str, title: str, description: str) -> Markup:
    """The figure as an `<svg>` element for HTML; `name` keeps its ids apart from those of other drawings."""
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    _drop_metadata(root)
    _rename_ids(root, name)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for key, value in list(element.attrib.items()):
            if key == _LINK:
                del element.attrib[key]
                element.set("href", value)
            elif key == "style":
                element.set(key, _FONT.sub(r"font-size: \1\2", value))
            elif key in {"d", "x", "y", "transform"}:
                element.set(key, _LONG_DECIMAL.sub(r"\1", value))
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update(
        {"viewBox": view, "role": "img", "aria-labelledby": f"{name}-t {name}-d", "focusable": "false"}
    )
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag[0]}"})
        element.text = text
        root.insert(position, element)
    text = ElementTree.tostring(root, encoding="unicode")
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    return Markup(re.sub(r"\n\s*", "\n", text))


def _drop_metadata(root: ElementTree.Element) -> None:
    """Metadata, and the style sheet that would reach out of the drawing into the page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                parent.remove(child)


def _rename_ids(root: ElementTree.Element, name: str) -> None:
    """Keep only the ids that are referred to, and make them this drawing's own."""
    used: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update(_REFERENCE.findall(value))
            if key == _LINK:
                used.add(value.removeprefix("#"))
    fresh = {old: f"{name}-{number}" for number, old in enumerate(sorted(used))}
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in fresh:
                    element.set(key, fresh[value])
                else:
                    del element.attrib[key]
            elif key == _LINK:
                element.set(key, "#" + fresh[value.removeprefix("#")])
            elif "url(#" in value:
                element.set(key, _REFERENCE.sub(lambda match: f"url(#{fresh[match[1]]})", value))

"""Charts as pictures in documents: drawn in a child of the sandbox, and sanitised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from backend.artifacts.forms import as_svg, with_data
from backend.tabular.chart_places import NOT_DRAWN, ChartPlace
from backend.tabular.charts.drawing import Drawing, draw
from backend.tabular.locales import chart_locale
from backend.types import JSON

WIDTH, HEIGHT = 600, 150
_INK, _LINE = "#475467", "#e4e7ec"
COLOURS = (  # of the pages' light theme
    "#2f5d62", "#b0743a", "#6a5d9c", "#5f8a3c", "#a34a5a", "#3d7fae",
    "#8f7a1c", "#b0529a", "#6b747c", "#24937c", "#2f4480", "#d05f33",
)  # fmt: skip
_LOOKS: JSON = {
    "font": "Arial, Helvetica, sans-serif",  # same widths on the reader's machine as here
    "mark": {"color": COLOURS[0]},
    "range": {"category": [*COLOURS]},
    "view": {"stroke": None},
    "title": {"color": _INK},
    "axis": {
        **dict.fromkeys(("labelColor", "titleColor"), _INK),
        **dict.fromkeys(("domainColor", "tickColor"), "#98a2b3"),
        "gridColor": _LINE,
        "titleFontWeight": "normal",
    },
}
_SVG = "http://www.w3.org/2000/svg"
_SHAPES = frozenset((
    *("svg", "g", "path", "rect", "line", "circle", "text", "tspan", "title", "desc"),
    *("defs", "clipPath", "linearGradient", "stop"),
))  # fmt: skip
_NAMES_OF_PARTS = ("id", "clip-path", "fill", "stroke", "mask")


@dataclass(frozen=True)
class Source:
    """What a chart is drawn from: its specification, and the rows of its table.

    `name` prefixes the ids in its picture, which must be unique on the page.
    """

    name: str
    spec: Mapping[str, Any]
    table: JSON


@dataclass(frozen=True)
class Figure:
    """A chart in a document: its picture, or the sentence that says why there is none."""

    title: str
    svg: str = ""
    problem: str = ""


Figures = Mapping[ChartPlace, Figure]


def draw_all(sources: Sequence[Source], locale: str | None) -> list[str]:
    """Return the charts as SVG, written for the locale; empty for one that cannot be drawn."""
    looks = {**_LOOKS, "locale": chart_locale(locale)}
    return [_draw(source, looks, locale) for source in sources]


def figure(title: str, svg: str) -> Figure:
    """Return a chart with its picture, or the reason why there is none."""
    return Figure(title, svg, "" if svg else NOT_DRAWN)


def figure_at(figures: Figures, place: ChartPlace) -> Figure:
    """Return what to show at a chart's place in a document."""
    return figures.get(place) or Figure(place.title, problem=place.problem)


def clean_svg(written: str, prefix: str) -> str:
    """Return a picture with shapes and text only, its ids made unique by the prefix.

    A page contains several pictures, and ids are shared by the whole page.
    """
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(written)  # noqa: S314 - by our own engine
    _clean(root, prefix)
    return ElementTree.tostring(root, encoding="unicode")


def _draw(source: Source, looks: JSON, locale: str | None) -> str:
    drawing = draw({**source.spec}, source.table, locale)
    try:
        drawn = as_svg({**with_data(drawing), "config": looks, **_size(drawing)})
    except ValueError:  # the engine's error for a chart that it cannot draw
        return ""
    return clean_svg(drawn, source.name)


def _size(drawing: Drawing) -> JSON:
    """Return the size of a chart; one of several small charts has its own sizes."""
    encoding = drawing.spec["encoding"]
    if {"column", "row"} & set(encoding):
        return {}
    is_listed = encoding.get("y", {}).get("type") == "nominal"
    height = {} if is_listed else {"height": HEIGHT}  # a listed value has its own height
    return {"width": WIDTH, **height, "autosize": {"type": "fit-x", "contains": "padding"}}


def _clean(element: ElementTree.Element, prefix: str) -> None:
    for child in list(element):
        if child.tag.removeprefix(f"{{{_SVG}}}") in _SHAPES:
            _clean(child, prefix)
        else:
            element.remove(child)
    for name, value in list(element.attrib.items()):
        if name.startswith("on") or "href" in name or name == "style":
            del element.attrib[name]
        elif name in _NAMES_OF_PARTS:
            element.set(name, prefix + value if name == "id" else _renamed(value, prefix))


def _renamed(value: str, prefix: str) -> str:
    if value.startswith("url(#"):
        return f"url(#{prefix}{value.removeprefix('url(#')}"
    return "none" if value.startswith("url") else value

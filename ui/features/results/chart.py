"""A table drawn as a chart: the requested one, or one that fits its columns; both adjustable."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from backend.tabular.charts.choosing import choices_of, given_spec
from backend.tabular.charts.drawing import draw
from ui.features.results import picture
from ui.shared import tables
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

HEIGHT = 320
MARKS = {"bar": "Bars", "line": "Lines", "area": "Areas", "point": "Points"}
NO_COLOUR = "(none)"

Table = Mapping[str, Any]


def show(table: Table, key: str, *, has_choices: bool = True) -> None:
    """Draw the chart with choices for its axes; what it cuts or combines stands in the picture."""
    given, told = given_spec(table)
    if told:
        st.caption(f":material/info: {plain(told)}")
    spec = _choose(table, given, key) if has_choices else given
    if spec is None:
        st.caption("There are no numbers to chart.")
        return
    drawing = draw(spec, table, st.context.locale)
    title = str(spec.get("title") or table.get("title") or "Chart")
    with st.container(key=f"picture-{key}"):
        st.vega_lite_chart(
            {**drawing.spec, "config": reader.vega_config(), "data": {"values": drawing.rows}},
            height=drawing.height or HEIGHT,
            key=f"chart-{key}",
            alt=". ".join([title, *drawing.notes]),
        )
    picture.offer(f"picture-{key}", tables.file_name(table.get("title"), "svg"))


def _choose(table: Table, given: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    choices = choices_of(given, table["columns"]) if given else None
    if choices is None:
        return given
    names, none = choices.columns, choices.colour or NO_COLOUR
    with st.container(horizontal=True, gap="small"):
        mark = _select("Chart", list(MARKS), choices.mark, f"mark-{key}")
        x = _select("X axis", list(names), choices.x, f"x-{key}")
        y = _select("Value", list(choices.values), choices.y, f"y-{key}")
        colour = _select("Colour", [NO_COLOUR, *names], none, f"colour-{key}")
    chosen = choices.choose(mark, x, y, "" if colour == NO_COLOUR else colour)
    return given if chosen == choices else chosen.spec(table["columns"])


def _select(label: str, options: list[str], first: str, key: str) -> str:
    place = options.index(first) if first in options else 0
    return st.selectbox(
        label, options, place, key=key, format_func=lambda name: MARKS.get(name, name), width=150
    )

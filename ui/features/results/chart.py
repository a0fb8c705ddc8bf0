"""A table drawn as a chart: the requested one, or one that fits its columns; both adjustable."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from backend.tabular.charts.drawing import draw
from backend.tabular.charts.fitting import default_spec, make_spec
from backend.tabular.charts.spec import SpecRefused, check_spec
from backend.tabular.columns import kinds_of
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
    given = _given(table)
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


def _given(table: Table) -> dict[str, Any] | None:
    """Return the requested chart if it can be drawn, else one that fits."""
    if asked := table.get("chart"):
        try:
            return check_spec(asked, table["columns"])
        except SpecRefused as refusal:
            st.caption(f":material/info: {plain(str(refusal))} A different chart is shown.")
    return default_spec(table["columns"])


def _choose(table: Table, given: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    if given is None:
        return None
    names = [str(column["name"]) for column in table["columns"]]
    x, y, colour = (given["encoding"].get(c, {}).get("field") for c in ("x", "y", "color"))
    mark = given["mark"]["type"]
    if mark not in MARKS or x is None or y is None:
        return given
    kinds = kinds_of(table["columns"])
    numbers = [n for n, kind in zip(names, kinds, strict=True) if kind in ("money", "number")]
    with st.container(horizontal=True, gap="small"):
        chosen = (
            _select("Chart", list(MARKS), mark, f"mark-{key}"),
            _select("X axis", names, x, f"x-{key}"),
            _select("Value", numbers or names, y, f"y-{key}"),
            _select("Colour", [NO_COLOUR, *names], colour or NO_COLOUR, f"colour-{key}"),
        )
    if chosen == (mark, x, y, colour or NO_COLOUR):
        return given
    by = None if chosen[3] == NO_COLOUR else chosen[3]
    return make_spec(chosen[0], chosen[1], chosen[2], by, table["columns"])


def _select(label: str, options: list[str], first: str, key: str) -> str:
    place = options.index(first) if first in options else 0
    return st.selectbox(
        label, options, place, key=key, format_func=lambda name: MARKS.get(name, name), width=150
    )

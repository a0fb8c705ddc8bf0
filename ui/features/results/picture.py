"""A button that downloads a chart as SVG, as drawn by the browser; Streamlit's offers PNG."""

import streamlit as st

from ui.shared import assets

_HTML = '<button type="button" class="colloquy-text-button">Download as SVG</button>'
_component = st.components.v2.component(
    "picture", html=_HTML, js=assets.loader("picture.js"), isolate_styles=False
)


def offer(place: str, name: str) -> None:
    """Draw the button for the chart in the container whose key is `place`."""
    _component(key=f"svg-{place}", data={"place": place, "name": name}, width="content")

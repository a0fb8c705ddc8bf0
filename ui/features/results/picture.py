"""A button that downloads a chart as SVG, as drawn by the browser; Streamlit's offers PNG."""

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

_HTML = '<button type="button">Download as SVG</button>'
_CSS = """
button {
  border: 0; padding: 0; min-height: 1.5rem; background: none; cursor: pointer; opacity: 0.75;
  font-family: var(--st-font); font-size: 0.875rem; color: var(--st-text-color);
}
button:hover, button:focus-visible { opacity: 1; }
button:focus-visible { outline: 2px solid var(--st-primary-color); border-radius: 0.3rem; }
"""
_JS = """
const LABEL = "Download as SVG"

function save(svg, name) {
  const text = new XMLSerializer().serializeToString(svg)
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button")
  button.textContent = LABEL
  button.onclick = () => {
    const svg = document.querySelector(`.st-key-${CSS.escape(data.place)} svg.marks`)
    if (svg) save(svg, data.name)
    else button.textContent = "Too many points for SVG. Download it as PNG."
  }
}
"""


@st.cache_resource
def _component() -> ComponentRenderer:
    return st.components.v2.component("picture", html=_HTML, css=_CSS, js=_JS)


def offer(place: str, name: str) -> None:
    """Draw the button for the chart in the container whose key is `place`."""
    _component()(key=f"svg-{place}", data={"place": place, "name": name}, width="content")

"""A button that copies a text in one click and shows a tick; the text is never part of the page."""

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

# A provisional accessible name, until the script sets a specific one.
_HTML = (
    '<button type="button" aria-label="Copy">'
    '<span class="sign"></span><span class="said"></span></button>'
)
_CSS = """
button {
  display: inline-flex; align-items: center; gap: 0.3rem; border: 0; padding: 0;
  background: none;
  min-height: 1.5rem; cursor: pointer; opacity: 0.75; font-family: var(--st-font);
  font-size: 0.875rem; color: var(--st-text-color); white-space: nowrap;
}
button:hover, button:focus-visible { opacity: 1; }
button:focus-visible { outline: 2px solid var(--st-primary-color); border-radius: 0.3rem; }
.sign { width: 1rem; height: 1rem; display: inline-block; }
.sign svg { width: 100%; height: 100%; display: block; }
"""
_JS = """
const COPY = "M9 3h9a2 2 0 0 1 2 2v11h-2V5H9zM6 7h8a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H6"
  + "a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zm0 2v10h8V9z"
const TICK = "M9.5 16.6 4.9 12l-1.4 1.4 6 6L21 7.9l-1.4-1.4z"
const SHOWN_MS = 2000

async function write(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement("textarea")
  area.value = text
  area.style.position = "fixed"
  area.style.opacity = "0"
  document.body.append(area)
  area.select()
  const isDone = document.execCommand("copy")
  area.remove()
  if (!isDone) throw new Error("copy")
}

function draw(button, path, said, label) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  svg.setAttribute("viewBox", "0 0 24 24")
  svg.setAttribute("fill", "currentColor")
  svg.setAttribute("aria-hidden", "true")
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path")
  shape.setAttribute("d", path)
  svg.append(shape)
  button.querySelector(".sign").replaceChildren(svg)
  button.querySelector(".said").textContent = said
  button.setAttribute("aria-label", said || label)
  button.title = label
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button")
  const rest = () => draw(button, COPY, data.said, data.label)
  let timer = 0
  rest()
  button.onclick = async () => {
    try {
      await write(data.text)
      draw(button, TICK, "Copied", data.label)
    } catch {
      draw(button, COPY, "Not allowed by this browser", data.label)
    }
    clearTimeout(timer)
    timer = setTimeout(rest, SHOWN_MS)
  }
  return () => clearTimeout(timer)
}
"""


@st.cache_resource
def _component() -> ComponentRenderer:
    return st.components.v2.component("copy", html=_HTML, css=_CSS, js=_JS)


def offer(text: str, key: str, label: str, said: str = "") -> None:
    """Draw the button; `label` says what is copied, `said` is the text beside its icon."""
    data = {"text": text, "label": label, "said": said}
    _component()(key=key, data=data, width="content")

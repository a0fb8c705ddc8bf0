"""A session's image in readable form."""

from typing import Any

import streamlit as st

from backend.types import JSON
from ui.shared.text import long_text, yaml_text
from ui.shared.text.markdown import plain

IN_WORDS = ("name", "description", "model", "system_prompt")


def show(image: JSON, key: str) -> None:
    """Draw the image; unset values are those of the settings."""
    model = image.get("model")
    st.markdown(f"**Domain** {plain(str(image.get('name', '')), 80)}")
    st.markdown(f"**Model** {plain(str(model), 80) if model else 'from the settings'}")
    if prompt := image.get("system_prompt"):
        st.markdown("**System prompt**")
        long_text.code(str(prompt), f"{key}-prompt")
    if rest := _said({name: value for name, value in image.items() if name not in IN_WORDS}):
        st.markdown("**Other settings**")
        long_text.code(yaml_text.write(rest), f"{key}-rest", "yaml")


def _said(value: Any) -> Any:
    """Return the value without unset entries: null or empty text."""
    if isinstance(value, dict):
        return {name: _said(item) for name, item in value.items() if item not in (None, "")}
    return [_said(item) for item in value] if isinstance(value, list) else value

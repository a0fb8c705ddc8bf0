"""Buttons and links that show only an icon; screen readers read their labels."""

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

PREFIX = "icons-"  # `frame.css` hides the labels in containers whose keys begin with it


def alone(key: str, gap: Literal["xsmall", "small"] = "small") -> DeltaGenerator:
    """Return a row whose buttons and links show only their icons, although each has a label.

    Without a label, Streamlit would name a button after its icon: "more_vert icon".
    """
    return st.container(
        horizontal=True, vertical_alignment="center", width="content", gap=gap, key=PREFIX + key
    )

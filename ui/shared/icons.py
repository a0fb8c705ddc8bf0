"""Buttons and links of which only the icon is seen; a screen reader says their labels."""

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

PREFIX = "icons-"  # `frame.css` hides the labels in containers whose keys begin with it


def alone(key: str, gap: Literal["xsmall", "small"] = "small") -> DeltaGenerator:
    """Return a row whose buttons and links show their icons alone, each with a label all the same.

    Streamlit names a button without a label by its icon: "more_vert icon".
    """
    return st.container(
        horizontal=True, vertical_alignment="center", width="content", gap=gap, key=PREFIX + key
    )

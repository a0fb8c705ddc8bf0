"""Parts of a page that start empty when they show something other than in the previous run.

Streamlit removes elements that a run did not draw again only when the run ends. A run that follows
a turn lasts as long as the turn, so leftovers would stay on the page all that time.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import state


def area(name: str, identity: object, rows: int = 0) -> DeltaGenerator:
    """Return a container; a new one if its identity differs from before, or it has fewer rows.

    It has two places and alternates between them: a container that replaces another keeps the
    other's elements, while one that replaces an empty element starts empty.
    """
    if state.area_moves(name, identity, rows):
        st.empty()
        return st.container()
    container = st.container()
    st.empty()
    return container

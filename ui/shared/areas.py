"""Parts of a page that begin empty when they show something else than in the run before.

Streamlit takes what a run did not draw again off the page only when the run ends. A run that
follows a turn lasts as long as the turn, so what is left over would stand there all the while.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import state


def area(name: str, identity: object, rows: int = 0) -> DeltaGenerator:
    """A container; a new one when its identity differs from the run before, or it has fewer rows.

    It takes two places and moves between them: a container in the place of another keeps what was
    in that, one in the place of an empty element begins empty.
    """
    if state.area_moves(name, identity, rows):
        st.empty()
        return st.container()
    container = st.container()
    st.empty()
    return container

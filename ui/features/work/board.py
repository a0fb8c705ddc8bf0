"""The administrators' view of current work: figures, turns, failures and workers."""

import streamlit as st

from backend.schemas.operations.work import Work
from ui import state
from ui.client import ClientError
from ui.features.work import turns as work_turns
from ui.features.work import workers as work_workers
from ui.shared import banners
from ui.shared.formats import reader

SECONDS = 4
FIGURE_WIDTH = 150


@st.fragment(run_every=SECONDS)
def show() -> None:
    """Draw the board and redraw it every few seconds; report an outage and wait for its end."""
    banners.what_happened()
    try:
        work = state.client().work()
    except ClientError as error:
        banners.error(error)
        st.caption(":shimmer[Reconnecting…]")
        return
    # One container for each part: otherwise what opens or closes in one would shift the elements of
    # the next, and close a popover open there.
    with st.container():
        if not work.redis_answers:
            text, icon = banners.MISSING["redis"]
            st.warning(text, icon=icon)
    with st.container():
        _figures(work)
    with st.container():
        work_turns.show_unfinished(work.turns, total=work.queued + work.running + work.waiting)
    with st.container():
        work_turns.show_failures(work.failures)
    with st.container():
        work_workers.show(work.workers, is_known=work.redis_answers)


def _figures(work: Work) -> None:
    turns = sum(worker.turns for worker in work.workers)
    capacity = sum(worker.capacity for worker in work.workers)
    places = f"{reader.number(turns)} of {reader.number(capacity)}"
    figures = (
        ("Queued", reader.number(work.queued)),
        ("Running", reader.number(work.running)),
        ("Waiting", reader.number(work.waiting)),
        ("Workers", reader.number(len(work.workers)) if work.redis_answers else "?"),
        ("Turns running", places if work.redis_answers else "?"),
    )
    with st.container(horizontal=True):
        for name, value in figures:
            st.metric(name, value, border=True, width=FIGURE_WIDTH)

"""The worker processes for administrators: their turns, and a button to drain each."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.operations.work import WorkerInfo
from ui import state
from ui.shared import banners
from ui.shared.text.markdown import plain

COLUMNS = {"Worker": 4.0, "Turns": 3.0, "State": 2.0, "": 2.0}
HEAD = "workers-head"  # `frame.css` hides it where the columns are one below the other
ASK = (
    "It takes no new turns, finishes those it has, however long they take, and then stops. "
    "Nothing is lost."
)


def show(workers: Sequence[WorkerInfo], *, is_known: bool) -> None:
    """Draw the workers; without Redis they are unknown."""
    st.subheader("Workers", anchor=False)
    if not is_known:
        st.caption("Without Redis, the state of the workers is unknown. Their turns continue.")
        return
    if not workers:
        text, icon = banners.MISSING["worker"]
        st.warning(text, icon=icon)
        return
    with st.container(key=HEAD):
        for place, name in zip(st.columns(list(COLUMNS.values())), COLUMNS, strict=True):
            place.caption(name)
    for worker in workers:
        _row(worker)


def _row(worker: WorkerInfo) -> None:
    columns = st.columns(list(COLUMNS.values()), vertical_alignment="center")
    name, turns, status, action = columns
    name.markdown(plain(worker.name, 80))
    share = min(worker.turns / worker.capacity, 1.0) if worker.capacity else 0.0
    turns.progress(share, text=f"{worker.turns} of {worker.capacity} turns")
    if worker.is_stalled:
        seconds = f"{worker.loop_silence_seconds:.0f} s"
        status.badge(
            f"Unresponsive for {seconds}", color="red", icon=":material/hourglass_disabled:"
        )
    elif worker.is_draining:
        status.badge("Draining", color="orange")
    elif worker.obstacle:
        status.badge("Takes no turns", color="red", icon=":material/update:", help=worker.obstacle)
    else:
        status.badge("Working" if worker.turns else "Idle", color="green")
    with action:
        _drain(worker)


def _drain(worker: WorkerInfo) -> None:
    # A popover, not a dialog: the board redraws itself every few seconds, which would close a
    # dialog each time.
    with st.popover("Drain", icon=":material/logout:", disabled=worker.is_draining):
        st.markdown(f"**Drain {plain(worker.name, 80)}?**")
        st.caption(ASK)
        st.button(
            "Drain this worker",
            key=f"drain-{worker.name}",
            type="primary",
            disabled=worker.is_draining,
            on_click=_ask_to_drain,
            args=(worker.name,),
        )


def _ask_to_drain(name: str) -> None:
    with state.flashing():
        state.client().drain_worker(name)

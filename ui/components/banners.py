"""States of the whole service in words, each with what to do: errors, no worker, no model, demo."""

import streamlit as st

from backend.schemas import ServerInfo
from ui import state
from ui.client import ClientError, NotFound, ServiceUnavailable
from ui.components import watch
from ui.components.areas import area
from ui.components.markdown import plain

DEMO_HELP = (
    "The answers come from the bundled demo model, which knows a few example questions only. "
    "To connect a real one, set OPENAI_API_KEY (and OPENAI_BASE_URL for another provider than "
    "OpenAI) in `.env`, then restart."
)


def model_badge(server: ServerInfo) -> None:
    """Which model answers; the demo model plainly so."""
    if server.is_demo_model:
        st.badge("Demo model", icon=":material/science:", color="orange", help=DEMO_HELP)
    elif server.model:
        st.badge(plain(server.model, 60), icon=":material/bolt:", color="gray")


def all_that_apply(server: ServerInfo) -> None:
    """What went wrong in the click before this run, and what keeps turns from being answered."""
    problem = state.take_flash()
    with area("notices", (problem, state.link_is_broken(), server.ready, server.workers)):
        if state.link_is_broken():
            st.info("This link names no session. Choose one in the sidebar, or ask below.")
        if problem is not None:
            error(problem)
        service_state(server)


def service_state(server: ServerInfo) -> None:
    """What keeps turns from being answered, if anything does."""
    if not server.model:
        st.warning(
            "**No model is configured.** Set OPENAI_API_KEY, and MODEL or OPENAI_BASE_URL where "
            "needed, in `.env` and restart. With none of them set, the demo model answers.",
            icon=":material/power_off:",
        )
    elif server.workers == 0:
        st.warning(
            "**No worker is running.** Messages are kept and answered as soon as one starts: "
            "`make worker`, or restart all with `make run`.",
            icon=":material/hourglass_disabled:",
        )
    elif not server.ready:
        st.warning(
            "**The service is not ready.** Its database or Redis does not answer at the moment. "
            "Messages are taken again as soon as both are back; `/readyz` of the API says which.",
            icon=":material/sync_problem:",
        )


def error(problem: ClientError) -> None:
    """What went wrong, in the service's own words."""
    st.error(f"**{plain(problem.title)}.** {plain(problem.detail, 2000)}", icon=":material/error:")


def page_error(problem: ClientError) -> None:
    """An error in place of a page, with the way out; a lost service is asked again by itself."""
    error(problem)
    if isinstance(problem, ServiceUnavailable):
        st.caption(":shimmer[Connecting again…]")
        watch.rerun_every(3)
    elif isinstance(problem, NotFound):
        st.page_link(state.CHAT_PAGE, label="Start a new chat", icon=":material/edit_square:")

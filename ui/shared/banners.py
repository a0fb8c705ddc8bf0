"""The states of the whole service in words, with what to do: errors, missing parts, the demo."""

from time import monotonic

import streamlit as st

from backend.logs.fields import request_id
from backend.schemas.operations.server import ServerInfo
from ui import navigation, state
from ui.client import ClientError, NotFound, ServiceUnavailable
from ui.shared.text.markdown import plain

AWAY_SECONDS = 3
MISSING = {
    "database": (
        "**The database does not answer.** Accepted messages are kept and continue when the "
        "database is back; until then, nothing new can be sent.",
        ":material/database_off:",
    ),
    "redis": (
        "**Redis does not answer.** Live updates pause; what you send is kept and runs.",
        ":material/sync_problem:",
    ),
    "worker": (
        "**No worker is running.** Messages are kept and answered as soon as one starts: "
        "`make worker`, or restart all with `make run`.",
        ":material/hourglass_disabled:",
    ),
}


def all_that_apply(server: ServerInfo) -> None:
    """Draw the banner for a broken link, and for what keeps turns from being answered."""
    if navigation.link_is_broken():
        st.info("This link does not point to a session. Choose one in the sidebar, or ask below.")
    service_state(server)


def what_happened() -> None:
    """Show toasts for what the last actions have done, and which of them failed.

    Toasts are visible wherever the page is scrolled. Those of failures stay until they are closed.
    A run that draws a toast again does not duplicate it.
    """
    notices = state.notices()
    if notices.problem is not None:
        st.toast(error_words(notices.problem), icon=":material/error:", duration="infinite")
    for text in notices.said:
        st.toast(text, icon=":material/check:", duration="long")
    if notices.problem is not None or notices.said:
        notices.drawn_at = notices.drawn_at or monotonic()


def service_state(server: ServerInfo) -> None:
    """Draw what keeps turns from being answered, if anything: only the most serious problem."""
    if not server.model:
        st.warning(
            "**No model is configured.** Connect one on the page *Models*, or set OPENAI_API_KEY, "
            "and MODEL or OPENAI_BASE_URL where needed, in `.env` and restart. With none of them "
            "set, the demo model answers.",
            icon=":material/power_off:",
        )
        return
    # In this order: without Redis the workers are unknown, so nothing is said about them.
    for part in MISSING:
        if part in server.missing:
            text, icon = MISSING[part]
            st.warning(text, icon=icon)
            return


def error(problem: ClientError) -> None:
    """Draw an error in the service's own words."""
    st.error(error_words(problem), icon=":material/error:")


def error_words(problem: ClientError) -> str:
    """Return what went wrong and what to do, as Markdown."""
    return f"**{plain(problem.title)}.** {plain(problem.detail, 2000)}"


def page_error(problem: ClientError) -> None:
    """Draw an error in place of a page, with a way out; a lost service is retried automatically."""
    error(problem)
    if isinstance(problem, ServiceUnavailable):
        st.caption(":shimmer[Reconnecting…]")
        _try_again()
    elif isinstance(problem, NotFound):
        st.page_link(navigation.CHAT_PAGE, label="Start a new chat", icon=":material/edit_square:")


def _try_again() -> None:
    """Draw the page again in some seconds."""
    is_drawn = False

    @st.fragment(run_every=AWAY_SECONDS)
    def wait() -> None:
        nonlocal is_drawn
        if is_drawn:
            st.rerun()
        is_drawn = True

    wait()


def unexpected(_: Exception) -> bool:
    """Draw an unexpected error in place of the part that failed; return True: it is handled."""
    place = f" under the request `{found}`" if (found := request_id()) else ""
    st.error(
        "**This part of the page could not be shown.** What you sent is kept, and turns go on. "
        "Reload the page. If this happens again, tell your administrator: the log has the cause"
        f"{place}.",
        icon=":material/error:",
    )
    return True

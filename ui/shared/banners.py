"""The states of the whole service in words, with what to do: errors, missing parts, the demo."""

from time import monotonic

import streamlit as st

from backend.schemas.operations.server import ServerInfo
from ui import navigation, state
from ui.client import ClientError, NotFound, ServiceUnavailable
from ui.shared.areas import area
from ui.shared.text.markdown import plain
from ui.shared.watch import timer

DEMO_HELP = (
    "The answers come from the bundled demo model, which knows a few example questions only. "
    "To connect a real one, open *Models* under *Administration*, or set OPENAI_API_KEY (and "
    "OPENAI_BASE_URL for a provider other than OpenAI) in `.env` and restart."
)

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


def model_badge(server: ServerInfo) -> None:
    """Draw which model answers; the demo model is clearly marked."""
    if server.is_demo_model:
        st.badge("Demo model", icon=":material/science:", color="orange", help=DEMO_HELP)
    elif server.model:
        st.badge(plain(server.model, 60), icon=":material/bolt:", color="gray")


def all_that_apply(server: ServerInfo) -> None:
    """Draw the banner for a broken link, and for what keeps turns from being answered."""
    with area("notices", (navigation.link_is_broken(), server.missing)):
        if navigation.link_is_broken():
            st.info(
                "This link does not point to a session. Choose one in the sidebar, or ask below."
            )
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


def service_is_away() -> None:
    """Say beside the composer that the page shows the last known state, and reconnect by itself."""
    if state.memory().is_away:
        with st.bottom:
            st.warning(
                "**The service does not answer.** The page shows the last known state. Nothing is "
                "lost: turns go on without this page, and it reconnects by itself.",
                icon=":material/cloud_off:",
            )
        timer.draw_again(AWAY_SECONDS, "away")


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
        timer.draw_again(AWAY_SECONDS, "error")
    elif isinstance(problem, NotFound):
        st.page_link(navigation.CHAT_PAGE, label="Start a new chat", icon=":material/edit_square:")


def unexpected(_: Exception) -> bool:
    """Draw an unexpected error in place of the part that failed; return True: it is handled."""
    st.error(
        "**This part of the page could not be shown.** What you sent is kept, and turns go on. "
        "Reload the page. If this happens again, tell your administrator: the log has the cause.",
        icon=":material/error:",
    )
    return True

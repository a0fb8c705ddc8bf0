"""States of the whole service in words, each with what to do: errors, missing parts, the demo."""

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
        "**The database does not answer.** What was accepted is kept, and goes on as soon as the "
        "database is back; until then nothing new can be sent.",
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
    """Which model answers; the demo model plainly so."""
    if server.is_demo_model:
        st.badge("Demo model", icon=":material/science:", color="orange", help=DEMO_HELP)
    elif server.model:
        st.badge(plain(server.model, 60), icon=":material/bolt:", color="gray")


def all_that_apply(server: ServerInfo) -> None:
    """A link that leads nowhere, and what keeps turns from being answered."""
    with area("notices", (navigation.link_is_broken(), server.missing)):
        if navigation.link_is_broken():
            st.info(
                "This link does not lead to a session. Choose one in the sidebar, or ask below."
            )
        service_state(server)


def what_happened() -> None:
    """Say in the corner of the window what the last actions have done, and which of them failed.

    There it is in sight wherever the page stands. What failed stays until it is closed. What
    stands there already is not doubled by a run that draws it again.
    """
    notices = state.notices()
    if notices.problem is not None:
        st.toast(error_words(notices.problem), icon=":material/error:", duration="infinite")
    for said in notices.said:
        st.toast(said, icon=":material/check:", duration="long")
    if notices.problem is not None or notices.said:
        notices.drawn_at = notices.drawn_at or monotonic()


def service_state(server: ServerInfo) -> None:
    """What keeps turns from being answered, if anything does; the worst of it, not all."""
    if not server.model:
        st.warning(
            "**No model is configured.** Connect one on the page *Models*, or set OPENAI_API_KEY, "
            "and MODEL or OPENAI_BASE_URL where needed, in `.env` and restart. With none of them "
            "set, the demo model answers.",
            icon=":material/power_off:",
        )
        return
    # In this order: without Redis nobody knows of the workers, so nothing is said of them.
    for part in MISSING:
        if part in server.missing:
            text, icon = MISSING[part]
            st.warning(text, icon=icon)
            return


def service_is_away() -> None:
    """Say beside the composer that the page shows what was known last, and look again by itself."""
    if state.memory().is_away:
        with st.bottom:
            st.warning(
                "**The service does not answer.** What you see is as it was before. Nothing is "
                "lost: turns go on without this page, and it connects again by itself.",
                icon=":material/cloud_off:",
            )
        timer.draw_again(AWAY_SECONDS, "away")


def error(problem: ClientError) -> None:
    """What went wrong, in the service's own words."""
    st.error(error_words(problem), icon=":material/error:")


def error_words(problem: ClientError) -> str:
    """Return what went wrong and what to do, as Markdown."""
    return f"**{plain(problem.title)}.** {plain(problem.detail, 2000)}"


def page_error(problem: ClientError) -> None:
    """An error in place of a page, with the way out; a lost service is asked again by itself."""
    error(problem)
    if isinstance(problem, ServiceUnavailable):
        st.caption(":shimmer[Connecting again…]")
        timer.draw_again(AWAY_SECONDS, "error")
    elif isinstance(problem, NotFound):
        st.page_link(navigation.CHAT_PAGE, label="Start a new chat", icon=":material/edit_square:")


def unexpected(_: Exception) -> bool:
    """An unexpected error in place of the part of a page that it ended; return that it was told."""
    st.error(
        "**This part of the page could not be shown.** What you sent is kept, and turns go on. "
        "Reload the page; if it happens again, tell whoever runs Colloquy: the log has the cause.",
        icon=":material/error:",
    )
    return True

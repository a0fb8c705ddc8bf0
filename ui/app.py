"""The frame around all pages: navigation, sidebar, and the message shown when a page fails."""

import logging
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.errors import FragmentHandledException
from streamlit.navigation.page import StreamlitPage

from ui import navigation, state
from ui.client import ClientError, ReasonNeeded
from ui.features.chat import reading as chat_reading
from ui.features.reviews import asking
from ui.features.sessions import pages, sidebar
from ui.pages import PAGES, file_of
from ui.shared import banners, last_known
from ui.shared.entrance import PageEnd

# A file of our own: an icon by name would be fetched from the internet.
ASSETS = Path(__file__).parent / "assets"
ICON = str(ASSETS / "icon.svg")
LOGO = str(ASSETS / "logo.svg")

log = logging.getLogger(__name__)


def main() -> None:
    """Draw the frame and, within it, the page that the URL names."""
    st.set_page_config(page_title="Colloquy", page_icon=ICON, layout="centered")
    st.logo(LOGO, size="large")
    page = st.navigation(
        [
            st.Page(
                spec.path,
                title=spec.title,
                icon=spec.icon,
                url_path=spec.url_path,
                default=not spec.url_path,
            )
            for spec in PAGES
        ],
        position="hidden",
    )
    navigation.arrive(file_of(page.url_path))
    try:
        with last_known.reading_ahead():
            _draw(page)
    except ReasonNeeded as problem:
        asking.show(problem)
    except ClientError as problem:
        banners.page_error(problem)
    # Streamlit 1.67 forgets the fragments of the previous page only when a run reaches its end. A
    # late rerun of such a fragment would otherwise be drawn into this page and leave it blank.
    except FragmentHandledException:
        pass
    except Exception as error:
        log.exception("The page could not be drawn")
        banners.unexpected(error)


def _draw(page: StreamlitPage) -> None:
    state.memory().is_away = False
    session_id = None if page.url_path else navigation.open_session_id()
    last_known.begin("server", state.client().server)
    pages.begin()
    if session_id is not None:
        chat_reading.begin(session_id)
    state.memory().server = last_known.read("server", state.client().server)
    sidebar.show(state.server(), page.url_path)
    banners.what_happened()
    with suppress(PageEnd):
        page.run()
    banners.service_is_away()


main()

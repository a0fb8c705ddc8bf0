"""The frame around all pages: navigation, sidebar, and the message shown when a page fails."""

import logging
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.errors import FragmentHandledException
from streamlit.navigation.page import StreamlitPage

from ui import state
from ui.client import ClientError, ReasonNeeded
from ui.features.reviews import asking
from ui.features.sessions import sidebar
from ui.pages import PAGES
from ui.shared import banners
from ui.shared.entrance import PageEnd

# A file of our own: an icon by name would be fetched from the internet.
ASSETS = Path(__file__).parent / "assets"
ICON = str(ASSETS / "icon.svg")
LOGO = str(ASSETS / "logo.svg")

log = logging.getLogger(__name__)


def main() -> None:
    """Draw the frame and, within it, the page that the URL names."""
    state.name_run()
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
    try:
        _draw(page)
    except ReasonNeeded as problem:
        asking.show(problem)
    except ClientError as problem:
        banners.page_error(problem)
    except FragmentHandledException:
        pass  # a part of the page has said so itself
    except Exception as error:
        log.exception("The page could not be drawn")
        banners.unexpected(error)


def _draw(page: StreamlitPage) -> None:
    state.read_server()
    sidebar.show(state.server(), page.url_path)
    banners.what_happened()
    with suppress(PageEnd):
        page.run()


main()

"""The frame around all pages: navigation, sidebar, and the message shown when a page fails."""

import logging
from pathlib import Path

import streamlit as st
from streamlit.errors import FragmentHandledException

from ui import navigation, state
from ui.client import ClientError
from ui.features.sessions import sidebar
from ui.pages import PAGES
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
    navigation.follow_destination(is_on_chat=not page.url_path)
    try:
        state.memory().is_away = False
        state.memory().server = last_known.read("server", state.client().server)
        sidebar.show(state.server(), page.url_path)
        banners.what_happened()
        page.run()
        banners.service_is_away()
    except ClientError as problem:
        banners.page_error(problem)
    # Streamlit 1.67 forgets the fragments of the previous page only when a run reaches its end. A
    # late rerun of such a fragment would otherwise be drawn into this page and leave it blank.
    except (PageEnd, FragmentHandledException):
        pass
    except Exception as error:
        log.exception("The page could not be drawn")
        banners.unexpected(error)


main()

"""The frame around all pages: navigation, sidebar, and what is said when the service fails."""

from pathlib import Path

import streamlit as st

from ui import state
from ui.client import ClientError
from ui.features.sessions import sidebar
from ui.pages import PAGES
from ui.shared import banners, watch

# A file of our own: an icon by name would be fetched from the internet.
ASSETS = Path(__file__).parent / "assets"
ICON = str(ASSETS / "icon.svg")
LOGO = str(ASSETS / "logo.svg")
DRAFTS = f"<script>{(ASSETS / 'drafts.js').read_text()}</script>"


def main() -> None:
    """Draw the frame, and within it the page that the URL names."""
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
    state.follow_destination(is_on_chat=not page.url_path)
    try:
        state.memory().server = state.client().server()
        watch.note()
        sidebar.show(state.server())
        st.sidebar.html(f'<i class="colloquy-taken" hidden>{state.memory().taken}</i>')
        st.sidebar.html(DRAFTS, unsafe_allow_javascript=True)  # a file of ours, nobody's input
        page.run()
    except ClientError as problem:
        banners.page_error(problem)


main()

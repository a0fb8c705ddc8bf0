"""The opening page of a new chat: an introduction, and questions to begin with."""

import streamlit as st

from backend.schemas.domains.templates import Domain
from backend.schemas.operations.server import ServerInfo
from ui.features.chat import composer
from ui.features.chat import state as chat_state
from ui.features.domains import choice as domain_choice
from ui.features.sharing import team_choice
from ui.shared import banners
from ui.shared.text.markdown import plain


def show(server: ServerInfo) -> Domain | None:
    """Draw the opening page; clicking a suggested question sends it.

    Return the domain of the new chat.
    """
    st.space("large")
    with st.container(horizontal_alignment="center", gap="small"):
        st.title(
            "What would you like to know?", anchor=False, text_alignment="center", width="content"
        )
        st.caption(
            "Ask in plain words. Agents look things up, compare and compute, and show each step. "
            "Long work continues after you close this page.",
            text_alignment="center",
        )
        banners.model_badge(server)
    domain = domain_choice.show()
    with st.container(horizontal_alignment="center"):
        team_choice.show()
    st.space("small")
    left, right = st.columns(2)
    for index, question in enumerate(domain.suggestions if domain else ()):
        with (left, right)[index % 2]:
            st.button(
                plain(question),
                key=f"example-{index}",
                icon=":material/chat_bubble:",
                width="stretch",
                on_click=composer.send_first,
                args=(question, chat_state.composer_key(None)),
            )
    if server.is_demo_model:
        st.space("small")
        st.caption(f":material/science: {banners.DEMO_HELP}", text_alignment="center")
    return domain

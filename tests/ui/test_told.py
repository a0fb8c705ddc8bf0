"""What a component's script tells when a person has gone to another page meanwhile."""

from tests.ui.seen import page_of


def test_what_is_told_too_late_changes_nothing_and_fails_nothing():
    def script():
        from uuid import uuid4

        import streamlit as st

        from ui import state
        from ui.features.artifacts import links
        from ui.features.chat.live import component

        component._open_begun()
        links._asked(uuid4())
        assert list(state.session_list_acts()) == []
        st.text("still here")

    page = page_of(script)

    assert not page.exception
    assert page.text[0].value == "still here"
    assert not page.query_params

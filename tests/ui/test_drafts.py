"""A text that a composer is to hold is in it, also where a run breaks off before it is told."""

from tests.ui.seen import page_of


def test_a_text_is_kept_until_a_run_has_drawn_its_composer():
    def script():
        from contextlib import suppress

        import streamlit as st

        from ui.features.chat import state

        class BrokenOff(Exception):
            """Another run is asked for."""

        if "key" not in st.session_state:
            st.session_state.key = "edit"
            state.keep_draft("edit", "What is the first figure?")
            with suppress(BrokenOff), state.restored_draft("edit"):
                raise BrokenOff
            del st.session_state["edit"]
        with state.restored_draft("edit"):
            st.text_input("Edit", key="edit")

    page = page_of(script)

    assert page.text_input[0].value == "What is the first figure?"
    assert page.text_input[0].set_value("Another one").run().text_input[0].value == "Another one"

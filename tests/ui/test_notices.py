"""What an action has done is said where the next run begins at once, and not for ever."""

from streamlit.testing.v1 import AppTest

from tests.ui.seen import page_of
from ui import state


def page():
    import streamlit as st

    from ui import state
    from ui.client import ClientError
    from ui.shared import banners

    st.button("one", on_click=state.say, args=("One is done.",))
    st.button("two", on_click=state.say, args=("Two is done.",))
    st.button("fail", on_click=state.flash, args=(ClientError("Not saved", "Try again."),))
    banners.what_happened()


def told(drawn: AppTest) -> list[str]:
    assert not drawn.exception
    return [toast.value for toast in drawn.toast]


def press(drawn: AppTest, label: str) -> AppTest:
    return next(button for button in drawn.button if button.label == label).click().run()


def test_a_run_that_follows_at_once_says_it_again():
    drawn = press(page_of(page), "one")
    assert told(drawn) == ["One is done."]

    assert told(drawn.run()) == ["One is done."]


def test_a_run_that_follows_later_says_nothing(monkeypatch):
    drawn = press(page_of(page), "one")
    monkeypatch.setattr(state, "TOLD_SECONDS", 0.0)

    assert told(drawn.run()) == []


def test_the_next_action_is_said_in_place_of_the_last_one():
    drawn = press(page_of(page), "fail")
    assert "Try again" in told(drawn)[0]

    assert told(press(drawn, "two")) == ["Two is done."]
    assert told(press(drawn, "two")) == ["Two is done."]

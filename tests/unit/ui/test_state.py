"""What a tab remembers of an act, while Streamlit breaks its callback off for the next click."""

from typing import Any

import streamlit as st

from ui import state
from ui.shared.once import once


class SessionState(dict[str, Any]):
    """As Streamlit's: a callback ends where it touches it after another click."""

    is_clicked_again = False

    def get(self, key: str, default: Any = None) -> Any:
        assert not self.is_clicked_again, "the callback is broken off"
        return super().get(key, default)


def test_an_act_is_known_as_done_although_its_button_is_pressed_again(monkeypatch):
    held = SessionState()
    monkeypatch.setattr(st, "session_state", held)
    made = []

    def make() -> int:
        held.is_clicked_again = True
        made.append("a token")
        return len(made)

    for _ in range(2):
        with state.flashing():
            assert once("the first token", make) == 1
            state.say("Made.")
        held.is_clicked_again = False

    assert made == ["a token"]
    assert state.notices().said == ["Made.", "Made."]

"""Streamlit's session of an open page, changed so that no click and no drawn output is lost.

On a request for a full run, Streamlit 1.67 stops the current run, even if a click requested it and
it has not begun: the click then has no effect. So a request waits here until the callbacks of
earlier clicks have been called.

If a fragment is requested just as a run ends, Streamlit drops that run's unsent output, including
its end: an input that was opened is missing, a panel that was closed stays open. So such a request
waits here until everything has been sent.

A fragment that moves on the page gets a new id. Streamlit skips a click that arrives under the
previous one: the input shows it, but nothing follows. Here the page is then redrawn.

When a run ends, server and browser forget the widgets that it did not draw. A click that was sent
before the browser has learned of the end still brings their values; Streamlit takes them, and if it
draws the widgets again, the browser has no value for them, and shows empty fields. So such values
are left out here: the widgets are new to both.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.errors import FragmentStorageKeyError
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import app_session, websocket_session_manager
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import Fragment, MemoryFragmentStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state import SessionState

from ui import navigation
from ui.message_queue import MessageQueue

_TRIGGERS = frozenset(
    {"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"}
)
Clicked = frozenset[str]  # ids of widgets


class PageSession(AppSession):
    """Passes requests to Streamlit one after the other, in order.

    Everything except `_State.on_script_will_rerun` runs in the event loop's thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._asked: deque[ClientState | None] = deque()
        self._unheard: Clicked = frozenset()
        self._refused: RerunData | None = None  # by an ended run whose output is not sent yet
        self._session_state = _State(self._tell_heard)
        self._clicked_fragments: set[str] = set()
        self._fragment_storage = _Fragments(self._clicked_fragments)

    def request_rerun(self, client_state: ClientState | None) -> None:
        """Run the script with the state that a browser sent, or with the last one (None)."""
        self._asked.append(client_state)
        self._hand_on()

    def _hand_on(self) -> None:
        while self._asked and not self._unheard and self._refused is None:
            client_state = self._asked.popleft()
            if client_state is not None:
                self._prepare(client_state)
            super().request_rerun(client_state)

    def _prepare(self, asked: ClientState) -> None:
        """Note what was clicked; request the whole page if the fragment has moved already."""
        if not asked.is_auto_rerun:
            if not self._is_there(asked.fragment_id) and self._is_of_this_page(asked):
                asked.fragment_id = ""
            self._clicked_fragments.add(asked.fragment_id)
        if self._is_there(asked.fragment_id):
            self._unheard = _clicked(asked.widget_states)

    def _is_of_this_page(self, asked: ClientState) -> bool:
        """Return whether the browser shows the address that was drawn last."""
        drawn = self._client_state
        return (asked.query_string, asked.page_script_hash) == (
            drawn.query_string,
            drawn.page_script_hash,
        )

    def _is_there(self, fragment_id: str) -> bool:
        return not fragment_id or self.has_fragment(fragment_id)

    def _create_scriptrunner(self, initial_rerun_data: RerunData) -> None:
        if self._scriptrunner is None:
            super()._create_scriptrunner(initial_rerun_data)
        else:
            self._refused = initial_rerun_data

    def _handle_scriptrunner_event_on_event_loop(
        self, sender: Any, event: ScriptRunnerEvent, *args: Any, **kwargs: Any
    ) -> None:
        is_last = event is ScriptRunnerEvent.SHUTDOWN and sender is self._scriptrunner
        super()._handle_scriptrunner_event_on_event_loop(sender, event, *args, **kwargs)
        if not is_last:
            return
        refused, self._refused = self._refused, None
        if refused is not None:
            self._create_scriptrunner(refused)
        else:
            self._unheard = frozenset()  # the run that was to handle them was stopped
        self._hand_on()

    def _tell_heard(self, clicked: Clicked) -> None:
        self._event_loop.call_soon_threadsafe(self._hear, clicked)

    def _hear(self, clicked: Clicked) -> None:
        if self._unheard <= clicked:
            self._unheard = frozenset()
            self._hand_on()


class _State(SessionState):
    """Reports which clicks were handled; leaves out values of widgets that are forgotten."""

    def __init__(self, tell: Callable[[Clicked], None]) -> None:
        super().__init__()
        self._tell = tell

    def on_script_will_rerun(self, fresh_widget_states: WidgetStates | None, **rest: Any) -> None:
        try:
            super().on_script_will_rerun(fresh_widget_states, **rest)
        finally:
            if fresh_widget_states is not None:
                self._tell(_clicked(fresh_widget_states))

    def set_widgets_from_proto(self, widget_states: WidgetStates) -> None:
        known = [one for one in widget_states.widgets if not self._is_forgotten(one)]
        super().set_widgets_from_proto(WidgetStates(widgets=known))

    def _is_forgotten(self, widget: WidgetState) -> bool:
        """Return whether the widget was drawn once, and has no value any more."""
        was_drawn = self.get_widget_metadata(widget.id) is not None
        return was_drawn and widget.id not in self._old_state and not _is_clicked(widget)


class _Fragments(MemoryFragmentStorage):
    """Redraws the page in place of a fragment that was clicked, and exists no more."""

    def __init__(self, clicked: set[str]) -> None:
        super().__init__()
        self._clicked = clicked

    def lookup(self, key: str) -> Fragment:
        is_clicked = key in self._clicked
        self._clicked.discard(key)
        try:
            return super().lookup(key)
        except FragmentStorageKeyError:
            if is_clicked:
                return _redraw
            raise


def _redraw() -> None:
    if not navigation.is_stale():
        st.rerun()


def install() -> None:
    """Make each page use this session, with our message queue."""
    # Streamlit has no public hook for either.
    setattr(websocket_session_manager, "AppSession", PageSession)  # noqa: B010
    setattr(app_session, "ForwardMsgQueue", MessageQueue)  # noqa: B010


def _clicked(states: WidgetStates) -> Clicked:
    return frozenset(one.id for one in states.widgets if _is_clicked(one))


def _is_clicked(widget: WidgetState) -> bool:
    return widget.WhichOneof("value") in _TRIGGERS

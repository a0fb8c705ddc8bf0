"""Streamlit's session of an open page, changed so that no click and no drawn output is lost.

On a request for a full run, Streamlit 1.67 stops the current run, even if a click requested it and
it has not begun: the click then has no effect. So a request waits here until the callbacks of
earlier clicks have been called; where a click has none, until the run that handles it has ended,
or shows a spinner.

If a fragment is requested just as a run ends, Streamlit drops that run's unsent output, including
its end: an input that was opened is missing, a panel that was closed stays open. So such a request
waits here until everything has been sent.

A fragment that moves on the page gets a new id. Streamlit skips a click that arrives under the
previous one: the input shows it, but nothing follows. And a browser joins clicks of one moment in
one request, for the fragment of one of them. In both cases the whole page is drawn here.

A browser sends its address with each request, also if it has not learned yet that a click has led
it elsewhere. Streamlit would go back. Here only links and the browser's own Back lead somewhere.

When a run ends, server and browser forget the widgets that it did not draw. A click that was sent
before the browser has learned of the end still brings their values; Streamlit takes them, and if it
draws the widgets again, the browser has no value for them, and shows empty fields. So such values
are left out here: the widgets are new to both.
"""

from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.errors import FragmentStorageKeyError
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import app_session, get_instance, websocket_session_manager
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher
from streamlit.runtime.fragment import Fragment, MemoryFragmentStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    ScriptRunContext,
    get_script_run_ctx,
)
from streamlit.runtime.state import SessionState

from ui import media_files, navigation
from ui.message_queue import MessageQueue
from ui.pages import file_of

_TRIGGERS = frozenset(
    {"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"}
)
_ENDS = frozenset(
    {
        ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS,
        ScriptRunnerEvent.SCRIPT_STOPPED_WITH_COMPILE_ERROR,
        ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN,
        ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS,
    }
)
Clicked = frozenset[str]  # ids of widgets


class PageSession(AppSession):
    """Passes requests to Streamlit one after the other, in order.

    Everything except `_State.on_script_will_rerun` runs in the event loop's thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.owner: str | None = kwargs["user_info"].get(media_files.SIGN_IN)
        super().__init__(*args, **kwargs)
        _sessions[self.id] = self
        self._asked: deque[ClientState | None] = deque()
        self._unheard: Clicked = frozenset()
        self._is_handling = False  # whether the current run handles a click by itself
        self._refused: RerunData | None = None  # by an ended run whose output is not sent yet
        self._session_state = _State(self._tell_heard)
        self._clicked_fragments: set[str] = set()
        self._fragment_storage = _Fragments(self._clicked_fragments)

    def _create_backend_operation_dispatcher(self) -> BackendOperationDispatcher:
        dispatcher = super()._create_backend_operation_dispatcher()
        downloads = media_files.OwnDownloads(self.owner, lambda: get_instance().media_file_mgr)
        dispatcher.register("deferred_file", downloads)
        return dispatcher

    def request_rerun(self, client_state: ClientState | None) -> None:
        """Run the script with the state that a browser sent, or with the last one (None)."""
        self._asked.append(client_state)
        self._hand_on()

    def _hand_on(self) -> None:
        while self._asked and not self._is_busy:
            client_state = self._asked.popleft()
            if client_state is not None:
                self._prepare(client_state)
            super().request_rerun(client_state)

    @property
    def _is_busy(self) -> bool:
        """Whether another request would undo an earlier one."""
        return bool(self._unheard) or self._is_handling or self._refused is not None

    def _prepare(self, asked: ClientState) -> None:
        """Note what was clicked, and have all of it handled."""
        if asked.is_auto_rerun:  # what was clicked meanwhile comes with a request of its own
            _remove(_clicked(asked.widget_states), asked.widget_states)
        else:
            if self._must_draw_all(asked):
                asked.fragment_id = ""
            self._clicked_fragments.add(asked.fragment_id)
        if self._is_there(asked.fragment_id):
            self._unheard = _clicked(asked.widget_states)

    def _must_draw_all(self, asked: ClientState) -> bool:
        """Return whether the fragment has moved already, or something was clicked beside it."""
        if not self._is_there(asked.fragment_id):
            return self._is_of_this_page(asked)
        clicked = _clicked(asked.widget_states)
        known = [self._session_state.get_widget_metadata(one) for one in clicked]
        return any(one and (one.fragment_id or "") != asked.fragment_id for one in known)

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
        self,
        sender: Any,
        event: ScriptRunnerEvent,
        forward_msg: ForwardMsg | None = None,
        *rest: Any,
    ) -> None:
        is_current = sender is self._scriptrunner
        super()._handle_scriptrunner_event_on_event_loop(sender, event, forward_msg, *rest)
        if not is_current:
            return
        if event in _ENDS or _is_spinner(forward_msg):
            self._is_handling = False
            self._hand_on()
        if event is ScriptRunnerEvent.SHUTDOWN:
            self._go_on()

    def _go_on(self) -> None:
        """Hand on what waited for the end of a run and of its output."""
        refused, self._refused = self._refused, None
        if refused is not None:
            self._create_scriptrunner(refused)
        else:
            self._unheard = frozenset()  # the run that was to handle them was stopped
            self._is_handling = False
        self._hand_on()

    def _tell_heard(self, clicked: Clicked, is_handling: bool) -> None:
        self._event_loop.call_soon_threadsafe(self._hear, clicked, is_handling)

    def _hear(self, clicked: Clicked, is_handling: bool) -> None:
        if self._unheard <= clicked:
            self._unheard = frozenset()
            self._is_handling = is_handling
            self._hand_on()


class _State(SessionState):
    """Reports which clicks were handled; leaves out values of widgets that are forgotten.

    `tell`: called with what was clicked once its callbacks were called, and with whether some of it
    has none: the run itself handles it.
    """

    def __init__(self, tell: Callable[[Clicked, bool], None]) -> None:
        super().__init__()
        self._tell = tell

    def on_script_will_rerun(self, fresh_widget_states: WidgetStates | None, **rest: Any) -> None:
        clicked = _clicked(fresh_widget_states or WidgetStates())
        run = get_script_run_ctx()
        try:
            if run is not None and (clicked or run.fragment_ids_this_run):
                navigation.stay(_page_of(run))
            super().on_script_will_rerun(fresh_widget_states, **rest)
        finally:
            if fresh_widget_states is not None:
                self._tell(clicked, any(not self._has_callback(one) for one in clicked))

    def _has_callback(self, widget_id: str) -> bool:
        known = self.get_widget_metadata(widget_id)
        return known is not None and bool(known.callback or known.callbacks)

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
    st.rerun()


def _page_of(run: ScriptRunContext) -> str:
    """Return the file of the page that a run was requested for."""
    page = run.pages_manager.get_pages().get(run.page_script_hash)
    return file_of(page.get("url_pathname", "") if page else "")


_sessions: WeakValueDictionary[str, PageSession] = WeakValueDictionary()  # by id


def owner_of(session_id: str) -> str | None:
    """Return the sign-in of a tab's session, also while its browser is away; None without one."""
    session = _sessions.get(session_id)
    return session.owner if session else None


def install() -> None:
    """Make each page use this session, with our message queue."""
    # Streamlit has no public hook for either.
    setattr(websocket_session_manager, "AppSession", PageSession)  # noqa: B010
    setattr(app_session, "ForwardMsgQueue", MessageQueue)  # noqa: B010


def _is_spinner(msg: ForwardMsg | None) -> bool:
    """Return whether a message shows that a run takes long: a person may go on meanwhile."""
    shown = () if msg is None else msg.delta.new_transient.elements
    return any(element.HasField("spinner") for element in shown)


def _clicked(states: WidgetStates) -> Clicked:
    return frozenset(one.id for one in states.widgets if _is_clicked(one))


def _remove(clicked: Clicked, states: WidgetStates) -> None:
    kept = [one for one in states.widgets if one.id not in clicked]
    del states.widgets[:]
    states.widgets.extend(kept)


def _is_clicked(widget: WidgetState) -> bool:
    return widget.WhichOneof("value") in _TRIGGERS

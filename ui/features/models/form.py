"""The form of the connection to models: test, save or remove it.

The result of an action stays under its button until the next action.
"""

from dataclasses import dataclass, field

import streamlit as st

from backend.schemas.connections import (
    ConnectionSource,
    ConnectionTest,
    ModelConnection,
    TestOutcome,
)
from backend.types import JSON
from ui import state
from ui.client import ClientError
from ui.features.models import calls, words
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

MEMORY = "model-connection"
SEEN = "model-connection-seen"  # when the connection that the fields started from was saved
CHANGED = 409
URL, KEY, MODEL, NO_KEY = "model-base-url", "model-api-key", "model-default", "model-no-key"


@dataclass
class Ended:
    """The result of the last action, and the models that the endpoint has listed."""

    test: ConnectionTest | None = None
    problem: ClientError | None = None
    notice: str = ""
    models: list[str] = field(default_factory=list)


def show(connection: ModelConnection) -> None:
    """Draw the fields and their buttons."""
    ended = _ended()
    is_saved = connection.source is ConnectionSource.PAGE
    _fill(connection)
    st.text_input(
        words.URL,
        key=URL,
        placeholder="https://api.openai.com/v1",
        help="An endpoint for OpenAI's chat completions API, usually ending in /v1. Empty: OpenAI."
        " http:// is unencrypted: use it only on this machine or a network you trust.",
    )
    has_key = is_saved and connection.has_key
    st.text_input(
        words.KEY,
        key=KEY,
        type="password",
        autocomplete="off",
        disabled=bool(st.session_state.get(NO_KEY)),
        placeholder="Stored; leave empty to keep it" if has_key else "None",
    )
    if has_key:
        st.checkbox("Delete the stored key: the endpoint needs none", key=NO_KEY)
    known = dict.fromkeys([*ended.models, st.session_state.get(MODEL)])
    st.selectbox(
        words.MODEL,
        [name for name in known if name],
        key=MODEL,
        index=None,
        accept_new_options=True,
        placeholder="Type a name, or run the test and choose",
        help="Used where a domain names none. Left empty, the test lists the endpoint's models.",
    )
    _actions(connection, is_saved)
    _result(ended)


def _fill(connection: ModelConnection) -> None:
    """Start with the connection in use; for the demo model, with empty fields."""
    if URL not in st.session_state or SEEN not in st.session_state:
        st.session_state[SEEN] = connection.saved_at
    if connection.source is not ConnectionSource.DEMO:
        st.session_state.setdefault(URL, connection.base_url)
        st.session_state.setdefault(MODEL, connection.default_model)


def _actions(connection: ModelConnection, is_saved: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Test", key="test-connection", icon=":material/network_check:", on_click=_test)
        st.button(
            "Save", key="save-connection", type="primary", icon=":material/save:", on_click=_save
        )
        if is_saved:
            helped = words.instead(connection)
            if st.button("Remove", key="remove-connection", icon=":material/undo:", help=helped):
                _confirm(connection)


@st.dialog("Remove this connection?", icon=":material/undo:")
def _confirm(connection: ModelConnection) -> None:
    """Ask for confirmation, because a removed key has to be typed again."""
    kept = " Its key is permanently deleted." if connection.has_key else ""
    st.markdown(f"**{words.used_words(connection)}**")
    st.caption(f"{words.instead(connection)}{kept}")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep-connection"):
            st.rerun()
        sign = ":material/undo:"
        if st.button("Remove", key="remove", type="primary", icon=sign, on_click=_remove):
            st.rerun()


def _result(ended: Ended) -> None:
    """Draw the result of the last action."""
    if ended.problem is not None:
        st.error(plain(words.refusal(ended.problem.detail), 1_000), icon=":material/error:")
    if ended.notice:
        st.success(ended.notice, icon=":material/check:")
    if (test := ended.test) is None:
        return
    if test.outcome is TestOutcome.OK:
        st.success(plain(test.detail, 1_000), icon=":material/check:")
        if test.models:
            named = ", ".join(plain(name, 100) for name in test.models)
            st.caption(f"The endpoint has {reader.number(len(test.models))} models: {named}")
        else:
            st.caption("The endpoint does not list its models.")
    else:
        st.error(plain(test.detail, 1_000), icon=":material/error:")


def _body() -> JSON:
    """Return the values of the fields, without those that are empty."""
    written = st.session_state
    body = {"base_url": str(written.get(URL) or "").strip()}
    if model := str(written.get(MODEL) or "").strip():
        body["default_model"] = model
    key = str(written.get(KEY) or "").strip()
    if written.get(NO_KEY):
        body["api_key"] = ""
    elif key:
        body["api_key"] = key
    return body


def _test() -> None:
    ended = _begin()
    try:
        ended.test = calls.test_connection(state.client(), _body())
        ended.models = ended.test.models or ended.models
    except ClientError as problem:
        ended.problem = problem


def _save() -> None:
    ended = _begin()
    try:
        if "default_model" not in (body := _body()):
            raise ClientError("No default model", "Enter a default model, or test and choose one.")
        saved = calls.save_connection(state.client(), body, st.session_state.get(SEEN))
    except ClientError as problem:
        ended.problem = problem
        if problem.status == CHANGED:
            st.session_state.pop(SEEN, None)  # the page now shows what applies instead
        return
    _forget_fields()
    ended.notice = f"Saved. From the next turn on: {words.used_words(saved)}."


def _remove() -> None:
    ended = _begin()
    try:
        calls.remove_connection(state.client())
    except ClientError as problem:
        ended.problem = problem
        return
    _forget_fields()
    ended.notice = "Removed, with its key. The environment's connection applies again."


def _forget_fields() -> None:
    """Reset the fields, so that the key stays neither in memory nor in the browser's field."""
    for name in (URL, MODEL):
        st.session_state.pop(name, None)
    st.session_state[KEY], st.session_state[NO_KEY] = "", False


def _ended() -> Ended:
    found: Ended = st.session_state.setdefault(MEMORY, Ended())
    return found


def _begin() -> Ended:
    """Clear the previous result, and return the place for the next."""
    st.session_state[MEMORY] = Ended(models=_ended().models)
    return _ended()

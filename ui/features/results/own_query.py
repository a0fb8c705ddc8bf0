"""A person's own query beside an agent's: run outside the conversation, its result kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import streamlit as st

from backend.tabular.sql_text import lay_out
from ui import state
from ui.client import ClientError
from ui.features.results import calls, view
from ui.features.results.origins import OwnQueryResult
from ui.shared.once import once
from ui.shared.text.markdown import plain

TOOLS = ("query_source", "make_chart")
MAX_KEPT_ROWS = 1_000
HEIGHT = 220


@dataclass
class Editor:
    """An open editor's result: a table, or why there is none; `asked` until there is either."""

    asked: tuple[str, str] | None = None
    result: OwnQueryResult | None = None
    problem: str = ""
    kept: str = ""


def query_of(name: str, arguments: Any) -> tuple[str, str] | None:
    """Return the source and SQL of a tool call that queries a source; None for any other."""
    if name not in TOOLS or not isinstance(arguments, Mapping):
        return None
    source, sql = arguments.get("source"), arguments.get("sql")
    return (source, sql) if isinstance(source, str) and isinstance(sql, str) else None


@st.fragment
def show(session_id: UUID, source: str, sql: str, call_id: UUID, key: str) -> None:
    """Draw the editor for this call's query."""
    editor = state.memory().own_queries.setdefault(call_id, Editor())
    _form(editor, source, sql, key)
    if editor.asked:
        # Here and not in the callback, for the spinner. A run that is broken off leaves `asked`.
        with st.spinner("Running…"):
            _run(editor, session_id, *editor.asked)
        editor.asked = None
    if editor.problem:
        st.error(editor.problem, icon=":material/error:")
    if editor.result is not None:
        view.show(editor.result.first, editor.result, f"own-{key}")
        _offer_to_keep(editor, editor.result, key)


def _form(editor: Editor, source: str, sql: str, key: str) -> None:
    st.text_input("Source", source, key=f"own-source-{key}", width=240)
    st.text_area("Your query", lay_out(sql), height=HEIGHT, key=f"own-sql-{key}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Run",
            key=f"own-run-{key}",
            type="primary",
            icon=":material/play_arrow:",
            on_click=_ask,
            args=(editor, key),
        )
        st.caption("Read only. The conversation does not change.")


def _offer_to_keep(editor: Editor, result: OwnQueryResult, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Title", str(result.first["title"]), key=f"own-title-{key}", max_chars=200)
        st.button(
            "Keep as artifact",
            key=f"own-keep-{key}",
            icon=":material/bookmark_add:",
            help="All rows, with the query, among this session's artifacts",
            on_click=_keep,
            args=(editor, result, key),
        )
    if editor.kept:
        st.success(f"Kept among this session's artifacts: {plain(editor.kept, 200)}")


def _keep(editor: Editor, result: OwnQueryResult, key: str) -> None:
    """Keep a result once, however often that is clicked."""
    title = str(st.session_state[f"own-title-{key}"]).strip()
    asked = (state.client(), result.session_id, result.source, result.sql, title)
    try:
        editor.kept = once(("kept", *asked[1:]), calls.keep_query, *asked).title
        editor.problem = ""
    except ClientError as error:
        editor.problem = plain(error.detail or error.title, 2_000)


def _ask(editor: Editor, key: str) -> None:
    source, sql = (st.session_state[f"own-{name}-{key}"] for name in ("source", "sql"))
    editor.asked = (source.strip(), sql)


def _run(editor: Editor, session_id: UUID, source: str, sql: str) -> None:
    editor.result, editor.problem, editor.kept = None, "", ""
    if not source or not sql.strip():
        editor.problem = "Enter a query and the name of its source."
        return
    try:
        table = calls.run_query(state.client(), session_id, source, sql).model_dump()
    except ClientError as error:
        editor.problem = plain(error.detail or error.title, 2_000)
        return
    first = {**table, "rows": table["rows"][:MAX_KEPT_ROWS]}
    editor.result = OwnQueryResult(session_id, source, sql, first)

"""The current state of a domain's tool servers, and their tools."""

from uuid import UUID

import streamlit as st

from backend.schemas.domains.servers import ServerReport, ServersReport, ServerTool, VersionStatus
from ui import state
from ui.client import ClientError
from ui.features.servers.calls import check_servers
from ui.features.servers.words import EFFECTS, pause_words, server_words
from ui.shared import banners
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

WITHHELD = {
    VersionStatus.PENDING: "waiting for a decision",
    VersionStatus.REFUSED: "refused",
}


def show(domain_id: UUID) -> None:
    """Check the servers and draw the result; it is kept until the next check."""
    reports = state.memory().server_reports
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Servers", anchor=False)
        st.button(
            "Check again",
            key="look-again",
            type="tertiary",
            icon=":material/refresh:",
            on_click=_forget,
            args=(domain_id,),
        )
    report = reports.get(domain_id) or _look(domain_id)
    if report is None:
        return
    reports[domain_id] = report
    for server in report.items:
        with st.container(border=True):
            _server(server)
    st.caption(f"Checked by the worker {plain(report.worker, 80)}.")


def _forget(domain_id: UUID) -> None:
    state.memory().server_reports.pop(domain_id, None)


def _look(domain_id: UUID) -> ServersReport | None:
    try:
        with st.spinner("A worker is checking the servers…"):
            return check_servers(state.client(), domain_id)
    except ClientError as error:
        banners.error(error)
        return None


def _server(server: ServerReport) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(server.name, 80)}**")
        if server.answers:
            st.badge("Answers", color="green", icon=":material/check:")
        else:
            st.badge("Missing", color="red", icon=":material/error:")
    st.caption(server_words(server))
    if server.problem:
        problem = plain(server.problem[:1].upper() + server.problem[1:], 500)
        st.markdown(f"{problem.rstrip('.')}. Turns continue without its tools.")
    if pause := pause_words(server):
        st.caption(f":material/pause_circle: {pause}")
    for notice in server.notices:
        st.caption(f":material/warning: {plain(notice, 1000)}")
    for tool in server.tools:
        _tool(server, tool)


def _tool(server: ServerReport, tool: ServerTool) -> None:
    parts = [f"**{plain(tool.name, 80)}**"]
    if tool.called != tool.name:
        parts.append(f"called {plain(tool.called, 80)}")
    parts.append(EFFECTS[tool.effect])
    if withheld := WITHHELD.get(tool.status):
        parts.append(f":orange[{withheld}]")
    key = f"{server.name}-{tool.name}"
    with st.expander(" · ".join(parts), type="compact"):
        long_text.verbatim(tool.description or "No description.", f"about-{key}")
        st.caption("Input")
        long_text.code(lay_out(tool.input_schema), f"schema-{key}", "json")

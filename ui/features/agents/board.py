"""All agents by domain: the manager and the others, with their tools, roles and models."""

from collections.abc import Iterable

import streamlit as st

from backend.schemas.domains.agents import AgentInfo, AgentPage, DomainAgents
from ui import state
from ui.features.agents import marks
from ui.shared import pager
from ui.shared.text.markdown import plain

MARK_WIDTH = 32
MOST_TOOLS = 12
TAKES_THE_REST = "Takes messages that are for no other agent: answers, asks, delegates and plans."


def show(page: AgentPage, cursors: list[str]) -> None:
    """Draw a page of domains, the default one first, with links to further pages."""
    if not page.items:
        st.caption("No domain accepts new sessions at the moment.")
    for domain in sorted(page.items, key=lambda each: not each.is_default):
        _domain(domain)
    with st.container(horizontal=True):
        pager.by_cursor(cursors, page.next_cursor, "agents", ("Earlier domains", "More domains"))


def _domain(domain: DomainAgents) -> None:
    with st.container(key=f"agents-of-{domain.domain_id}", gap="small"):
        st.subheader(plain(domain.domain, 80), anchor=False)
        if domain.description:
            st.caption(plain(domain.description, 300))
        if not domain.agents:
            st.caption("None of its agents is available to your role.")
        for agent in domain.agents:
            with st.container(border=True):
                _agent(agent)


def _agent(agent: AgentInfo) -> None:
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.image(marks.picture(agent.name), width=MARK_WIDTH, alt="")
        with st.container(gap="xsmall", width="stretch"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{plain(agent.name, 80)}**", width="content")
                if agent.is_manager:
                    st.badge("Manager", icon=":material/hub:", color="gray")
            if description := agent.description or (TAKES_THE_REST if agent.is_manager else ""):
                st.markdown(plain(description, 600))
            st.caption("  \n".join(_facts(agent)))


def _facts(agent: AgentInfo) -> Iterable[str]:
    """Yield the agent's tools, roles and model, a line each."""
    yield f":material/build: {_tools(agent)}"
    yield f":material/person: For {', '.join(_names(agent.roles)) if agent.roles else 'everyone'}"
    yield f":material/bolt: {plain(agent.model or state.server().model, 80)}"


def _tools(agent: AgentInfo) -> str:
    servers = [f"all tools of the server {name}" for name in _names(agent.servers)]
    more = len(agent.tools) - MOST_TOOLS
    rest = [f"{more} more"] if more > 0 else []
    return ", ".join([*_names(agent.tools[:MOST_TOOLS]), *rest, *servers]) or "No tools of its own"


def _names(names: Iterable[str] | None) -> list[str]:
    return [plain(name, 80) for name in names or ()]

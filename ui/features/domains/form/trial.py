"""Tries a domain before it is saved: which tools answer, and what its model would be sent."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar
from uuid import UUID

import streamlit as st

from backend.schemas.domains.configuration import TemplateCheck
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServerReport, ServersReport
from backend.types import JSON
from ui import state
from ui.client import Client, ClientError
from ui.features.domains import calls as domains
from ui.features.domains.form import body as bodies
from ui.features.domains.form import fields, saving
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About
from ui.features.servers.words import server_words
from ui.shared import banners
from ui.shared.text import long_text, yaml_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

QUESTION = About("Sample question", "It is neither sent to a model nor stored.")
AGENT = About("Agent", "The agent that would be asked.")
FIRST_QUESTION = "What can you do?"
ROLES = {"system": "System prompt", "user": "Person", "assistant": "Agent", "tool": "Tool"}
INVALID = 422
OUT_OF_DATE = ":orange[:material/history: The domain has changed since; check again.]"

T = TypeVar("T")


def servers(draft: Draft, domain_id: UUID | None) -> None:
    """Draw the button that connects to the servers of the draft, and the result."""
    if st.button(
        "Check which tools answer",
        key=f"{draft.name}-which-tools",
        icon=":material/network_ping:",
        help="Connects to each server, as a turn would, and lists its tools",
    ):
        try:
            with st.spinner("A worker is connecting to the servers…"):
                found = _tried(draft, domains.try_servers, trial_of(draft, domain_id))
            draft.servers = (deepcopy(draft.get(("mcp_servers",))), found)
        except ClientError as problem:
            banners.error(problem)
            return
    if draft.servers is not None:
        looked_at, found = draft.servers
        if looked_at != draft.get(("mcp_servers",)):
            st.caption(OUT_OF_DATE)
        _reports(found)


def _reports(found: ServersReport) -> None:
    for server in found.items:
        icon = ":green[:material/check_circle:]" if server.answers else ":red[:material/error:]"
        st.markdown(f"{icon} **{plain(server.name, 80)}** · {server_words(server)}")
        if server.problem:
            st.caption(_problem(server))
        for notice in server.notices:
            st.caption(f":material/warning: {plain(notice, 1000)}")
        for tool in server.tools:
            brief = plain(tool.description.strip().partition("\n")[0], 200)
            st.caption(f"**{plain(tool.called, 80)}**" + (f": {brief}" if brief else ""))


def _problem(server: ServerReport) -> str:
    problem = plain(str(server.problem), 500).rstrip(".")
    return f"{problem[:1].upper()}{problem[1:]}. Turns would go on without its tools."


def show(draft: Draft, domain_id: UUID | None) -> None:
    """Draw the dry run: a question, and the request that would be sent for it."""
    st.markdown("**What would the model be sent?**")
    st.caption(
        "Exactly the messages, tools and parameters of the first request for a question, from"
        " the current draft. Tool servers are contacted; no model is called and nothing is stored."
    )
    question, agent = _asked(draft)
    if st.button("Show it", key=f"{draft.name}-dry-run", icon=":material/science:"):
        body = {**trial_of(draft, domain_id), "question": question, "agent": agent}
        try:
            with st.spinner("A worker is building the request…"):
                found = _tried(draft, domains.try_request, body)
            draft.request = (deepcopy(body), found)
        except ClientError as problem:
            banners.error(problem)
            return
    if draft.request is not None:
        body, found = draft.request
        if body != {**trial_of(draft, domain_id), "question": question, "agent": agent}:
            st.caption(OUT_OF_DATE)
        _request(found, f"{draft.name}-sent")
    if draft.get(("mcp_servers",)):
        st.markdown("**Which tools answer?**")
        servers(draft, domain_id)


def image(check: TemplateCheck) -> None:
    """Draw the image that a new session would keep."""
    with st.expander("What a new session keeps", type="compact", icon=":material/inventory_2:"):
        if check.image is None:
            st.caption("Correct the errors first; *YAML* shows them at their lines.")
        else:
            st.caption("Its image. Values that are not set are the defaults.")
            long_text.code(yaml_text.write(check.image), "image", "yaml")


def trial_of(draft: Draft, domain_id: UUID | None) -> JSON:
    """Return the body of a trial: the draft, and the domain that it edits."""
    template = {"name": "draft", **draft.body}
    return {"template": template, "domain_id": str(domain_id) if domain_id else None}


def _tried(draft: Draft, call: Callable[[Client, JSON], T], body: JSON) -> T:
    """Return what the call finds out about a draft.

    Raise ClientError; the faults of the draft are in plain words, not in schema terms.
    """
    if draft.unread:
        raise ClientError("Not readable", draft.unread.message)
    try:
        return call(state.client(), body)
    except ClientError as problem:
        if problem.status != INVALID:
            raise
        faults = domains.check_template(state.client(), body["template"]).faults
        if not faults:
            raise
        raise ClientError(problem.title, saving.fault_words(faults), INVALID) from problem


def _asked(draft: Draft) -> tuple[str, str | None]:
    suggestions = draft.get(("suggestions",), [])
    first = next((each for each in suggestions if isinstance(each, str)), FIRST_QUESTION)
    key = f"{draft.name}-question"
    draft.bind(key, draft.question or first, draft.keep_question)
    with fields.beside(QUESTION):
        question = st.text_input(QUESTION.label, key=key)
    names = [bodies.get(agent, ("name",)) for agent in draft.get(("agents",), [])]
    if len(names) < 2:
        return question or first, None
    with fields.beside(AGENT):
        chosen: Any = st.selectbox(AGENT.label, names, key=f"{draft.name}-asked-agent")
    return question or first, chosen


def _request(found: FirstRequest, key: str) -> None:
    for notice in found.notices:
        st.warning(plain(notice, 1000), icon=":material/power_off:")
    if found.problem:
        st.error(f"A turn could not start. {plain(found.problem, 1000)}", icon=":material/error:")
        return
    if found.purpose != "answer":
        st.info(f"The middleware calls a model first, for its {plain(found.purpose, 80)}.")
    count = len(found.tools)
    st.markdown(
        f"**{plain(found.agent, 80)}** asks **{plain(found.model, 80)}**:"
        f" {len(found.messages)} messages, {count} tool{'' if count == 1 else 's'}"
    )
    for place, message in enumerate(found.messages):
        _message(message, f"{key}-{place}")
    for place, tool in enumerate(found.tools):
        _tool(tool, f"{key}-tool-{place}")
    with st.expander("Parameters", type="compact"):
        long_text.code(lay_out(found.settings), f"{key}-settings", "json")
    with st.expander("The whole request as JSON", type="compact"):
        whole = {**found.settings, "messages": found.messages, "tools": found.tools}
        long_text.code(lay_out(whole), f"{key}-whole", "json")


def _message(message: JSON, key: str) -> None:
    role, content = str(message.get("role")), message.get("content")
    st.caption(ROLES.get(role, plain(role, 40)))
    long_text.code(content if isinstance(content, str) else lay_out(content), key)


def _tool(tool: JSON, key: str) -> None:
    function = tool.get("function", {})
    with st.expander(f":material/build: {plain(str(function.get('name')), 80)}", type="compact"):
        long_text.verbatim(str(function.get("description") or "No description."), key)
        long_text.code(lay_out(function.get("parameters", {})), f"{key}-parameters", "json")

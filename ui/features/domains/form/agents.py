"""The agents of a domain and their manager: their own settings, and those of the domain."""

from math import ceil

import streamlit as st

from backend.schemas.domains.templates import ManagerTemplate
from ui.features.domains.form import fields, policies, rows
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

PATH: Path = ("agents",)
PER_PAGE = 10  # of a hundred agents with all their fields, each edit would take many seconds
MANAGER: Path = ("manager",)
NAME = About("Name", "Shown beside answers; with a manager, people can mention it with @.", "Anna")
DESCRIPTION = About("Description", "Its purpose.", "Reads ledgers and compares them.")
PROMPT = About("System prompt", "The agent's role. Empty: the domain's prompt.")
MODEL = About("Model", "You can type one that is not in the list.")
OWN_TOOLS = About("Only some tools", "Off: it has all tools of the domain.")
TOOLS = About("Tools", "Built-in tools, and those that tool servers have listed.")
ROLES = About("For whom", "Roles that may use it. None: everyone.")
KNOWN_ROLES = ("member", "admin")
OWN_MIDDLEWARE = About("Own middleware", "Off: the domain's. On: only the policies below.")
HAS_MANAGER = About(
    "This domain has a manager",
    "It takes messages that are for no other agent: answers, asks, delegates and plans. Off:"
    " messages go to the first agent.",
)
LABELS = {"approve_plans": "Approve plans", "artifact_characters": "Artifact characters"}
# Help for fields that the contract does not describe, or describes for programs.
MORE = {
    "name": "Shown beside answers, and mentioned with @. Empty: Sage.",
    "description": "Its purpose.",
    "system_prompt": "Its role, and how it decides. Empty: the domain's prompt.",
    "model": "You can type one that is not in the list.",
    "tools": "Tools that it may call. Empty: none.",
    "continuity_model": "Decides whether a message continues with the agent that answered last."
    " Empty: the manager's model.",
}


def show(draft: Draft, choices: Choices) -> None:
    """Draw each agent, a page at a time where there are many, and the button to add one."""
    entries = draft.get(PATH, [])
    if not entries:
        st.caption("With no agents listed, one answers with the domain's prompt and all its tools.")
    for place in _drawn(draft, len(entries)):
        with st.container(border=True):
            with rows.head():
                is_first = place == 0 and draft.get(MANAGER) is None
                mark = " · asked by default" if is_first else ""
                st.markdown(f"**Agent {place + 1}**{mark}", width="content")
                rows.buttons(draft, PATH, place, f"agent {place + 1}")
            fields.say(draft, (*PATH, place))
            _agent(draft, (*PATH, place), choices)
    fields.say(draft, PATH)
    taken = {entry.get("name") for entry in entries}
    st.button(
        "Add agent",
        key=draft.key("agents", "add"),
        icon=":material/add:",
        on_click=_add,
        args=(draft, rows.free_name("assistant", taken)),
    )


def show_manager(draft: Draft, choices: Choices) -> None:
    """Draw the switch and, with a manager, the fields below it."""
    is_on = draft.get(MANAGER) is not None
    fields.switch(draft, MANAGER, HAS_MANAGER, on={}, is_on=is_on)
    fields.say(draft, MANAGER)
    if draft.get(MANAGER) is None:
        return
    if not draft.get(("agents",)):
        st.caption(":material/info: There are no agents to delegate to yet.")
    fields.text(draft, (*MANAGER, "name"), _about("name"))
    fields.text(draft, (*MANAGER, "description"), _about("description"))
    fields.area(draft, (*MANAGER, "system_prompt"), _about("system_prompt"), height=200)
    _model(draft, "model", choices, "The domain's")
    fields.many(draft, (*MANAGER, "tools"), _about("tools"), choices.tools)
    _model(draft, "continuity_model", choices, "The manager's")
    for name in ("continuity_seconds", "recent_messages", "artifact_characters"):
        _number(draft, name)
    approves = bool(draft.get((*MANAGER, "approve_plans")))
    about = _about("approve_plans")
    fields.switch(draft, (*MANAGER, "approve_plans"), about, on=True, is_on=approves)
    fields.say(draft, (*MANAGER, "approve_plans"))
    _middleware(draft, (*MANAGER, "middleware"), choices)


def _drawn(draft: Draft, count: int) -> range:
    """Draw the choice of a page, if there are several; return the places of the agents on it."""
    pages, key = ceil(count / PER_PAGE), _page_key(draft)
    if pages < 2:
        return range(count)
    if st.session_state.get(key, 1) > pages:
        st.session_state[key] = pages
    first = PER_PAGE * (st.pagination(pages, key=key) - 1)
    return range(count)[first : first + PER_PAGE]


def _page_key(draft: Draft) -> str:
    return f"{draft.name}-agents-page"


def _add(draft: Draft, name: str) -> None:
    rows.add(draft, PATH, {"name": name})
    st.session_state[_page_key(draft)] = ceil(len(draft.get(PATH)) / PER_PAGE)


def _agent(draft: Draft, path: Path, choices: Choices) -> None:
    fields.text(draft, (*path, "name"), NAME)
    fields.text(draft, (*path, "description"), DESCRIPTION)
    fields.area(draft, (*path, "system_prompt"), PROMPT, placeholder="The domain's")
    fields.choice(draft, (*path, "model"), MODEL, choices.models, nothing="The domain's", new=True)
    _own(draft, (*path, "tools"), OWN_TOOLS, choices.tools, TOOLS)
    fields.many(draft, (*path, "roles"), ROLES, KNOWN_ROLES, empty="Everyone")
    _middleware(draft, (*path, "middleware"), choices)


def _own(draft: Draft, path: Path, switch: About, options: list[str], about: About) -> None:
    """Draw a switch for the agent's own list, and the list; otherwise the domain's applies."""
    fields.switch(draft, path, switch, on=[], is_on=draft.get(path) is not None)
    if draft.get(path) is not None:
        fields.many(draft, path, about, options, none_is_list=True)
    else:
        fields.say_below(draft, path)


def _middleware(draft: Draft, path: Path, choices: Choices) -> None:
    fields.switch(draft, path, OWN_MIDDLEWARE, on=[], is_on=draft.get(path) is not None)
    if isinstance(draft.get(path), list):
        policies.show(draft, path, choices)


def _model(draft: Draft, name: str, choices: Choices, nothing: str) -> None:
    path, models = (*MANAGER, name), choices.models
    fields.choice(draft, path, _about(name), models, nothing=nothing, new=True)


def _number(draft: Draft, name: str) -> None:
    spec = ManagerTemplate.model_fields[name]
    is_whole = spec.annotation is int
    fields.number(draft, (*MANAGER, name), _about(name), default=spec.default, whole=is_whole)


def _about(name: str) -> About:
    description = MORE.get(name) or ManagerTemplate.model_fields[name].description or ""
    return About(LABELS.get(name) or name.replace("_", " ").capitalize(), description)

"""The agents of a domain and their manager: what each has of its own, what is the domain's."""

import streamlit as st

from backend.schemas.domains.templates import ManagerTemplate
from ui.features.domains.form import fields, policies, rows
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

PATH: Path = ("agents",)
MANAGER: Path = ("manager",)
NAME = About(
    "Name", "People see it beside answers, and mention it with @ where there is a manager.", "Anna"
)
DESCRIPTION = About("Description", "What it is for.", "Reads ledgers and compares them.")
PROMPT = About("System prompt", "Who this agent is. Empty: the domain's.")
MODEL = About("Model", "One that the list does not have may be written.")
OWN_TOOLS = About("Only some tools", "Off: it has all of the domain's.")
TOOLS = About("Tools", "Built-in ones, and those that tool servers have answered with.")
ROLES = About("For whom", "Roles that may ask it. None: everyone.")
KNOWN_ROLES = ("member", "admin")
OWN_MIDDLEWARE = About("Middleware of its own", "Off: the domain's. On: these, and only these.")
HAS_MANAGER = About(
    "A manager",
    "It takes what is for no other agent: it answers, asks, delegates and plans. Off: a message"
    " goes to the first agent.",
)
LABELS = {"approve_plans": "Approve plans", "artifact_characters": "Characters of artifacts"}
# What the contract does not say of a manager alone.
MORE = {
    "name": "People see it beside answers, and mention it with @. Empty: Sage.",
    "description": "What it is for.",
    "system_prompt": "Who it is, and how it decides. Empty: the domain's.",
    "model": "One that the list does not have may be written.",
}


def show(draft: Draft, choices: Choices) -> None:
    """Draw each agent, and the way to add one."""
    entries = draft.get(PATH, [])
    if not entries:
        st.caption("Without any, one agent answers, with the domain's prompt and all its tools.")
    for place in range(len(entries)):
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
        on_click=rows.add,
        args=(draft, PATH, {"name": rows.free_name("assistant", taken)}),
    )


def show_manager(draft: Draft, choices: Choices) -> None:
    """Draw the switch, and below it the fields where there is a manager."""
    is_on = draft.get(MANAGER) is not None
    fields.switch(draft, MANAGER, HAS_MANAGER, on={}, is_on=is_on)
    fields.say(draft, MANAGER)
    if draft.get(MANAGER) is None:
        return
    if not draft.get(("agents",)):
        st.caption(":material/info: There are no agents yet that it could delegate to.")
    fields.text(draft, (*MANAGER, "name"), _about("name"), most=80)
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


def _agent(draft: Draft, path: Path, choices: Choices) -> None:
    fields.text(draft, (*path, "name"), NAME, most=80)
    fields.text(draft, (*path, "description"), DESCRIPTION)
    fields.area(draft, (*path, "system_prompt"), PROMPT, placeholder="The domain's")
    fields.choice(draft, (*path, "model"), MODEL, choices.models, nothing="The domain's", new=True)
    _own(draft, (*path, "tools"), OWN_TOOLS, choices.tools, TOOLS)
    fields.many(draft, (*path, "roles"), ROLES, KNOWN_ROLES, empty="Everyone")
    _middleware(draft, (*path, "middleware"), choices)


def _own(draft: Draft, path: Path, switch: About, options: list[str], about: About) -> None:
    """What is the domain's unless the agent has a list of its own."""
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
    said = ManagerTemplate.model_fields[name].description or MORE.get(name, "")
    return About(LABELS.get(name) or name.replace("_", " ").capitalize(), said)

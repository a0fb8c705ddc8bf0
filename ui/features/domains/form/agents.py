"""The agents of a domain: what each has of its own, and what is the domain's."""

import streamlit as st

from ui.features.domains.form import fields, policies, rows
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

PATH: Path = ("agents",)
NAME = About("Name", "People choose it above the composer, and see it beside answers.", "Anna")
DESCRIPTION = About("Description", "What it is for.", "Reads ledgers and compares them.")
PROMPT = About("System prompt", "Who this agent is. Empty: the domain's.")
MODEL = About("Model", "One that the list does not have may be written.")
OWN_TOOLS = About("Only some tools", "Off: it has all of the domain's.")
TOOLS = About("Tools", "Built-in ones, and those that tool servers have answered with.")
OWN_MIDDLEWARE = About("Middleware of its own", "Off: the domain's. On: these, and only these.")


def show(draft: Draft, choices: Choices) -> None:
    """Draw each agent, and the way to add one."""
    entries = draft.get(PATH, [])
    if not entries:
        st.caption("Without any, one agent answers, with the domain's prompt and all its tools.")
    for place in range(len(entries)):
        with st.container(border=True):
            with rows.head():
                mark = " · asked by default" if place == 0 else ""
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


def _agent(draft: Draft, path: Path, choices: Choices) -> None:
    fields.text(draft, (*path, "name"), NAME, most=80)
    fields.text(draft, (*path, "description"), DESCRIPTION)
    fields.area(draft, (*path, "system_prompt"), PROMPT, placeholder="The domain's")
    fields.choice(draft, (*path, "model"), MODEL, choices.models, nothing="The domain's", new=True)
    _own(draft, (*path, "tools"), OWN_TOOLS, choices.tools, TOOLS)
    has_own = draft.get((*path, "middleware")) is not None
    fields.switch(draft, (*path, "middleware"), OWN_MIDDLEWARE, on=[], is_on=has_own)
    if isinstance(draft.get((*path, "middleware")), list):
        policies.show(draft, (*path, "middleware"), choices)


def _own(draft: Draft, path: Path, switch: About, options: list[str], about: About) -> None:
    """What is the domain's unless the agent has a list of its own."""
    fields.switch(draft, path, switch, on=[], is_on=draft.get(path) is not None)
    if draft.get(path) is not None:
        fields.many(draft, path, about, options, none_is_list=True)
    else:
        fields.say_below(draft, path)

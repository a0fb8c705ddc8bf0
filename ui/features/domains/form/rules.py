"""Rules for tools: which calls run, which need a person's decision, which never run."""

from collections.abc import Mapping

import streamlit as st

from backend.schemas.approvals import ASK_SETTINGS, DecisionType
from ui.features.domains.form import body as bodies
from ui.features.domains.form import fields, rows
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import ALL_OF_THEM, Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

POLICY = "approvals"
FIRST: Mapping[str, str] = {"tools": ALL_OF_THEM, "action": "ask"}
ACTIONS = {"allow": "Run it", "ask": "Ask a person first", "deny": "Never run it"}
TOOLS = About("Tools", "A tool's name, or a pattern. An asterisk matches any tool.", "mail_\\*")
ACTION = About("What happens", "The first rule that matches a tool applies.")
DECISIONS = About("Allowed decisions", "Empty: all of them.")
EXPIRES = About(
    "Seconds to decide",
    "After that, the call is not run and the agent is told. Empty: no time limit.",
    "86400, a day",
)
SAID = About("Note to the person", "Shown beside the call.", "Check the amount and the account.")


def show_domain(draft: Draft, choices: Choices) -> None:
    """Draw the rules in the domain's middleware, or the button to add the first one."""
    st.caption(
        "Which tool calls run without asking, and which need a person's decision first. A tool"
        " that no rule matches runs. Agents with their own middleware have their own rules there."
    )
    place = bodies.find_policy(draft.get(("middleware",)), POLICY)
    if place is None:
        st.button(
            "Add rule",
            key=draft.key("rules", "first"),
            icon=":material/add:",
            on_click=rows.add,
            args=(draft, ("middleware",), {POLICY: {"rules": [dict(FIRST)]}}),
            kwargs={"first": True},
        )
        return
    show(draft, ("middleware", place, POLICY, "rules"), choices)


def show(draft: Draft, path: Path, choices: Choices) -> None:
    """Draw the rules in order, and the button to add another."""
    entries = draft.get(path, [])
    if not (isinstance(entries, list) and all(isinstance(each, dict) for each in entries)):
        st.caption("The form cannot show this value; edit it in *YAML*.")
        fields.say_below(draft, path)
        return
    for place in range(len(entries)):
        with st.container(border=True):
            with rows.head():
                st.markdown(f"**Rule {place + 1}**", width="content")
                rows.buttons(draft, path, place, f"rule {place + 1}", needed_by=path[:-2])
            _rule(draft, (*path, place), choices)
    fields.say(draft, path)
    st.button(
        "Add rule",
        key=draft.key(*path, "add"),
        icon=":material/add:",
        on_click=rows.add,
        args=(draft, path, dict(FIRST)),
    )


def _rule(draft: Draft, path: Path, choices: Choices) -> None:
    tools = [ALL_OF_THEM, *choices.tools]
    fields.choice(draft, (*path, "tools"), TOOLS, tools, new=True)

    def act(action: str) -> None:
        rule = draft.get(path)
        kept = {n: v for n, v in rule.items() if action == "ask" or n not in ASK_SETTINGS}
        draft.put(path, {**kept, "action": action})

    fields.choice(draft, (*path, "action"), ACTION, list(ACTIONS), words=ACTIONS, write=act)
    fields.say(draft, path)
    if draft.get((*path, "action")) == "ask" or draft.get(path).keys() & set(ASK_SETTINGS):
        options = [each.value for each in DecisionType]
        fields.many(
            draft,
            (*path, "decisions"),
            DECISIONS,
            options,
            new=False,
            words=str.title,
            empty="All",
        )
        fields.number(draft, (*path, "expires_seconds"), EXPIRES, nothing="No limit")
        fields.text(draft, (*path, "description"), SAID)

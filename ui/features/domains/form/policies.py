"""Middleware as a list: what each policy does, its settings, and its place in the order."""

from typing import Any

import streamlit as st

from backend.schemas.domains.configuration import CatalogPolicy
from backend.types import JSON
from ui.features.domains.form import body as bodies
from ui.features.domains.form import fields, rows, rules
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About
from ui.shared.text.markdown import plain

TOOLS, MODELS = ("tool", "tools", "never"), ("model", "models")


def show(draft: Draft, path: Path, choices: Choices, *, rules_elsewhere: bool = False) -> None:
    """Draw each policy of a list in order, and the button to add another."""
    entries = draft.get(path, [])
    for place, entry in enumerate(entries):
        with st.container(border=True):
            _policy(draft, (*path, place), bodies.policy_name(entry), choices, rules_elsewhere)
    fields.say(draft, path)
    _add(draft, path, choices)


def words(name: str) -> str:
    """Return a policy's name as a label."""
    return name.replace("_", " ").capitalize()


def _policy(draft: Draft, path: Path, name: str, choices: Choices, rules_elsewhere: bool) -> None:
    spec, place = choices.policy(name), int(path[-1])
    with rows.head():
        st.markdown(f"**{place + 1}. {plain(words(name), 80)}**", width="content")
        rows.buttons(draft, path[:-1], place, plain(words(name), 80))
    if spec is None:
        st.caption(f":red[:material/error: There is no middleware named {plain(name, 80)}.]")
    else:
        st.caption(plain(spec.description, 1000))
    fields.say(draft, path)
    fields.say(draft, (*path, name))
    if name == rules.POLICY:
        _rules(draft, (*path, name, "rules"), choices, rules_elsewhere)
    elif spec is not None and spec.settings.get("properties"):
        settings = draft.get((*path, name), {})
        wrong = any(tuple(fault.path)[: len(path)] == path for fault in draft.faults)
        with st.expander("Settings", type="compact", expanded=bool(settings) or wrong):
            for setting, schema in spec.settings["properties"].items():
                _setting(draft, (*path, name, setting), schema, choices)


def _rules(draft: Draft, path: Path, choices: Choices, rules_elsewhere: bool) -> None:
    if rules_elsewhere:
        count = len(draft.get(path, []))
        st.caption(f"{count} rule{'' if count == 1 else 's'}: see *Rules*.")
    else:
        rules.show(draft, path, choices)


def _setting(draft: Draft, path: Path, schema: JSON, choices: Choices) -> None:
    name, kind = str(path[-1]), _kind(schema)
    default = schema.get("default")
    about = About(words(name), plain(schema.get("description", ""), 400))
    if kind in ("integer", "number"):
        fields.number(draft, path, about, default=default, whole=kind == "integer")
    elif kind == "enum":
        first = f"{default} (default)" if default is not None else None
        fields.choice(draft, path, about, _options(schema), nothing=first)
    elif kind == "array":
        empty = "All" if default is None and name in TOOLS else "None"
        fields.many(draft, path, about, _known(name, choices), empty=empty)
    elif name in (*TOOLS, *MODELS):
        nothing = "The agent's" if name in MODELS else "All"
        fields.choice(draft, path, about, _known(name, choices), nothing=nothing, new=True)
    elif kind == "boolean":
        fields.switch(draft, path, about, on=True, is_on=bool(draft.get(path)))
    else:
        fields.area(draft, path, about, placeholder=str(default) if default else None)


def _add(draft: Draft, path: Path, choices: Choices) -> None:
    taken = {bodies.policy_name(entry) for entry in draft.get(path, [])}
    free = [policy for policy in choices.catalog.middleware if policy.name not in taken]
    if not free:
        return
    with st.popover("Add middleware", icon=":material/add:"):
        for policy in free:
            with st.container(gap=None):
                st.button(
                    words(policy.name),
                    key=draft.key(*path, "add", policy.name),
                    type="tertiary",
                    icon=":material/add:",
                    on_click=rows.add,
                    args=(draft, path, _first(policy)),
                )
                st.caption(plain(policy.description.partition("\n")[0], 300))


def _first(policy: CatalogPolicy) -> Any:
    if policy.name == rules.POLICY:
        return {rules.POLICY: {"rules": [dict(rules.FIRST)]}}
    return policy.name


def _known(name: str, choices: Choices) -> list[str]:
    return choices.models if name in MODELS else choices.tools if name in TOOLS else []


def _kind(schema: JSON) -> str:
    if "enum" in schema:
        return "enum"
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return _kind(option)
    return str(schema.get("type", "string"))


def _options(schema: JSON) -> list[str]:
    return [str(each) for each in schema.get("enum", ()) if each != schema.get("default")]

"""The form of a domain: a tab for each part; only the open one is drawn."""

from collections.abc import Callable

import streamlit as st

from backend.schemas.domains.templates import Domain
from ui import state
from ui.features.domains import calls as domains
from ui.features.domains.form import (
    agents,
    basics,
    body,
    choices,
    fields,
    limits,
    policies,
    rules,
    tools,
)
from ui.features.domains.form.draft import Draft
from ui.shared.text.markdown import plain

BASICS, TOOLS, AGENTS, MANAGER = "Basics", "Tools", "Agents", "Manager"
MIDDLEWARE, RULES, LIMITS = "Middleware", "Rules", "Limits"
SECTIONS = [BASICS, TOOLS, AGENTS, MANAGER, MIDDLEWARE, RULES, LIMITS]
HELD = {  # what each section edits
    TOOLS: ("tools", "mcp_servers"),
    AGENTS: ("agents",),
    MANAGER: ("manager",),
    MIDDLEWARE: ("middleware",),
    RULES: ("middleware",),
    LIMITS: ("limits",),
    BASICS: ("suggestions",),
}
ABOUT_MIDDLEWARE = (
    "Policies that change what the model reads or what tools do, in order: the first is the"
    " outermost. Without any, the model reads exactly the prompt and the conversation."
)


def show(draft: Draft, domain: Domain | None) -> None:
    """Draw the section that is open."""
    if draft.unread is not None:
        _unread(draft)
        return
    key = f"section-{draft.name}"
    st.session_state.setdefault(key, draft.section or BASICS)
    tabs = st.tabs(SECTIONS, key=key, on_change="rerun")
    offered = choices.of(draft, domain, domains.get_catalog(state.client()))
    parts: dict[str, Callable[[], None]] = {
        BASICS: lambda: basics.show(draft, offered),
        TOOLS: lambda: tools.show(draft, offered, domain.id if domain else None),
        AGENTS: lambda: agents.show(draft, offered),
        MANAGER: lambda: agents.show_manager(draft, offered),
        MIDDLEWARE: lambda: _middleware(draft, domain, offered),
        RULES: lambda: rules.show_domain(draft, offered),
        LIMITS: lambda: limits.show(draft),
    }
    odd = set(body.misshapen(draft.body))
    for section, tab in zip(SECTIONS, tabs, strict=True):
        if tab.open:
            draft.section = section
            with tab:
                if wrong := odd & set(HELD[section]):
                    _misshapen(draft, sorted(wrong))
                else:
                    parts[section]()


def _middleware(draft: Draft, domain: Domain | None, offered: choices.Choices) -> None:
    st.caption(ABOUT_MIDDLEWARE)
    if domain is None and draft.get(("middleware",)) == list(body.FIRST_MIDDLEWARE):
        st.caption(
            ":material/auto_awesome: A new domain starts with these two, which suit most uses: they"
            " keep long conversations within what a model can read, and give them a title. Remove"
            " what you do not want."
        )
    policies.show(draft, ("middleware",), offered, rules_elsewhere=True)


def _unread(draft: Draft) -> None:
    st.warning(
        "The YAML cannot be read, so the form cannot show it. Correct it under *YAML*; nothing"
        " is lost.",
        icon=":material/data_object:",
    )
    st.caption(plain(draft.unread.message if draft.unread else "", 600))
    st.button(
        "Go back to the form's version",
        key=f"{draft.name}-forget-text",
        on_click=draft.forget_text,
    )


def _misshapen(draft: Draft, names: list[str]) -> None:
    """Report values that have no fields because of their type, such as a text instead of a list."""
    for name in names:
        st.warning(
            f"The form cannot show the value of `{name}`. Correct it under *YAML*.",
            icon=":material/data_object:",
        )
        fields.say_below(draft, (name,))

"""The limits of turns, sessions and the domain, and how long sessions are kept."""

import streamlit as st

from backend.schemas.domains.templates import Limits
from ui.features.domains.form import fields
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

MORE = {
    "steps": "After this many steps a turn ends with an explanation. A step is one answer of the"
    " model, or the tools that it called.",
    "turn_seconds": "The longest a turn may take: 14,400 is four hours.",
    "tool_seconds": "A tool call that takes longer is abandoned, and the agent is told.",
    "cost": "By the prices of models, on the page Models.",
}
GROUPS = {
    "One turn": ("steps", "turn_seconds", "tool_seconds", "tokens", "cost"),
    "One session": ("conversation_tokens", "conversation_cost"),
    "The domain per month": ("domain_tokens_per_month", "domain_cost_per_month"),
}
DAYS = About(
    "Days without activity",
    "Sessions are deleted after this time without activity. Empty: the default from the settings.",
    "90",
)


def show(draft: Draft) -> None:
    """Draw a field for each limit; an empty one means no limit, or the default."""
    st.caption("An empty field means no limit, or the default it shows.")
    for title, names in GROUPS.items():
        st.markdown(f"**{title}**")
        for name in names:
            _limit(draft, name)
    st.markdown("**How long sessions are kept**")
    fields.number(draft, ("retention_days",), DAYS, nothing="The default")
    fields.say(draft, ("limits",))


def _limit(draft: Draft, name: str) -> None:
    spec = Limits.model_fields[name]
    label = name.replace("conversation", "session").replace("_", " ").capitalize()
    about = About(label, MORE.get(name, spec.description or ""))
    is_whole = "float" not in str(spec.annotation)
    fields.number(draft, ("limits", name), about, default=spec.default, whole=is_whole)

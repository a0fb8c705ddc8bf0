"""What turns, sessions and the domain may use, and how long sessions are kept."""

import streamlit as st

from backend.schemas.domains.templates import Limits
from ui.features.domains.form import fields
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About

MORE = {
    "steps": "A turn that has made so many steps ends with a sentence. A step is one answer of the"
    " model, or the tools that it called.",
    "turn_seconds": "How long a turn may take in all: 14,400 is four hours.",
    "tool_seconds": "A tool that takes longer is given up; the agent is told.",
    "cost": "By MODEL_PRICES of the settings.",
}
GROUPS = {
    "One turn": ("steps", "turn_seconds", "tool_seconds", "tokens", "cost"),
    "One session": ("conversation_tokens", "conversation_cost"),
    "The domain in a month": ("domain_tokens_per_month", "domain_cost_per_month"),
}
DAYS = About(
    "Days without use",
    "Sessions that nobody has used for so long are deleted. Empty: as the settings say.",
    "90",
)


def show(draft: Draft) -> None:
    """Draw a field for each limit; an empty one is no limit, or the default."""
    st.caption("A field that is left empty sets no limit, or the default that it shows.")
    for title, names in GROUPS.items():
        st.markdown(f"**{title}**")
        for name in names:
            _limit(draft, name)
    st.markdown("**How long sessions are kept**")
    fields.number(draft, ("retention_days",), DAYS)
    fields.say(draft, ("limits",))


def _limit(draft: Draft, name: str) -> None:
    spec = Limits.model_fields[name]
    about = About(name.replace("_", " ").capitalize(), MORE.get(name, spec.description or ""))
    is_whole = "float" not in str(spec.annotation)
    fields.number(draft, ("limits", name), about, default=spec.default, whole=is_whole)

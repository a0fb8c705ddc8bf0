"""What one browser tab remembers of domains: which is open, what was typed and not saved yet.

A form that is left keeps what was typed, also where its fields are not drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

NEW = "new"  # in place of a domain's id in the URL
CHOSEN = "chosen-domain"
_FORMS = "domain-forms"


@dataclass(eq=False)
class Form:
    """The values of a form by field, and those that it began with, of a version of the thing."""

    name: str
    version: int
    before: dict[str, Any]
    values: dict[str, Any]

    @property
    def changed(self) -> set[str]:
        """The fields that were changed."""
        return {field for field, value in self.values.items() if value != self.before.get(field)}

    def key(self, field: str) -> str:
        """Return the key of a field's widget."""
        return f"{self.name}-{field}"

    def restore(self) -> None:
        """Give the widgets, which are about to be drawn, their values again."""
        for field, value in self.values.items():
            self.values[field] = st.session_state.setdefault(self.key(field), value)

    def rebase(self, version: int, stored: Mapping[str, Any]) -> None:
        """Go on from a newer version: what was changed here stays, the rest becomes as stored."""
        kept = self.changed
        for field, value in stored.items():
            if field not in kept:
                self.values[field] = value
                st.session_state.pop(self.key(field), None)
        self.version, self.before = version, dict(stored)


def open_form(name: str, version: int, stored: Mapping[str, Any]) -> Form:
    """Return the form as it was left, else one that begins with what is stored."""
    forms = _forms()
    form = forms.get(name)
    if form is not None:
        form.restore()
    if form is None or (form.version != version and not form.changed):
        close_form(name)
        form = forms[name] = Form(name, version, dict(stored), dict(stored))
        form.restore()
    return form


def close_form(name: str) -> None:
    """Forget what was typed: it is saved, or not wanted."""
    form = _forms().pop(name, None)
    for field in form.values if form else ():
        st.session_state.pop(f"{name}-{field}", None)


def open_domain() -> str | None:
    """Return the id of the domain that the URL names, or NEW; None: all of them are listed."""
    return st.query_params.get("domain") or None


def show_domain(domain_id: object) -> None:
    """Put a domain into the URL; for callbacks."""
    st.query_params["domain"] = str(domain_id)


def show_all() -> None:
    """Take the domain out of the URL; for callbacks."""
    st.query_params.pop("domain", None)


def chosen() -> str | None:
    """Return the domain that the next new chat is made from; None: the default one."""
    return st.session_state.get(CHOSEN)


def version_page(key: str) -> int | None:
    """Before which version a list of versions begins; None: with the latest."""
    return st.session_state.get(key)


def turn_versions(key: str, before: int | None) -> None:
    """Show another page of versions."""
    st.session_state[key] = before


def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = st.session_state.setdefault(_FORMS, {})
    return forms

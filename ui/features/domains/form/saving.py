"""Saves a draft as a new version, discards it, or merges it with another person's version."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from backend.schemas.domains.configuration import Fault, TemplateCheck
from backend.schemas.domains.templates import Domain
from ui import state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.features.domains import state as domain_state
from ui.features.domains.form import body as bodies
from ui.features.domains.form.draft import Draft, close_draft, find_draft, open_draft
from ui.shared.once import once
from ui.shared.text.markdown import plain

SECTIONS = {
    **dict.fromkeys(("name", "description", "model", "models"), "Basics"),
    **dict.fromkeys(("system_prompt", "suggestions"), "Basics"),
    "mcp_servers": "Tools",
    "tools": "Tools",
    "agents": "Agents",
    "manager": "Manager",
    "middleware": "Middleware",
    "limits": "Limits",
    "retention_days": "Limits",
}
MOST_FAULTS = 10


def open_it(domain: Domain | None) -> tuple[Draft, TemplateCheck]:
    """Return the draft of a domain, or of a new one, as it was left, and the check of it.

    Faults of a new domain are shown only after an attempt to save it, or once it is filled in.
    """
    stored = bodies.said_by(domain) if domain else bodies.new_body()
    draft = open_draft(
        _name(domain.id if domain else None), domain.version if domain else 0, stored
    )
    check = domains.check_template(state.client(), draft.body)
    is_new = domain is None and not draft.was_sent
    draft.faults = [f for f in check.faults if not (is_new and f.path == ["name"])]
    draft.warnings = check.warnings
    return draft, check


def of_deleted(domain_id: UUID) -> None:
    """Show what was typed for a domain that somebody else has deleted meanwhile."""
    draft = find_draft(_name(domain_id))
    if draft is not None and draft.changed:
        st.warning(
            "It was deleted while you edited it. This is what you had: copy it, and paste it into"
            " the *YAML* of a new domain to keep it.",
            icon=":material/delete:",
        )
        st.code(draft.yaml(), "yaml")


def newer_version(domain: Domain | None, draft: Draft) -> None:
    """Report a version saved by another person, and offer to merge or to discard."""
    if domain is None or draft.version == domain.version:
        return
    with st.container(border=True):
        st.warning(
            f"Version {domain.version} was saved while you edited version {draft.version}. What you"
            " typed is kept. *Versions* shows what is new.",
            icon=":material/merge:",
        )
        with st.container(horizontal=True):
            st.button(
                f"Continue from version {domain.version}",
                key=f"{draft.name}-rebase",
                help="Keeps the fields you changed and takes the others from the saved version",
                on_click=draft.rebase,
                args=(domain.version, bodies.said_by(domain)),
            )
            st.button(
                "Discard my changes",
                key=f"{draft.name}-drop",
                on_click=close_draft,
                args=(draft.name,),
            )


def actions(domain: Domain | None, draft: Draft) -> None:
    """Draw the save buttons, whether there are unsaved changes, and faults in other sections."""
    _elsewhere(draft)
    with st.container(horizontal=True, vertical_alignment="center"):
        # Never disabled: a text counts as changed only when its field loses focus, as by this
        # click.
        st.button(
            "Save" if domain else "Create",
            key=f"{draft.name}-save",
            type="primary",
            icon=":material/save:",
            on_click=_save,
            args=(domain.id if domain else None, draft),
        )
        if draft.changed:
            st.button(
                "Discard",
                key=f"{draft.name}-discard",
                on_click=close_draft,
                args=(draft.name,),
            )
            st.caption("Not saved yet")


def _name(domain_id: UUID | None) -> str:
    return f"domain-{domain_id or domain_state.NEW}"


def _elsewhere(draft: Draft) -> None:
    """Draw the faults that no visible field has shown; those of a text before this one are none."""
    if draft.unread:
        return
    rest = [fault for fault in draft.faults if fault not in draft.said]
    for fault in rest[:MOST_FAULTS]:
        where = plain(bodies.place_words(fault.path), 300)
        section = SECTIONS.get(str(fault.path[0]) if fault.path else "")
        there = f" See *{section}*." if section and section != draft.section else ""
        message = plain(fault.message, 600)
        st.caption(f":red[:material/error: {where}: {message}]{there}")
    if len(rest) > MOST_FAULTS:
        st.caption(f"And {len(rest) - MOST_FAULTS} more: see *YAML* for all of them.")


def _save(domain_id: UUID | None, draft: Draft) -> None:
    """Save a draft once: the second click of a double click finds it saved and reports the same."""
    with state.flashing():
        saved = once(draft, _send, domain_id, draft)
        close_draft(draft.name)
        domain_state.show_domain(saved.id)
        state.say(
            f"Saved as version {saved.version}. New sessions use it; existing ones keep theirs."
        )


def _send(domain_id: UUID | None, draft: Draft) -> Domain:
    draft.absorb()
    draft.was_sent = True
    _refuse_faults(draft)
    if domain_id is None:
        return domains.create_domain(state.client(), draft.body)
    change = bodies.change_of(draft.before, draft.body)
    return domains.change_domain(state.client(), domain_id, {**change, "version": draft.version})


def _refuse_faults(draft: Draft) -> None:
    """Raise the faults in plain words, before the service refuses them in schema terms."""
    if draft.unread:
        raise ClientError("Not saved", draft.unread.message)
    check = domains.check_template(state.client(), draft.body)
    if check.faults:
        raise ClientError("Not saved", fault_words(check.faults))


def fault_words(faults: Sequence[Fault]) -> str:
    """Return the first of the faults with its place, and how many more there are."""
    first, more = faults[0], len(faults) - 1
    rest = f" And {more} more." if more else ""
    return f"{bodies.place_words(first.path)}: {first.message}{rest}"

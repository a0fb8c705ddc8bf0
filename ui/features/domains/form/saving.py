"""Keeping what was typed: saved as a new version, discarded, or joined with somebody else's."""

from uuid import UUID

import streamlit as st

from backend.schemas.domains.configuration import TemplateCheck
from backend.schemas.domains.templates import Domain
from ui import state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.features.domains import state as domain_state
from ui.features.domains.form import body as bodies
from ui.features.domains.form.draft import Draft, close_draft, open_draft
from ui.shared.once import once
from ui.shared.text.markdown import plain

SECTIONS = {
    "mcp_servers": "Tools",
    "tools": "Tools",
    "agents": "Agents",
    "manager": "Manager",
    "limits": "Limits",
}
MOST_FAULTS = 10


def open_it(domain: Domain | None) -> tuple[Draft, TemplateCheck]:
    """Return the draft of a domain, or of a new one, as it was left; and what would become of it.

    What is wrong with a new one is said once somebody has tried to save it, or has filled it in.
    """
    stored = bodies.said_by(domain) if domain else bodies.new_body()
    name = f"domain-{domain.id if domain else domain_state.NEW}"
    draft = open_draft(name, domain.version if domain else 0, stored)
    check = domains.check_template(state.client(), draft.body)
    is_new = domain is None and not draft.was_sent
    draft.faults = [f for f in check.faults if not (is_new and f.path == ["name"])]
    draft.warnings = check.warnings
    return draft, check


def newer_version(domain: Domain | None, draft: Draft) -> None:
    """Say that somebody else has saved meanwhile, and offer both ways to go on."""
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
                f"Go on from version {domain.version}",
                key=f"{draft.name}-rebase",
                help="What you changed stays, the other fields become as they were saved",
                on_click=draft.rebase,
                args=(domain.version, bodies.said_by(domain)),
            )
            st.button(
                "Discard what I typed",
                key=f"{draft.name}-drop",
                on_click=close_draft,
                args=(draft.name,),
            )


def actions(domain: Domain | None, draft: Draft) -> None:
    """Draw the way to save, what is not saved, and what is wrong elsewhere."""
    _elsewhere(draft)
    with st.container(horizontal=True, vertical_alignment="center"):
        # Never disabled: a text counts as changed only once its field is left, as by this click.
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


def _elsewhere(draft: Draft) -> None:
    """What no field in sight has said."""
    rest = [fault for fault in draft.faults if fault not in draft.said]
    for fault in rest[:MOST_FAULTS]:
        where = bodies.place_words(fault.path)
        section = SECTIONS.get(str(fault.path[0]) if fault.path else "")
        there = f" See *{section}*." if section and section != draft.section else ""
        said = plain(fault.message, 600)
        st.caption(f":red[:material/error: {where}: {said}]{there}")
    if len(rest) > MOST_FAULTS:
        st.caption(f"And {len(rest) - MOST_FAULTS} more: *YAML* names all of them.")


def _save(domain_id: UUID | None, draft: Draft) -> None:
    """Save a draft once: the second click of a double click finds it saved, and says the same."""
    try:
        saved = once(draft, _send, domain_id, draft)
    except ClientError as problem:
        state.flash(problem)
        return
    close_draft(draft.name)
    domain_state.show_domain(saved.id)
    state.say(
        f"Saved as version {saved.version}. New sessions begin with it; others keep what they have."
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
    """Raise what is wrong in words, before the service refuses it in those of its contract."""
    if draft.unread:
        raise ClientError("Not saved", draft.unread.message)
    check = domains.check_template(state.client(), draft.body)
    for fault in check.faults:
        where = bodies.place_words(fault.path)
        more = len(check.faults) - 1
        rest = f" And {more} more." if more else ""
        raise ClientError("Not saved", f"{where}: {fault.message}{rest}")

"""All domains with their actions; irreversible ones are confirmed first."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from backend.schemas.domains.templates import Domain
from ui import state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.features.domains import state as domain_state
from ui.shared import icons
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

DUPLICATE = ":material/content_copy: Duplicate"
DEFAULT = ":material/star: Make default"
ARCHIVE = ":material/archive: Archive"
RESTORE = ":material/unarchive: Restore"
DELETE = ":material/delete: Delete"


def show(items: list[Domain]) -> None:
    """Draw a row for each domain: those in use, then the archived ones."""
    for domain in sorted(items, key=lambda each: each.archived):
        with st.container(border=True, gap="small"):
            _row(domain)


def show_way_back() -> None:
    """Draw the button from one domain back to the list."""
    st.button(
        "All domains",
        key="all-domains",
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=domain_state.show_all,
    )


def marks(domain: Domain) -> None:
    """Draw the badges of a domain: default, archived."""
    if domain.is_default:
        st.badge("Default", icon=":material/star:", color="green")
    if domain.archived:
        st.badge("Archived", icon=":material/archive:", color="gray")


def _row(domain: Domain) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(horizontal=True, vertical_alignment="center", width="stretch"):
            # Not a link, because a link to the page that is already open does not change the URL.
            st.button(
                f"**{plain(domain.name, 80)}**",
                key=f"open-domain-{domain.id}",
                type="tertiary",
                on_click=domain_state.show_domain,
                args=(domain.id,),
            )
            marks(domain)
        with icons.alone(f"domain-{domain.id}"):
            chosen = st.menu_button(
                f"Actions for {plain(domain.name, 80)}", _options(domain),
                key=f"domain-{domain.id}", type="tertiary", icon=":material/more_vert:",
            )  # fmt: skip
    if domain.description:
        st.markdown(plain(domain.description, 400))
    st.caption(" · ".join(_words(domain)))
    if chosen is not None:
        ACTIONS[chosen](domain)


def _options(domain: Domain) -> list[str]:
    if domain.is_default:
        return [DUPLICATE]
    if domain.archived:
        return [DUPLICATE, RESTORE, DELETE]
    return [DUPLICATE, DEFAULT, ARCHIVE, DELETE]


def _words(domain: Domain) -> list[str]:
    sessions = domain.sessions or 0
    words = [reader.counted(sessions, "session"), f"version {domain.version}"]
    if domain.model:
        words.append(plain(domain.model, 60))
    if domain.agents:
        words.append(plain(", ".join(agent.name for agent in domain.agents), 120))
    return words


def _change(domain: Domain, notice: str, **fields: bool) -> None:
    with state.flashing():
        domains.change_domain(state.client(), domain.id, fields)
        state.say(notice.format(plain(domain.name, 80)))
    st.rerun()


@st.dialog("Duplicate domain", icon=":material/content_copy:")
def _duplicate(domain: Domain) -> None:
    with st.form("duplicate", border=False):
        name = st.text_input(
            "Name of the copy",
            value=f"{domain.name[:73]} (copy)",
            key=f"copy-{domain.id}",
        )
        asked = st.form_submit_button("Duplicate", type="primary", width="stretch")
    if asked:
        try:
            copy = domains.duplicate_domain(state.client(), domain.id, name)
        except ClientError as problem:
            st.error(plain(problem.detail, 600))
            return
        domain_state.show_domain(copy.id)
        st.rerun()


@st.dialog("Delete domain?", icon=":material/delete:")
def _delete(domain: Domain) -> None:
    st.markdown(f"**{plain(domain.name, 80)}**")
    st.caption(
        "All its versions are permanently deleted. Its sessions"
        f" ({reader.number(domain.sessions or 0)}) keep their configuration and"
        " continue. To keep it for later, archive it instead."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep-domain"):
            st.rerun()
        if st.button("Delete", key="delete-domain", type="primary", icon=":material/delete:"):
            with state.flashing():
                domains.delete_domain(state.client(), domain.id)
                state.say(f"{plain(domain.name, 80)} was deleted.")
            st.rerun()


ACTIONS: Mapping[str, Callable[[Domain], None]] = {
    DUPLICATE: _duplicate,
    DEFAULT: partial(_change, notice="New chats now start with {}.", is_default=True),
    ARCHIVE: partial(
        _change, notice="{} no longer accepts new sessions; existing ones continue.", archived=True
    ),
    RESTORE: partial(_change, notice="{} accepts new sessions again.", archived=False),
    DELETE: _delete,
}

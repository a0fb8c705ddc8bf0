"""The versions of a domain: who saved them when, how they differ from today's, restoring."""

from functools import partial

import streamlit as st

from backend.schemas.domains.configuration import DomainVersion, DomainVersionSummary
from backend.schemas.domains.templates import Domain
from ui import state
from ui.features.domains import calls as domains
from ui.features.domains import state as domain_state
from ui.shared import changes
from ui.shared.formats import reader
from ui.shared.once import once


def show(domain: Domain) -> None:
    """Draw the latest versions; a chosen one is compared with today's."""
    cursor_key = f"versions-{domain.id}"
    before = domain_state.version_page(cursor_key)
    page = domains.list_versions(state.client(), domain.id, before)
    labels = {item.version: _label(item) for item in page.items}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Version",
            list(labels),
            format_func=lambda version: labels[version],
            key=f"{cursor_key}-{before}-{domain.version}",
        )
        if before is not None:
            _page_button("Latest", cursor_key, None)
        if page.next_before is not None:
            _page_button("Earlier", cursor_key, page.next_before)
    if number == domain.version or number is None:
        st.caption("This is the current version.")
        return
    version = domains.get_version(state.client(), domain.id, number)
    if not version.changes:
        st.caption("It is identical to the current version.")
        return
    st.caption(f"Changes from version {number} to version {domain.version}, the current one:")
    changes.show(version.changes, f"version-{domain.id}-{number}")
    _restore_button(domain, version)


def _restore_button(domain: Domain, version: DomainVersion) -> None:
    with st.popover(f"Restore version {version.version}", icon=":material/history:"):
        st.caption(
            f"Version {domain.version + 1} will be a copy of version {version.version}. Nothing is"
            " lost: every version is kept."
        )
        st.button(
            "Restore it",
            key=f"restore-{domain.id}-{version.version}",
            type="primary",
            on_click=_restore,
            args=(domain, version.version),
        )


def _restore(domain: Domain, version: int) -> None:
    now = domain.version
    restore = partial(domains.restore_version, state.client(), domain.id, version, now)
    with state.flashing():
        restored = once((domain.id, now), restore)
        state.say(f"Restored: version {restored.version} is a copy of version {version}.")


def _page_button(label: str, key: str, before: int | None) -> None:
    st.button(
        label,
        key=f"{key}-{label}",
        type="tertiary",
        on_click=domain_state.show_versions_before,
        args=(key, before),
    )


def _label(item: DomainVersionSummary) -> str:
    when = reader.moment(item.created_at)
    return f"{item.version} · {when}" + (f" · {item.changed_by}" if item.changed_by else "")

"""Domains, for administrators: list and edit the templates that sessions are made from."""

from uuid import UUID

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.client import NotFound
from ui.features.domains import calls as domains
from ui.features.domains import list as domain_list
from ui.features.domains import state as domain_state
from ui.features.domains import versions as domain_versions
from ui.features.domains.form import saving, trial, yaml_view
from ui.features.domains.form import view as domain_form
from ui.shared import entrance
from ui.shared.text.markdown import plain

FORM, YAML, TRIAL, VERSIONS = "Form", "YAML", "Dry run", "Versions"

st.set_page_config(page_title="Domains · Colloquy")
server = state.server()
opened = domain_state.open_domain()
if Permission.MANAGE_DOMAINS not in server.permissions:
    st.title("Domains", anchor=False)
    entrance.require(Permission.MANAGE_DOMAINS)

if opened is None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.title("Domains", anchor=False, width="content")
        st.button(
            "New domain",
            key="new-domain",
            icon=":material/add:",
            on_click=domain_state.show_domain,
            args=(domain_state.NEW,),
        )
    st.caption("Templates for new sessions. Changes do not affect existing sessions.")
    domain_list.show(domains.list_domains(state.client(), counted=True))
    entrance.end_page()

domain = None
if opened != domain_state.NEW:
    try:
        domain_id = UUID(opened)
    except ValueError:
        st.info("This link does not point to a domain.")
        domain_list.show_way_back()
        entrance.end_page()
    try:
        domain = domains.get_domain(state.client(), domain_id)
    except NotFound:
        st.info("This domain does not exist, or no longer.")
        domain_list.show_way_back()
        saving.of_deleted(domain_id)
        entrance.end_page()

domain_list.show_way_back()
with st.container(horizontal=True, vertical_alignment="center"):
    st.title(plain(domain.name, 80) if domain else "New domain", anchor=False, width="content")
    if domain:
        domain_list.marks(domain)
draft, check = saving.open_it(domain)
views = [FORM, YAML, TRIAL, VERSIONS] if domain else [FORM, YAML, TRIAL]
view = st.segmented_control(
    "View", views, default=FORM, key=f"shown-{draft.name}", label_visibility="collapsed"
)
if view == VERSIONS and domain:
    domain_versions.show(domain)
    entrance.end_page()
saving.newer_version(domain, draft)
if view == YAML:
    yaml_view.show(draft)
elif view == TRIAL:
    trial.show(draft, domain.id if domain else None)
    trial.image(check)
else:
    domain_form.show(draft, domain)
if view != TRIAL or draft.changed:
    saving.actions(domain, draft)

"""Domains, for administrators: what sessions are made from, listed and edited."""

from uuid import UUID

import streamlit as st

from ui import state
from ui.features.domains import calls as domains
from ui.features.domains import form as domain_form
from ui.features.domains import list as domain_list
from ui.features.domains import state as domain_state
from ui.features.domains import versions as domain_versions
from ui.shared import entrance
from ui.shared.text import yaml_text
from ui.shared.text.markdown import plain

EDIT, PREVIEW, VERSIONS = "Edit", "Preview", "Versions"

st.set_page_config(page_title="Domains · Colloquy")
server = state.server()
opened = domain_state.open_domain()
if not server.is_admin:
    st.title("Domains", anchor=False)
    entrance.admins_only()

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
    st.caption("What new sessions are made from. A change reaches no session that exists already.")
    domain_list.show(domains.list_domains(state.client(), counted=True).items)
    st.stop()

domain = None
if opened != domain_state.NEW:
    try:
        domain_id = UUID(opened)
    except ValueError:
        st.info("This link does not lead to a domain.")
        domain_list.show_way_back()
        st.stop()
    domain = domains.get_domain(state.client(), domain_id)

domain_list.show_way_back()
with st.container(horizontal=True, vertical_alignment="center"):
    st.title(plain(domain.name, 80) if domain else "New domain", anchor=False, width="content")
    if domain:
        domain_list.marks(domain)
form, check = domain_form.edit(domain)
views = [EDIT, PREVIEW, VERSIONS] if domain else [EDIT, PREVIEW]
view = st.segmented_control(
    "View", views, default=EDIT, key=f"{form.name}-view", label_visibility="collapsed"
)
if view == PREVIEW:
    if check.image is None:
        st.info("Fix what is marked under *Edit* first; then this shows what a session gets.")
    else:
        st.caption("What a new session keeps as its image; anything not set uses the default.")
        st.code(yaml_text.write(check.image), "yaml", wrap_lines=True)
    for warning in check.warnings:
        st.warning(plain(warning.message, 600), icon=":material/key_off:")
elif view == VERSIONS and domain:
    domain_versions.show(domain)
else:
    domain_form.show(domain, form, check, domains.get_catalog(state.client()))

"""Tool servers, for administrators: whether they answer, their tools, and what has changed."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import server_state, state
from ui.features.domains.calls import list_domains
from ui.features.servers import board as servers_board
from ui.features.servers import versions as servers_versions
from ui.shared import entrance

st.set_page_config(page_title="Tool servers · Colloquy", layout="wide")
st.title("Tool servers", anchor=False)
entrance.require(Permission.MANAGE_SERVERS)

domains = {domain.id: domain for domain in list_domains(state.client()) if domain.mcp_servers}
if not domains:
    st.info("No domain has tool servers. Add them to a domain, under *Tools*.")
    entrance.end_page()
server_state.restore_choice(list(domains))
chosen = st.selectbox(
    "Domain",
    list(domains),
    format_func=lambda domain_id: domains[domain_id].name,
    key=server_state.CHOSEN,
    on_change=server_state.keep_choice,
    width=320,
)
servers_versions.show(chosen)
servers_board.show(chosen)

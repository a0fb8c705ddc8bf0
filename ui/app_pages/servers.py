"""Tool servers, for administrators: do they answer, with which tools, and what has changed."""

import streamlit as st

from ui import server_state, state
from ui.components import servers_board, servers_versions

server = state.server()
st.set_page_config(page_title="Tool servers · Colloquy", layout="wide")
st.title("Tool servers", anchor=False)
if not server.is_admin:
    st.info("This page is for administrators. Ask one of them if you need it.")
    st.page_link(state.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    st.stop()

domains = {domain.id: domain for domain in state.client().domains().items if domain.mcp_servers}
if not domains:
    st.info("No domain has tool servers. Name them under `mcp_servers` of a domain.")
    st.stop()
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

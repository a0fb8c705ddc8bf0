"""The location of one browser tab: page, session and place in it; most of it is in the URL."""

import re
from collections.abc import Mapping
from typing import NoReturn
from uuid import UUID

import streamlit as st

CHAT_PAGE = "app_pages/chat.py"
SESSIONS_PAGE = "app_pages/administration/sessions.py"
WORK_PAGE = "app_pages/administration/work.py"
USAGE_PAGE = "app_pages/administration/usage.py"
SERVERS_PAGE = "app_pages/administration/servers.py"
INBOX_PAGE = "app_pages/inbox.py"
GRANTS_PAGE = "app_pages/administration/grants.py"
RETENTION_PAGE = "app_pages/administration/retention.py"
DATA_PAGE = "app_pages/data.py"
IMPORT_PAGE = "app_pages/imports.py"
DOMAINS_PAGE = "app_pages/administration/domains.py"
CONFIGURATION_PAGE = "app_pages/configuration.py"
INSPECTOR_PAGE = "app_pages/inspector.py"
SEARCH_PAGE = "app_pages/search.py"
TASKS_PAGE = "app_pages/tasks.py"
MODELS_PAGE = "app_pages/administration/models.py"
PEOPLE_PAGE = "app_pages/administration/people.py"
TEAMS_PAGE = "app_pages/administration/teams.py"
SIGNING_IN_PAGE = "app_pages/administration/signing_in.py"
AUDIT_PAGE = "app_pages/administration/audit.py"
AGENTS_PAGE = "app_pages/agents.py"
SHARED_PAGE = "app_pages/shared.py"
ACCOUNT_PAGE = "app_pages/account.py"
WEBHOOKS_PAGE = "app_pages/webhooks.py"
LINK = "link"
LINK_PATTERN = "[A-Za-z0-9_-]{1,200}"  # of its token


def open_session_id() -> UUID | None:
    """Return the session that the URL names; None for a new chat or a broken link."""
    try:
        return UUID(st.query_params.get("session", ""))
    except ValueError:
        return None


def link_is_broken() -> bool:
    """Return whether the URL names a session with an invalid id."""
    return bool(st.query_params.get("session")) and open_session_id() is None


def is_read_only() -> bool:
    """Return whether the page is opened read-only."""
    return st.query_params.get("view") == "read"


def link_token() -> str | None:
    """Return the token of the link through which a session is read."""
    token = st.query_params.get(LINK, "")
    return token if re.fullmatch(LINK_PATTERN, token) else None


def go(page: str, query: Mapping[str, str]) -> NoReturn:
    """Open a page, and end the run."""
    st.switch_page(page, query_params=query)


def go_to_session(session_id: UUID, *, read_only: bool = False) -> NoReturn:
    """Open a session at its latest message."""
    view = {"view": "read"} if read_only else {}
    go(CHAT_PAGE, {"session": str(session_id), **view})


def session_query(session_id: UUID) -> dict[str, str]:
    """Return the query of a link to another page about a session; read-only stays read-only."""
    view = {"view": "read"} if is_read_only() else {}
    return {"session": str(session_id), **view}


def chosen_call() -> tuple[int, int] | None:
    """Return the model call that the URL names, by version and number."""
    version, _, number = st.query_params.get("call", "").partition(".")
    return (int(version), int(number)) if version.isdecimal() and number.isdecimal() else None


def choose_call(version: int, number: int) -> None:
    """Put a model call into the URL."""
    st.query_params["call"] = f"{version}.{number}"

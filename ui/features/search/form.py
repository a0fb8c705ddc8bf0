"""What to search for, and where: fields whose values are kept in the URL."""

from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.search import SearchPage
from backend.schemas.conversations.sessions import Session
from backend.schemas.operations.server import ServerInfo
from backend.schemas.people.rights import Permission
from ui import state
from ui.features.domains.calls import list_domains
from ui.features.search import calls
from ui.shared.text.markdown import plain


@dataclass(frozen=True)
class Wanted:
    """The values of the fields."""

    q: str = ""
    session_id: UUID | None = None
    domain: str | None = None
    archived: bool = False
    everyone: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether a filter may exclude results."""
        return self.session_id is not None or self.domain is not None or not self.archived

    def load(self, cursor: str | None = None) -> SearchPage:
        """Return a page of results."""
        return calls.search(
            state.client(),
            self.q,
            session_id=self.session_id,
            domain=self.domain,
            # An explicitly chosen session is searched even if it is archived.
            archived=None if self.archived or self.session_id else False,
            everyone=self.everyone,
            cursor=cursor,
        )


def show(server: ServerInfo, session: Session | None) -> Wanted:
    """Draw the fields; `session` is the one in which the search was opened."""
    q = st.text_input(
        "Search in messages",
        key="q",
        type="search",
        icon=":material/search:",
        placeholder="Words, a code, or a \u201cphrase in quotes\u201d",
        label_visibility="collapsed",
        live="300ms",
        bind="query-params",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        in_session = session is not None and not _toggle(
            "All sessions",
            "in-all",
            f"Not only in \u201c{plain(session.title or 'New chat', 60)}\u201d",
        )
        if session is not None and in_session:
            return Wanted((q or "").strip(), session.id)
        domain = _domain()
        archived = _toggle("Include archived", "archived-too")
        may_review = Permission.REVIEW_SESSIONS in server.permissions
        everyone = may_review and _toggle("Include other people's", "of-everyone")
    return Wanted((q or "").strip(), None, domain, archived, everyone)


def _toggle(label: str, key: str, explained: str | None = None) -> bool:
    return st.toggle(label, key=key, help=explained, bind="query-params")


def _domain() -> str | None:
    """Draw the choice of domain if there are several; return the chosen one."""
    names = [domain.name for domain in list_domains(state.client())]
    if len(names) < 2:
        return None
    return st.selectbox(
        "Domain",
        names,
        index=None,
        key="domain",
        placeholder="All domains",
        label_visibility="collapsed",
        width=200,
        bind="query-params",
    )

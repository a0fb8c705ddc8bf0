"""Whose a session is, in words, where it is not one's own; and what one may do there."""

from backend.schemas.conversations.sessions import Session
from backend.schemas.people.rights import SessionRights

REVIEWED = "You read this session as a reviewer, and its owner, {owner}, sees that."
READ_ONLY = "You may read this session. To write here, ask {owner} to share it to continue."


def words(session: Session) -> str:
    """Return the team that a session belongs to, or who shares it; empty for one's own."""
    if session.review_ends_at is not None:
        return ""
    if session.team is not None:
        return f"Team {session.team_name or session.team}"
    return "" if session.rights is SessionRights.OWN else f"Shared by {owner(session)}"


def owner(session: Session) -> str:
    """Return the name of a session's owner."""
    return session.owner_name or session.owner


def reading_only(session: Session) -> str:
    """Return the sentence in place of a composer where one may only read."""
    words = READ_ONLY if session.review_ends_at is None else REVIEWED
    return words.format(owner=owner(session))

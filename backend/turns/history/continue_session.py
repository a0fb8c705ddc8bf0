"""Continuing a session in a new one with today's configuration, its history and its state."""

from dataclasses import replace
from uuid import UUID, uuid4, uuid5

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.paths import Path
from backend.conversations.removal import CONTINUES, is_spent
from backend.conversations.reviews import record_act
from backend.conversations.state.store import load_state
from backend.errors.base import AppError
from backend.errors.conversations import (
    CallsUnanswered,
    IdempotencyKeyReused,
    SessionBusy,
    SessionNotFound,
    corrupt_if_it_fails,
)
from backend.errors.domains import DomainNotFound
from backend.files.copying import Copies, Uncopied
from backend.schemas.people.rights import Right
from backend.turns.process.services import Services
from backend.turns.queries import list_unfinished
from backend.turns.submit.service import open_session
from colloquy_kit.messages.display import notice
from colloquy_kit.messages.state import check_state, pending_calls
from db.models.conversations.conversation import ConversationRow

ORIGIN = "continued_from"  # in the metadata of the notice
ASKED = "continued_in"  # in the metadata of the new session: the domain that was asked for
CONTINUED = " (continued)"


def continue_session(
    services: Services, scope: Scope, session_id: UUID, domain: str | None, key: str | None = None
) -> UUID:
    """Create a session, of a given domain or the same one, that continues here; return its id.

    Its history is a copy of what the session shows, followed by a notice of where it comes from;
    its agent starts from the same state and can query the same files. The old session does not
    change. Repeating a key and domain returns the session that they created before.
    Raise SessionNotFound, IdempotencyKeyReused, SessionBusy, CallsUnanswered,
    CorruptState, DomainNotFound, DomainArchived, NoRoomForFiles.
    """
    copies = Copies(services.files)
    try:
        new_id = _with_copies(services, scope, session_id, domain, key, copies)
    except AppError:
        copies.erase()
        raise
    copies.erase_unnamed()
    return new_id


def _with_copies(
    services: Services,
    scope: Scope,
    session_id: UUID,
    domain: str | None,
    key: str | None,
    copies: Copies,
) -> UUID:
    while True:
        try:
            with services.database.transaction() as session:
                return _continue(services, session, scope, session_id, domain, key, copies)
        except Uncopied as missing:
            copies.make(missing.file_ids)


def _continue(
    services: Services,
    session: Session,
    scope: Scope,
    session_id: UUID,
    domain: str | None,
    key: str | None,
    copies: Copies,
) -> UUID:
    new_id = _id_of(scope, session_id, key)
    old = conversations.lock(session, scope, session_id, Right.READ)
    if earlier := session.get(ConversationRow, new_id):
        if earlier.metadata_.get(ASKED) != domain:
            raise IdempotencyKeyReused
        return new_id
    if is_spent(session, scope.user_id, str(new_id)):
        raise SessionNotFound("The session that this request made was deleted.")
    if list_unfinished(session, session_id):
        raise SessionBusy
    with corrupt_if_it_fails():
        state = check_state(load_state(session, session_id).state)
    if pending_calls(state):
        raise CallsUnanswered
    megabytes = services.settings.max_files_mb
    copies.require(session, scope, session_id, megabytes)
    open_session(session, scope, domain or _domain_of(old), _title_after(old.title), new_id)
    new = conversations.lock(session, scope, new_id)
    continues = [*old.metadata_.get(CONTINUES, []), str(session_id)]
    new.metadata_ = {**new.metadata_, ASKED: domain, CONTINUES: continues}
    if old.model in new.image["models"]:
        new.model = old.model
    views.copy(session, session_id, new_id, Path.read(old.path), state)
    origin = notice(_origin_words(session, scope, old, new_id))
    marked = replace(origin, metadata={ORIGIN: str(session_id)})
    views.append(session, new_id, None, views.Change(drafts=[marked]))
    copies.add_rows(session, scope, session_id, new_id, megabytes)
    record_act(
        session, scope.user_id, old.owner_id, old.id, "continued", {"session_id": str(new_id)}
    )
    return new_id


def _id_of(scope: Scope, session_id: UUID, key: str | None) -> UUID:
    """Return an id derived from the key, so that no mapping has to be stored."""
    return uuid4() if key is None else uuid5(session_id, repr((scope.user_id, key)))


def _title_after(title: str) -> str:
    """Return a title that can be distinguished from the old one in a list."""
    return title if not title or title.endswith(CONTINUED) else f"{title}{CONTINUED}"


def _domain_of(old: ConversationRow) -> str:
    if old.domain_id is None:
        raise DomainNotFound("The domain of this session was deleted. Choose another one.")
    return str(old.domain_id)


def _origin_words(session: Session, scope: Scope, old: ConversationRow, new_id: UUID) -> str:
    domain = conversations.get(session, scope, new_id).domain
    return (
        f"Continued from the session “{old.title or 'New chat'}”: the messages above are from"
        f" there. From here on, today's configuration of {domain} applies."
    )

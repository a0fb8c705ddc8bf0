"""Submitting: how a message of a person becomes a turn. Nothing here runs an agent."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.agents.state import empty_state
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.removal import is_spent
from backend.conversations.service import Image
from backend.conversations.state.store import create_state
from backend.domains import service as domains
from backend.domains.template import agent_named, image_of, template_of
from backend.errors import (
    IdempotencyKeyReused,
    InvalidInput,
    MessageTooLong,
    SessionNotFound,
)
from backend.schemas.sessions import (
    MAX_MESSAGE_CHARS,
    Turn,
)
from backend.text import clean_text
from backend.turns.process.services import Services
from backend.turns.queries import turn_of
from backend.turns.submit.enter import Accepted, NewTurn, enter_turn, enter_turns
from db.failpoints import failpoint
from db.models.turn import TurnRow

JSON = dict[str, Any]
MAX_KEY_CHARS = 255
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """A person's message and where it goes; without `session_id` a new session is made.

    `replaces` names the turn of which the message's turn is another version.
    """

    message: str
    session_id: UUID | None = None
    domain: str | None = None
    agent: str | None = None
    key: str | None = None
    replaces: UUID | None = None

    @property
    def body_hash(self) -> str:
        """Tells whether a repeated Idempotency-Key comes with the same body."""
        body = [self.message, str(self.session_id), self.domain, self.agent]
        if self.replaces:
            body.append(str(self.replaces))
        return sha256(orjson.dumps(body)).hexdigest()


def submit(services: Services, scope: Scope, ask: Submission) -> Turn:
    """Accept a message: one transaction; the wake-up call follows, and nobody waits for it.

    Raises InvalidInput, MessageTooLong, SessionNotFound, DomainNotFound, IdempotencyKeyReused,
    TooManyTurns, TokensUsedUp, BudgetUsedUp; nothing is stored then.
    """
    ask = check_ask(ask)
    failpoint("S1")
    accepted = _submit_together(services, scope, ask) or _submit_alone(services, scope, ask)
    failpoint("S4")
    return accepted.turn


def _submit_together(services: Services, scope: Scope, ask: Submission) -> Accepted | None:
    """Accept a message with those of other sessions; None for one that has to go alone."""
    if ask.session_id is None or ask.agent is not None:
        return None
    entering = NewTurn(scope, ask.session_id, _asked(ask))
    accepted: Accepted | None = services.submits.bring(entering, partial(_accept_all, services))
    return accepted


def _accept_all(services: Services, entering: Sequence[NewTurn]) -> list[Accepted | None]:
    """Accept messages in one transaction; None for each that has to go alone.

    That is one that another writer holds up, that was accepted before, or that is refused.
    """
    let_in: dict[UUID, NewTurn] = {}
    with services.database.at_once() as session:
        for one in entering:
            if one.conversation_id not in let_in and services.limits.admit(session, one.scope):
                let_in[one.conversation_id] = one
        entered: list[Accepted | None]
        try:
            entered = enter_turns(session, list(let_in.values()))
        except IntegrityError:
            entered = [None] * len(let_in)
        failpoint("S2")
    failpoint("S3")
    services.announcer.tell(one for one in entered if one)
    outcomes = dict(zip(let_in.values(), entered, strict=True))
    for one, accepted in outcomes.items():
        if accepted is None:
            services.limits.release(one.scope)
    return [outcomes.get(one) for one in entering]


def _submit_alone(services: Services, scope: Scope, ask: Submission) -> Accepted:
    try:
        # A turn alone is one statement. A new session needs more, and is made with its first turn.
        database = services.database
        with database.at_once() if ask.session_id else database.transaction() as session:
            accepted = earlier_turn(session, scope, ask)
            if accepted is None:
                services.limits.check(session, scope)
                accepted = _accept(session, scope, ask)
                failpoint("S2")
    except IntegrityError as error:
        return Accepted(turn_from_race(services, scope, ask, error))
    failpoint("S3")
    services.announcer.tell([accepted])
    return accepted


def turn_from_race(
    services: Services, scope: Scope, ask: Submission, error: IntegrityError
) -> Turn:
    """What another request with this key, quicker by a moment, has stored: that is the answer.

    Raises the error when there was none.
    """
    with services.database.read() as session:
        earlier = earlier_turn(session, scope, ask)
    if earlier is None:
        raise error
    return earlier.turn


def check_ask(ask: Submission) -> Submission:
    """The ask with a storable message. Raises InvalidInput, MessageTooLong."""
    message = clean_text(ask.message)
    if not message.strip():
        raise InvalidInput("The message is empty. Write what you want to know.")
    if len(message) > MAX_MESSAGE_CHARS:
        raise MessageTooLong
    agent, domain = (None if v is None else clean_text(v) for v in (ask.agent, ask.domain))
    return replace(ask, message=message, domain=domain, agent=agent, key=check_key(ask.key))


def check_key(key: str | None) -> str | None:
    """A storable Idempotency-Key. Raises InvalidInput."""
    if key is not None and not 0 < len(key) <= MAX_KEY_CHARS:
        raise InvalidInput(f"An Idempotency-Key has 1 to {MAX_KEY_CHARS} characters.")
    return None if key is None else clean_text(key)


def open_session(
    session: Session,
    scope: Scope,
    domain: str | None,
    title: str | None,
    session_id: UUID | None = None,
) -> UUID:
    """Make an empty session from a domain. Raises DomainNotFound, DomainArchived."""
    found = domains.find(session, scope, domain)
    image = Image(found.id, image_of(domains.template_in(found)), found.version)
    conversation_id = conversations.create(session, scope, image, title, session_id)
    create_state(session, conversation_id, empty_state())
    return conversation_id


def earlier_turn(session: Session, scope: Scope, ask: Submission) -> Accepted | None:
    """The turn that this key has started before.

    Raises IdempotencyKeyReused, and SessionNotFound for a turn that was deleted with its session.
    """
    if ask.key is None:
        return None
    row = session.scalar(
        select(TurnRow).where(TurnRow.owner_id == scope.user_id, TurnRow.idempotency_key == ask.key)
    )
    if row is None:
        if is_spent(session, scope.user_id, ask.key):
            raise SessionNotFound
        return None
    if row.body_hash != ask.body_hash:
        raise IdempotencyKeyReused
    return Accepted(turn_of(session, row))


def _accept(session: Session, scope: Scope, ask: Submission) -> Accepted:
    conversation_id = ask.session_id or open_session(session, scope, ask.domain, None)
    agent = ask.agent and find_agent(session, scope, conversation_id, ask.agent)
    asked = _asked(ask) | {"agent": agent}
    return enter_turn(session, NewTurn(scope, conversation_id, asked))


def _asked(ask: Submission) -> JSON:
    return {
        "agent": None,
        "message": ask.message,
        "idempotency_key": ask.key,
        "body_hash": ask.body_hash if ask.key else None,
    }


def find_agent(session: Session, scope: Scope, conversation_id: UUID, name: str) -> str:
    """The agent of this name, from the session's image, which never changes."""
    image = template_of(conversations.get_image(session, scope, conversation_id))
    return agent_named([agent.name for agent in image.agents], name)

"""Submitting: turning a person's message into a turn. Nothing here runs an agent."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.agents.team.addressing import Routed, route_message
from backend.auth.acting import as_system
from backend.auth.rights import read_rights
from backend.auth.scope import Scope
from backend.connections.store import find_default_model
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.removal import is_spent
from backend.conversations.service import Image
from backend.domains import service as domains
from backend.domains.naming import names_domain
from backend.domains.team import without_models
from backend.domains.template import choose_model, image_of, template_of
from backend.errors.base import AppError, InvalidInput
from backend.errors.conversations import IdempotencyKeyReused, MessageTooLong, SessionNotFound
from backend.errors.plans import PlanDecides
from backend.schemas.conversations.sessions import MAX_MESSAGE_CHARS
from backend.schemas.conversations.turns import Turn
from backend.schemas.people.rights import Resource
from backend.settings import Settings
from backend.turns.process.announcer import Accepted
from backend.turns.process.services import Services
from backend.turns.queries import turn_of
from backend.turns.submit.enter import NewTurn, enter
from colloquy_kit.messages.clean import clean_text
from colloquy_kit.messages.state import empty_state
from db.failpoints import failpoint
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow
from db.session import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """A person's message and where it goes; without `session_id`, in a new session of `domain`.

    `team`: whose the new session is, else the person's own.
    `replaces` names the turn of which this message makes another version.
    """

    message: str
    session_id: UUID | None = None
    domain: str | None = None
    agent: str | None = None
    key: str | None = None
    replaces: UUID | None = None
    model: str | None = None
    team: str | None = None

    @property
    def body_hash(self) -> str:
        """Return a hash that shows whether a repeated Idempotency-Key has the same body."""
        body = [self.message, str(self.session_id), self.domain, self.agent]
        if self.replaces:
            body.append(str(self.replaces))
        if self.model is not None:
            body.append(f"model {self.model}")
        if self.team is not None:
            body.append(f"team {self.team}")
        return sha256(orjson.dumps(body)).hexdigest()


def submit(services: Services, scope: Scope, submission: Submission) -> Turn:
    """Accept a message in one transaction and return its turn; a worker is woken in the background.

    Raise InvalidInput, MessageTooLong, SessionNotFound, PlanDecides, DomainNotFound,
    IdempotencyKeyReused, TooManyTurns, TokensUsedUp, BudgetUsedUp; nothing is stored then.
    """
    submission = check_submission(submission)
    settings = services.settings
    return accept(
        services, scope, submission, lambda session: _enter(session, settings, scope, submission)
    )


def accept(
    services: Services, scope: Scope, submission: Submission, make: Callable[[Session], Accepted]
) -> Turn:
    """Create a turn within the limits and announce it; the same key returns the same turn.

    Raise what `make` raises, IdempotencyKeyReused, TooManyTurns, TokensUsedUp, BudgetUsedUp.
    """
    failpoint("submit.begin")
    try:
        with services.database.transaction() as session:
            accepted = earlier_turn(session, scope, submission)
            if accepted is None:
                with as_system(session):  # turns of all people count
                    services.limits.check(session, scope)
                accepted = make(session)
                with as_system(session):
                    services.limits.day.check_team(session, accepted.turn.session_id)
                failpoint("submit.before_commit")
    except (IntegrityError, AppError) as error:
        return _turn_from_race(services.database, scope, submission, error)
    failpoint("submit.after_commit")
    if accepted.context:
        of_turn = {"turn": accepted.turn.id, "session": accepted.turn.session_id}
        log.info("turn accepted", extra=of_turn)
    services.announcer.tell([accepted])
    failpoint("submit.after_wake")
    return accepted.turn


def _turn_from_race(
    database: Database, scope: Scope, submission: Submission, error: IntegrityError | AppError
) -> Turn:
    """Return the turn stored by a faster request with this key; otherwise raise the error."""
    with database.read() as session:
        earlier = earlier_turn(session, scope, submission)
    if earlier is None:
        raise error
    return earlier.turn


def check_submission(submission: Submission) -> Submission:
    """Return the submission with a storable message. Raise InvalidInput, MessageTooLong."""
    message = clean_text(submission.message)
    if not message.strip():
        raise InvalidInput("The message is empty. Write what you want to know.")
    if len(message) > MAX_MESSAGE_CHARS:
        raise MessageTooLong
    agent, domain = (
        None if v is None else clean_text(v) for v in (submission.agent, submission.domain)
    )
    return replace(submission, message=message, domain=domain, agent=agent)


def open_session(
    session: Session,
    scope: Scope,
    domain: str | None,
    title: str | None,
    session_id: UUID | None = None,
    team: str | None = None,
) -> UUID:
    """Create an empty session from a domain, of the caller or a team of theirs; return its id.

    Raise DomainNotFound, DomainArchived, TeamNotFound.
    """
    found = domains.find(session, scope, domain)
    image = Image(found.id, found.name, image_of(domains.template_in(found)), found.version)
    conversation_id = conversations.create(session, scope, image, title, session_id, team=team)
    views.begin(session, conversation_id, empty_state())
    return conversation_id


def earlier_turn(session: Session, scope: Scope, submission: Submission) -> Accepted | None:
    """Return the turn that this key started before.

    Raise IdempotencyKeyReused, and SessionNotFound for a turn that was deleted with its session.
    """
    if submission.key is None:
        return None
    row = session.scalar(
        select(TurnRow).where(
            TurnRow.owner_id == scope.user_id, TurnRow.idempotency_key == submission.key
        )
    )
    if row is None:
        if is_spent(session, scope.user_id, submission.key):
            raise SessionNotFound
        return None
    if row.body_hash != submission.body_hash:
        raise IdempotencyKeyReused
    return Accepted(turn_of(session, row))


def _enter(session: Session, settings: Settings, scope: Scope, submission: Submission) -> Accepted:
    session_id = submission.session_id or open_session(
        session, scope, submission.domain, None, team=submission.team
    )
    conversation = hold_session(session, scope, session_id)
    if submission.session_id:
        _check_domain(conversation, submission.domain)
        _check_team(conversation, submission.team)
    routed = find_agent(session, scope, conversation, submission.message, submission.agent)
    if submission.model is not None:
        keep_choice(session, settings, scope, conversation, routed.agent, submission.model)
    new = NewTurn(
        owner_id=scope.user_id,
        agent=routed.agent,
        route=routed.route,
        role=scope.role,
        model=conversation.model,
        message=submission.message,
        key=submission.key,
        body_hash=submission.body_hash if submission.key else None,
    )
    return enter(session, conversation, new)


def _check_domain(conversation: ConversationRow, name_or_id: str | None) -> None:
    """Raise InvalidInput for another domain than the session's, which never changes."""
    name = conversation.domain_name
    if name_or_id is not None and not names_domain(name_or_id, name, conversation.domain_id):
        raise InvalidInput(
            f"domain: the domain of this session is {name}, and stays so. Leave `domain` out, or"
            " leave `session_id` out to start a session in another domain."
        )


def _check_team(conversation: ConversationRow, team: str | None) -> None:
    """Raise InvalidInput for another team than the session's."""
    if team is not None and team != conversation.team:
        raise InvalidInput(
            "team: this session does not belong to this team. Leave `team` out, or leave"
            " `session_id` out to start a session of the team."
        )


def hold_session(session: Session, scope: Scope, session_id: UUID) -> ConversationRow:
    """Hold a session that people may write in.

    Raise SessionNotFound, PlanDecides, DomainNotFound where its domain is not the caller's to use.
    """
    conversation = conversations.lock(session, scope, session_id)
    domains.check_uses(session, scope, conversation.domain_id)
    if conversation.parent_id is not None:
        raise PlanDecides(conversation.parent_id)
    return conversation


def keep_choice(
    session: Session,
    settings: Settings,
    scope: Scope,
    conversation: ConversationRow,
    agent: str,
    model: str,
) -> None:
    """Make a model the choice for the conversation's turns from now on.

    Raise InvalidInput where its image does not offer the model to the caller.
    """
    image, default = template_of(conversation.image), find_default_model(session, settings).model
    rights = read_rights(session, scope)
    usable = [one for one in image.models if rights.may_use(Resource.MODEL, one)]
    image = image.model_copy(update={"models": usable})
    conversation.model = choose_model(image, agent, default, model)
    session.flush()


def find_agent(
    session: Session, scope: Scope, conversation: ConversationRow, message: str, name: str | None
) -> Routed:
    """Return the agent that a message goes to, as far as known before its turn runs.

    Raise InvalidInput if it names an agent that the caller may not use.
    """
    withheld = read_rights(session, scope).withheld_of(Resource.MODEL)
    image = without_models(template_of(conversation.image), withheld)
    return route_message(image, scope.role, message, name)

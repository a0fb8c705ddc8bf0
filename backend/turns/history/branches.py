"""Branches of a session: forked before a message, begun empty, left and resumed.

No row ever changes.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.paths import NOTHING, Path
from backend.conversations.reviews import record_act
from backend.conversations.state.store import newest_version
from backend.errors.conversations import (
    BranchNotFound,
    MessageTakenBack,
    NotShown,
    SessionBusy,
    SessionNotFound,
    StateNotKept,
)
from backend.errors.turns import TurnNotFound
from backend.schemas.conversations.branches import (
    BranchChoice,
    Branches,
    MessageVersion,
    MessageVersions,
)
from backend.turns.queries import list_unfinished
from backend.turns.submit.service import hold_session
from db.models.conversations.branch import BranchRow
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.turns.turn import TurnRow
from db.session import Database

NOT_NOW = "A turn of this session is not finished. Wait until it ends, or stop it, then clear."


def fork_before(session: Session, conversation: ConversationRow, turn: TurnRow) -> UUID:
    """Begin a branch that ends before the turn's message; return the first turn of that message.

    The caller holds the conversation. Raise SessionBusy, MessageTakenBack, NotShown,
    StateNotKept, CorruptState.
    """
    if list_unfinished(session, conversation.id):
        raise SessionBusy
    position, path = _position(turn), Path.read(conversation.path)
    if not path.has(position):
        raise NotShown
    if turn.state_version is None:
        raise StateNotKept
    _begin(session, conversation, path.cut(position), turn.state_version - 1)
    return turn.fork_of or _first_turn(session, conversation.id, position) or turn.id


def clear(database: Database, scope: Scope, session_id: UUID) -> None:
    """Begin a branch without messages, whose agent remembers nothing; one that is empty stays.

    Raise SessionNotFound, PlanDecides, DomainNotFound, SessionBusy, CorruptState.
    """
    with database.transaction() as session:
        conversation = hold_session(session, scope, session_id)
        if list_unfinished(session, session_id):
            raise SessionBusy(NOT_NOW)
        if Path.read(conversation.path).is_empty(conversation.message_count):
            return
        _begin(session, conversation, NOTHING, 0)
        record_act(session, scope.user_id, conversation.owner_id, session_id, "cleared")


def switch(database: Database, scope: Scope, session_id: UUID, wanted: BranchChoice) -> None:
    """Show the branch that has a turn, the one left last if several do; or the one of a number.

    Raise SessionNotFound, TurnNotFound, BranchNotFound, SessionBusy, MessageTakenBack,
    StateNotKept, CorruptState.
    """
    with database.transaction() as session:
        conversation = conversations.lock(session, scope, session_id)
        turn = session.get(TurnRow, wanted.turn_id) if wanted.turn_id else None
        if wanted.turn_id and (turn is None or turn.conversation_id != session_id):
            raise TurnNotFound
        if list_unfinished(session, session_id):
            raise SessionBusy
        position = _position(turn) if turn else None

        def is_wanted(number: int, stored: Any) -> bool:
            return number == wanted.branch if position is None else Path.read(stored).has(position)

        if is_wanted(conversation.branch, conversation.path):
            return
        left = session.scalars(_left(session_id))
        branch = next((one for one in left if is_wanted(one.number, one.path)), None)
        if branch is None:
            raise BranchNotFound
        path, version = Path.read(branch.path), branch.state_version
        _leave(session, conversation)
        conversation.branch = branch.number
        _take_up(session, conversation, path, version)


def list_branches(session: Session, scope: Scope, session_id: UUID) -> Branches:
    """Return the versions of each message that has several. Raise SessionNotFound."""
    row = ConversationRow
    found = session.execute(
        select(row.branch, row.path, row.message_count).where(
            row.id == session_id, conversations.visible_to(scope)
        )
    ).one_or_none()
    if found is None:
        raise SessionNotFound
    if found.path is None:
        return Branches(branch=None, items=[])
    path = Path.read(found.path)
    items = [_wire(group, path) for group in _versions(session, session_id)]
    others = _left(session_id).where(BranchRow.number != found.branch)
    is_empty = path.is_empty(found.message_count)
    left = session.scalars(others).first() if is_empty else None
    return Branches(branch=found.branch, items=items, left=left.number if left else None)


def _position(turn: TurnRow) -> int:
    """Return the position of the turn's message.

    Raise MessageTakenBack if it never entered the conversation.
    """
    if turn.message_position is None:
        raise MessageTakenBack
    return turn.message_position


def _left(session_id: UUID) -> Select[BranchRow]:
    """Return the branches, the one left most recently first."""
    of_session = BranchRow.conversation_id == session_id
    return select(BranchRow).where(of_session).order_by(BranchRow.state_version.desc())


def _begin(session: Session, conversation: ConversationRow, path: Path, version: int) -> None:
    """Leave the active branch for a new one, which begins with this path and state."""
    _leave(session, conversation)
    numbers = select(func.max(BranchRow.number) + 1)
    of_conversation = BranchRow.conversation_id == conversation.id
    conversation.branch = session.execute(numbers.where(of_conversation)).scalar_one()
    _take_up(session, conversation, path, version)


def _leave(session: Session, conversation: ConversationRow) -> None:
    """Save the active branch as it is now: where it ends, and its agent state there."""
    path = Path.read(conversation.path).close(conversation.message_count)
    now = insert(BranchRow).values(
        conversation_id=conversation.id,
        number=conversation.branch,
        path=path.dump(),
        state_version=newest_version(conversation.id),
    )
    key = ["conversation_id", "number"]
    new = {"path": now.excluded.path, "state_version": now.excluded.state_version}
    session.execute(now.on_conflict_do_update(index_elements=key, set_=new))


def _take_up(session: Session, conversation: ConversationRow, path: Path, version: int) -> None:
    """Show a closed path and what follows it, and reset the state to that of a version."""
    conversation.path = path.extend(conversation.message_count + 1).dump()
    views.restore_version(session, conversation.id, version)
    session.flush()


def _first_turn(session: Session, conversation_id: UUID, position: int) -> UUID | None:
    """Return the turn that a message began; later turns may have continued it."""
    row = DisplayMessageRow
    return session.scalar(
        select(row.turn_id).where(row.conversation_id == conversation_id, row.position == position)
    )


def _versions(session: Session, session_id: UUID) -> Iterable[Iterable[Any]]:
    """Return the turns of each forked message, in order; one for each of its places."""
    turn = TurnRow
    columns = (turn.id, turn.fork_of, turn.message_position, turn.created_at)
    forks = session.execute(
        select(*columns)
        .where(turn.conversation_id == session_id, turn.fork_of.is_not(None))
        .order_by(turn.number)
    ).all()
    first = session.execute(select(*columns).where(turn.id.in_({fork.fork_of for fork in forks})))
    groups = {one.id: {one.message_position: one} for one in first}
    for fork in forks:
        groups[fork.fork_of].setdefault(fork.message_position, fork)
    return [group.values() for _, group in sorted(groups.items(), key=lambda pair: min(pair[1]))]


def _wire(group: Iterable[Any], path: Path) -> MessageVersions:
    return MessageVersions(
        versions=[
            MessageVersion(
                turn_id=turn.id,
                position=turn.message_position,
                is_active=path.has(turn.message_position),
                created_at=turn.created_at,
            )
            for turn in group
        ]
    )

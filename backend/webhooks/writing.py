"""What a delivery says: written when it is sent, from what is there then and may be told."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.messages import columns_of, shown_as
from backend.errors.conversations import SessionNotFound
from backend.schemas.events import Interrupt, MessageAdded, NoTurn, TurnFinished
from backend.schemas.people.rights import Permission, PrincipalType
from backend.schemas.webhooks import SessionCreated, SessionDeleted, WebhookBody, WebhookEvent
from backend.schemas.wire import Wire
from backend.turns.queries import context_in, wire_turn
from backend.webhooks.access import told_of
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow
from db.models.turns.turn import TurnRow
from db.models.webhook import WebhookDeliveryRow, WebhookRow


def write_body(
    session: Session, scope: Scope, webhook: WebhookRow, row: WebhookDeliveryRow
) -> bytes | None:
    """Return the body of a delivery; None if what it tells of is gone or somebody else's by now.

    `scope`: of who set the webhook.
    """
    data = _data(session, scope, webhook, row)
    if data is None:
        return None
    body = WebhookBody(
        id=row.id, type=row.event, timestamp=row.created_at, data=data.model_dump(mode="json")
    )
    return body.model_dump_json().encode()


def _data(
    session: Session, scope: Scope, webhook: WebhookRow, row: WebhookDeliveryRow
) -> Wire | None:
    nowhere = NoTurn(session_id=row.conversation_id)
    if row.event == WebhookEvent.SESSION_DELETED:
        return SessionDeleted(context=nowhere)
    one = ConversationRow
    is_told = (one.id == row.conversation_id) & told_of(webhook)
    found = session.execute(select(one.domain_id, one.image_id).where(is_told)).one_or_none()
    if found is None:
        return None
    if row.event == WebhookEvent.SESSION_CREATED:
        is_all = webhook.principal_type == PrincipalType.EVERYONE
        try:
            unless = Permission.OPERATE if is_all else None
            made = conversations.get(session, scope, row.conversation_id, unless)
        except SessionNotFound:
            return None
        return SessionCreated(context=nowhere, session=made)
    return _of_turn(session, found, row)


def _of_turn(session: Session, place: Any, row: WebhookDeliveryRow) -> Wire | None:
    turn = session.get(TurnRow, row.turn_id)
    if turn is None:
        return None
    context = context_in(place, turn)
    if row.event == WebhookEvent.TURN_FINISHED:
        return TurnFinished(context=context, turn=wire_turn(turn))
    if row.event == WebhookEvent.INTERRUPT:
        return Interrupt(context=context, turn=wire_turn(turn))
    said = session.get(DisplayMessageRow, (row.conversation_id, row.position))
    if said is None:
        return None
    return MessageAdded(context=context, message=shown_as(columns_of(said)))

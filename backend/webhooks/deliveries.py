"""Deliveries: taken in order, tried again after growing pauses, given up, kept for a week."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.orm import Session

from backend.errors.models import KeyUnreadable
from backend.schemas.webhooks import DeliveryStatus, PauseReason
from backend.settings import Settings
from backend.webhooks.access import setter_now
from backend.webhooks.sending import GONE, Answer
from backend.webhooks.signing import open_secrets, sign
from backend.webhooks.writing import write_body
from db.models.webhook import WebhookDeliveryRow, WebhookRow

# Before each further try; all of them together are about a day.
PAUSES = (2, 15, 60, 300, 1_800, 7_200, 18_000, 21_600, 36_000)
FAILING = timedelta(hours=12)  # a webhook that reached nobody for so long when one is given up
KEPT = timedelta(days=7)
LOST_SECONDS = 30  # after this long without an outcome, whoever sent it is dead
AT_ONCE = 8  # of one webhook, each of another session
UNREADABLE = "Its secret cannot be read: ENCRYPTION_KEY is not the one that it was stored with."
NOW = func.clock_timestamp()


@dataclass(frozen=True)
class Taken:
    """A delivery to be tried now, by this try's number."""

    number: int
    webhook_id: UUID
    attempt: int


@dataclass(frozen=True)
class Request:
    """What is to be sent."""

    url: str
    headers: dict[str, str]
    body: bytes


def take(session: Session, busy: Collection[UUID]) -> list[Taken]:
    """Take the deliveries that may be tried now: of each session only the first one unfinished.

    `busy`: webhooks that are to be left alone. Whoever takes one has LOST_SECONDS for it.
    """
    rows = session.execute(
        _TAKE, {"busy": list(busy), "most": AT_ONCE, "lost": timedelta(seconds=LOST_SECONDS)}
    )
    return [Taken(row.number, row.webhook_id, row.attempts) for row in rows]


def prepare(session: Session, settings: Settings, taken: Taken) -> Request | Answer | None:
    """Return what to send; an answer that stands for one that cannot be sent now; None: nothing.

    Rights are read now: a webhook whose setter lost them is paused, and what is gone is void.
    """
    found = _find(session, taken)
    if found is None:
        return None
    row, webhook, now = found
    scope = setter_now(session, settings, webhook)
    if scope is None:
        _pause(session, webhook.id, PauseReason.RIGHTS)
        return None
    body = write_body(session, scope, webhook, row)
    if body is None:
        _end(session, taken, DeliveryStatus.VOID)
        return None
    try:
        of = open_secrets(settings, webhook, now)
    except KeyUnreadable:
        return Answer(None, UNREADABLE)
    return Request(webhook.url, dict(sign(str(row.id), now, body, of)), body)


def record(
    session: Session, taken: Taken, answer: Answer, pauses: Sequence[float] = PAUSES
) -> None:
    """Note what came of a try, unless another one has been begun since."""
    webhook = WebhookRow
    of_it = update(webhook).where(webhook.id == taken.webhook_id)
    if answer.is_ok:
        _end(session, taken, DeliveryStatus.DELIVERED, answer)
        session.execute(of_it.where(webhook.failing_since.is_not(None)).values(failing_since=None))
        return
    session.execute(of_it.where(webhook.failing_since.is_(None)).values(failing_since=NOW))
    if answer.status == GONE:
        _end(session, taken, DeliveryStatus.GIVEN_UP, answer)
        _pause(session, taken.webhook_id, PauseReason.GONE)
    elif taken.attempt > len(pauses):
        _end(session, taken, DeliveryStatus.GIVEN_UP, answer)
        _pause(session, taken.webhook_id, PauseReason.FAILING, failing=FAILING)
    else:
        pause = timedelta(seconds=pauses[taken.attempt - 1])
        _change(session, taken, due_at=NOW + pause, **_said(answer))


def forget_old(session: Session) -> int:
    """Delete deliveries that are a week old, also what paused webhooks still wait with."""
    row = WebhookDeliveryRow
    ended = delete(row).where(row.created_at < NOW - KEPT).returning(row.number)
    return len(session.scalars(ended).all())


def _find(session: Session, taken: Taken) -> Any:
    row, webhook = WebhookDeliveryRow, WebhookRow
    return session.execute(
        select(row, webhook, NOW)
        .join(webhook, webhook.id == row.webhook_id)
        .where(row.number == taken.number, row.attempts == taken.attempt)
        .where(row.status == DeliveryStatus.PENDING, webhook.paused.is_(None))
    ).one_or_none()


def _pause(
    session: Session, webhook_id: UUID, reason: PauseReason, failing: timedelta | None = None
) -> None:
    row = WebhookRow
    pausing = update(row).where(row.id == webhook_id, row.paused.is_(None)).values(paused=reason)
    if failing is not None:
        pausing = pausing.where(row.failing_since < NOW - failing)
    session.execute(pausing)


def _end(
    session: Session, taken: Taken, status: DeliveryStatus, answer: Answer | None = None
) -> None:
    said = _said(answer) if answer else {}
    _change(session, taken, status=status, ended_at=NOW, **said)


def _said(answer: Answer) -> dict[str, Any]:
    return {"answer_status": answer.status, "answer": answer.text}


def _change(session: Session, taken: Taken, **values: Any) -> None:
    row = WebhookDeliveryRow
    is_ours = (row.attempts == taken.attempt) & (row.status == DeliveryStatus.PENDING)
    session.execute(update(row).where(row.number == taken.number, is_ours).values(**values))


# The first one of each session is found by one step in the index from session to session, so that
# a backlog of many events in few sessions costs little. One that is being tried is not due.
_TAKE = text(
    """
    WITH RECURSIVE head AS (
        SELECT first.* FROM webhooks AS one CROSS JOIN LATERAL (
            SELECT webhook_id, conversation_id, number, due_at FROM webhook_deliveries
            WHERE webhook_id = one.id AND status = 'pending'
            ORDER BY conversation_id, number LIMIT 1
        ) AS first
        WHERE one.paused IS NULL AND one.id <> ALL(CAST(:busy AS uuid[]))
        UNION ALL
        SELECT next.* FROM head CROSS JOIN LATERAL (
            SELECT webhook_id, conversation_id, number, due_at FROM webhook_deliveries
            WHERE webhook_id = head.webhook_id AND conversation_id > head.conversation_id
            AND status = 'pending'
            ORDER BY conversation_id, number LIMIT 1
        ) AS next
    ), due AS (
        SELECT number, row_number() OVER (PARTITION BY webhook_id ORDER BY number) AS place
        FROM head WHERE due_at <= clock_timestamp()
    ), free AS MATERIALIZED (
        SELECT number FROM webhook_deliveries
        WHERE number = ANY (ARRAY(SELECT number FROM due WHERE place <= :most))
        AND status = 'pending' AND due_at <= clock_timestamp()
        FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries AS taken
    SET attempts = attempts + 1, due_at = clock_timestamp() + :lost
    FROM free WHERE taken.number = free.number
    RETURNING taken.number, webhook_id, attempts
    """
)

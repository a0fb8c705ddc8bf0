"""Webhooks, as people keep them: set, changed, tested, their secret rotated, deleted."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit
from uuid import UUID, uuid4

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.addresses import DEFAULT_PORTS
from backend.auth.naming import names_of
from backend.auth.scope import Scope
from backend.cursor import decode_cursor, encode_cursor
from backend.domains import service as domains
from backend.errors.base import ConfigurationError, InvalidInput, NotAllowed
from backend.errors.people import TeamNotFound
from backend.errors.webhooks import DeliveryNotFound, WebhookNotFound, WebhookPaused
from backend.schemas.people.rights import PrincipalType
from backend.schemas.webhooks import (
    Delivery,
    DeliveryPage,
    DeliveryStatus,
    MadeWebhook,
    NewWebhook,
    PauseReason,
    Webhook,
    WebhookBody,
    WebhookChange,
    Webhooks,
    WebhookTest,
)
from backend.settings import Settings
from backend.text import name_line
from backend.webhooks.access import may_hold, shown_to
from backend.webhooks.deliveries import NOW
from backend.webhooks.sending import Answer, open_sender, send
from backend.webhooks.signing import new_secret, open_secrets, seal, sign
from db.models.domains.domain import DomainRow
from db.models.people.user import TeamRow
from db.models.webhook import WebhookDeliveryRow, WebhookRow
from db.session import Database

SUBJECT = "webhook"  # in the audit trail
MOST = 20  # of one holder
MAX_PAGE = 200
OVERLAP = timedelta(hours=24)  # how long the secret before still signs
TEST = "test"


def list_webhooks(session: Session, scope: Scope) -> Webhooks:
    """Return the webhooks of the caller, of their teams and of everyone, the latest first."""
    query = select(WebhookRow).where(shown_to(scope))
    rows = session.scalars(query.order_by(WebhookRow.created_at.desc(), WebhookRow.id)).all()
    return Webhooks(items=_shown(session, scope, rows))


def get_webhook(session: Session, scope: Scope, webhook_id: UUID) -> Webhook:
    """Return one webhook. Raise WebhookNotFound."""
    return _shown(session, scope, [_find(session, scope, webhook_id)])[0]


def add_webhook(session: Session, settings: Settings, scope: Scope, new: NewWebhook) -> MadeWebhook:
    """Set a webhook; its secret is in this answer only.

    Raise NotAllowed, TeamNotFound, DomainNotFound, InvalidInput, AddressRefused.
    """
    holder = new.principal_id if new.principal_type is PrincipalType.TEAM else ""
    if new.principal_type is PrincipalType.USER:
        holder = scope.user_id
    if new.principal_id not in ("", holder):
        raise InvalidInput("Only a team is named; otherwise leave `principal_id` out.")
    if not may_hold(scope, new.principal_type, holder):
        raise TeamNotFound if new.principal_type is PrincipalType.TEAM else NotAllowed
    row = WebhookRow
    of_holder = (row.principal_type == new.principal_type) & (row.principal_id == holder)
    if (session.scalar(select(func.count()).where(of_holder)) or 0) >= MOST:
        raise InvalidInput(f"There are {MOST} webhooks already. Change or delete one of them.")
    webhook_id, secret = uuid4(), new_secret()
    made = WebhookRow(
        id=webhook_id, principal_type=new.principal_type, principal_id=holder,
        set_by=scope.user_id, name=name_line(new.name), url=_checked(settings, new.url),
        events=list(dict.fromkeys(new.events)),
        domain_id=_domain(session, scope, new.domain_id),
        sealed_secret=_sealed(settings, webhook_id, secret),
    )  # fmt: skip
    session.add(made)
    session.flush()
    _record(session, scope, made, "made")
    return _with_secret(session, scope, made, secret)


def change_webhook(
    session: Session, settings: Settings, scope: Scope, webhook_id: UUID, wanted: WebhookChange
) -> Webhook:
    """Change a webhook, pause or resume it. What waits is sent then, to the new place.

    Raise WebhookNotFound, NotAllowed, InvalidInput, AddressRefused.
    """
    row = _hold(session, scope, webhook_id)
    given = {name: getattr(wanted, name) for name in wanted.model_fields_set}
    if any(value is None for name, value in given.items() if name != "domain_id"):
        raise InvalidInput("Only `domain_id` can be null.")
    if "name" in given:
        row.name = name_line(given["name"])
    if "url" in given:
        row.url = _checked(settings, given["url"])
    if "events" in given:
        row.events = list(dict.fromkeys(given["events"]))
    if "domain_id" in given:
        row.domain_id = _domain(session, scope, given["domain_id"])
    if given.get("is_paused") and row.paused is None:
        row.paused = PauseReason.PERSON
    if given.get("is_paused") is False and row.paused is not None:
        _resume(session, scope, row)
    session.flush()
    _record(session, scope, row, "changed", fields=sorted(given), paused=row.paused)
    return get_webhook(session, scope, webhook_id)


def delete_webhook(session: Session, scope: Scope, webhook_id: UUID) -> None:
    """Delete a webhook with its deliveries. Raise WebhookNotFound, NotAllowed."""
    row = _hold(session, scope, webhook_id)
    session.execute(delete(WebhookRow).where(WebhookRow.id == webhook_id))
    _record(session, scope, row, "deleted")


def rotate_secret(
    session: Session, settings: Settings, scope: Scope, webhook_id: UUID
) -> MadeWebhook:
    """Make a new secret; the one before signs besides for a day. Raise as `delete_webhook`."""
    row, secret = _hold(session, scope, webhook_id), new_secret()
    row.sealed_old_secret, row.old_secret_until = row.sealed_secret, _now(session) + OVERLAP
    row.sealed_secret = _sealed(settings, webhook_id, secret)
    session.flush()
    _record(session, scope, row, "secret_rotated")
    return _with_secret(session, scope, row, secret)


def test_webhook(
    database: Database, settings: Settings, scope: Scope, webhook_id: UUID
) -> WebhookTest:
    """Send a signed event `test` now, also if the webhook is paused, and return what came back.

    Raise WebhookNotFound, NotAllowed, KeyUnreadable, ConfigurationError.
    """
    with database.transaction() as session:
        row, now = _hold(session, scope, webhook_id), _now(session)
        of, url = open_secrets(settings, row, now), row.url
        _record(session, scope, row, "tested")
    body = WebhookBody(id=uuid4(), type=TEST, timestamp=now, data={"webhook_id": str(webhook_id)})
    written = body.model_dump_json().encode()
    try:
        answer = asyncio.run(_send(settings, url, sign(str(body.id), now, written, of), written))
    except (ImportError, ValueError) as error:
        raise ConfigurationError(
            "Nothing can be sent: the environment names a proxy that cannot be used."
        ) from error
    return WebhookTest(
        is_delivered=answer.is_ok, status=answer.status, answer=answer.text, seconds=answer.seconds
    )


def list_deliveries(
    session: Session,
    scope: Scope,
    webhook_id: UUID,
    status: DeliveryStatus | None,
    *,
    cursor: str | None,
    limit: int,
) -> DeliveryPage:
    """Return a webhook's deliveries, the latest first. Raise WebhookNotFound, NotAllowed."""
    _hold(session, scope, webhook_id, is_change=False)
    row, order, limit = WebhookDeliveryRow, f"deliveries of {webhook_id}", min(limit, MAX_PAGE)
    query = select(row).where(row.webhook_id == webhook_id).order_by(row.number.desc())
    if status is not None:
        query = query.where(row.status == status)
    if cursor:
        query = query.where(row.number < decode_cursor(cursor, order, int)[0])
    rows = session.scalars(query.limit(limit + 1)).all()
    return DeliveryPage(
        items=[_delivery(one) for one in rows[:limit]],
        next_cursor=encode_cursor(order, str(rows[limit - 1].number))
        if len(rows) > limit
        else None,
    )


def retry_delivery(session: Session, scope: Scope, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Have a delivery sent again, or now if it waits to be; in the order of its session.

    Raise WebhookNotFound, NotAllowed, DeliveryNotFound, WebhookPaused.
    """
    webhook, row = _hold(session, scope, webhook_id), WebhookDeliveryRow
    of_it = (row.webhook_id == webhook_id) & (row.id == delivery_id)
    found = session.scalar(select(row).where(of_it).with_for_update())
    if found is None:
        raise DeliveryNotFound
    if webhook.paused is not None:
        raise WebhookPaused
    is_over = found.status != DeliveryStatus.PENDING
    found.status, found.ended_at = DeliveryStatus.PENDING, None
    # One that is being tried has no outcome yet, and is left to whoever tries it.
    if is_over or found.answer or found.answer_status:
        found.attempts, found.due_at = 0 if is_over else found.attempts, _now(session)
    session.flush()
    return _delivery(found)


async def _send(settings: Settings, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
    async with open_sender(settings.outgoing) as client:
        return await send(client, url, headers, body)


def _find(session: Session, scope: Scope, webhook_id: UUID) -> WebhookRow:
    row = session.scalar(select(WebhookRow).where(WebhookRow.id == webhook_id, shown_to(scope)))
    if row is None:
        raise WebhookNotFound
    return row


def _hold(
    session: Session, scope: Scope, webhook_id: UUID, *, is_change: bool = True
) -> WebhookRow:
    """Return a webhook that the caller may change, locked for that."""
    row = _find(session, scope, webhook_id)
    if not may_hold(scope, row.principal_type, row.principal_id):
        raise NotAllowed
    if is_change:
        session.refresh(row, with_for_update=True)
    return row


def _resume(session: Session, scope: Scope, row: WebhookRow) -> None:
    """Have what waits sent from now on, by the rights of whoever resumes it."""
    row.paused, row.failing_since, row.set_by = None, None, scope.user_id
    one = WebhookDeliveryRow
    waits = (one.webhook_id == row.id) & (one.status == DeliveryStatus.PENDING)
    session.execute(update(one).where(waits).values(due_at=NOW, attempts=0))


def _checked(settings: Settings, url: str) -> str:
    """Return an address that events may be sent to. Raise InvalidInput, AddressRefused."""
    parts, port = _split(url)
    if parts is None or parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise InvalidInput("A webhook needs an address that begins with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("The address names a user or a password. The signature replaces these.")
    if parts.fragment:
        raise InvalidInput("Leave out what follows #: it is never sent.")
    settings.outgoing.check(parts.hostname, port or DEFAULT_PORTS[parts.scheme])
    return url


def _split(url: str) -> tuple[SplitResult | None, int | None]:
    if not url.isascii() or not url.isprintable() or " " in url:
        return None, None
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError:
        return None, None


def _domain(session: Session, scope: Scope, domain_id: UUID | None) -> UUID | None:
    """Return the id of a domain that the caller may use. Raise DomainNotFound."""
    if domain_id is not None:
        domains.get(session, scope, domain_id)
    return domain_id


def _sealed(settings: Settings, webhook_id: UUID, secret: str) -> str:
    try:
        return seal(settings, webhook_id, secret)
    except OSError as error:
        raise ConfigurationError(
            f"The secret cannot be encrypted: DATA_DIR is not writable ({error.strerror})."
        ) from error


def _now(session: Session) -> datetime:
    now: datetime = session.execute(select(NOW)).scalar_one()
    return now


def _record(session: Session, scope: Scope, row: WebhookRow, action: str, **more: Any) -> None:
    """Audit an act: of the address only where it is, as the rest may hold a secret."""
    details = {
        "name": row.name, "of": f"{row.principal_type}:{row.principal_id}",
        "host": urlsplit(row.url).netloc, **more,
    }  # fmt: skip
    audit.record(session, scope.user_id, action, SUBJECT, row.id, details)


def _with_secret(session: Session, scope: Scope, row: WebhookRow, secret: str) -> MadeWebhook:
    (shown,) = _shown(session, scope, [row])
    return MadeWebhook(secret=secret, **shown.model_dump())


def _shown(session: Session, scope: Scope, rows: Sequence[WebhookRow]) -> list[Webhook]:
    """Return webhooks as the caller may see them."""
    people = names_of(session, {one.set_by for one in rows})
    teams = _names(session, TeamRow, [one.principal_id for one in rows])
    of_domains = _names(session, DomainRow, [one.domain_id for one in rows if one.domain_id])
    now, shown = datetime.now(UTC), []
    for one in rows:
        may = may_hold(scope, one.principal_type, one.principal_id)
        parts = urlsplit(one.url)
        is_old = one.old_secret_until is not None and one.old_secret_until > now
        same = {name: getattr(one, name) for name in _SAME}
        shown.append(
            Webhook(
                **same,
                url=one.url if may else f"{parts.scheme}://{parts.netloc}",
                principal_name=teams.get(one.principal_id)
                or ("Everyone" if not one.principal_id else people.get(one.principal_id, "")),
                domain_id=one.domain_id if may else None,
                domain=of_domains.get(one.domain_id) if may else None,
                set_by_name=people[one.set_by],
                old_secret_until=one.old_secret_until if is_old else None,
                can_change=may,
            )
        )
    return shown


def _names(session: Session, row: Any, ids: Sequence[Any]) -> dict[Any, str]:
    if not ids:
        return {}
    found = session.execute(select(row.id, row.name).where(row.id.in_(ids)))
    return {one.id: one.name for one in found}


def _delivery(row: WebhookDeliveryRow) -> Delivery:
    is_pending = row.status == DeliveryStatus.PENDING
    same = {name: getattr(row, name) for name in _OF_DELIVERY}
    due = row.due_at if is_pending else None
    return Delivery(**same, session_id=row.conversation_id, due_at=due)


_SAME = (
    "id", "name", "events", "principal_type", "principal_id", "set_by", "paused",
    "failing_since", "created_at",
)  # fmt: skip
_OF_DELIVERY = (
    "id", "event", "turn_id", "status", "attempts", "answer_status", "answer", "created_at",
    "ended_at",
)  # fmt: skip

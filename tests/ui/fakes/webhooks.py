"""The part of the fake API about webhooks: kept as they are set, told nothing."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI

from backend.schemas.people.rights import PrincipalType
from backend.schemas.webhooks import (
    Delivery,
    DeliveryPage,
    DeliveryStatus,
    MadeWebhook,
    NewWebhook,
    PauseReason,
    Webhook,
    WebhookChange,
    WebhookEvent,
    Webhooks,
    WebhookTest,
)

THEN = datetime(2026, 3, 30, 9, 0, tzinfo=UTC)
SECRET = "whsec_shown_once"


def webhook(name: str = "The host", **fields: object) -> Webhook:
    given = {
        "url": "https://example.com/hook", "events": list(WebhookEvent),
        "principal_type": PrincipalType.USER, "principal_id": "ada", "principal_name": "Ada",
        "domain_id": None, "domain": None, "set_by": "ada", "set_by_name": "Ada", "paused": None,
        "failing_since": None, "old_secret_until": None, "can_change": True,
    }  # fmt: skip
    return Webhook(id=uuid4(), name=name, created_at=THEN, **{**given, **fields})


def delivery(status: DeliveryStatus = DeliveryStatus.DELIVERED, **fields: object) -> Delivery:
    given = {
        "event": WebhookEvent.TURN_FINISHED, "turn_id": uuid4(), "attempts": 1,
        "answer_status": 200, "answer": "noted", "due_at": None, "ended_at": THEN,
    }  # fmt: skip
    return Delivery(
        id=uuid4(), session_id=uuid4(), status=status, created_at=THEN, **{**given, **fields}
    )


@dataclass
class FakeWebhooks:
    """The webhooks, their deliveries, and what was asked for."""

    items: list[Webhook] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    tested: WebhookTest | None = None
    asked: list[NewWebhook] = field(default_factory=list)
    retried: list[UUID] = field(default_factory=list)


def add_webhook_routes(app: FastAPI, held: FakeWebhooks, api: str) -> None:
    def find(webhook_id: UUID) -> Webhook:
        (found,) = (one for one in held.items if one.id == webhook_id)
        return found

    @app.get(f"{api}/webhooks")
    def webhooks() -> Webhooks:
        return Webhooks(items=held.items)

    @app.post(f"{api}/webhooks", status_code=201)
    def add(body: NewWebhook) -> MadeWebhook:
        held.asked.append(body)
        held.items.insert(0, webhook(body.name, url=body.url, events=body.events))
        return MadeWebhook(secret=SECRET, **held.items[0].model_dump())

    @app.patch(f"{api}/webhooks/{{webhook_id}}")
    def change(webhook_id: UUID, body: WebhookChange) -> Webhook:
        find(webhook_id).paused = PauseReason.PERSON if body.is_paused else None
        return find(webhook_id)

    @app.delete(f"{api}/webhooks/{{webhook_id}}", status_code=204)
    def remove(webhook_id: UUID) -> None:
        held.items.remove(find(webhook_id))

    @app.post(f"{api}/webhooks/{{webhook_id}}/test")
    def test(webhook_id: UUID) -> WebhookTest:
        assert find(webhook_id) and held.tested
        return held.tested

    @app.post(f"{api}/webhooks/{{webhook_id}}/secret")
    def rotate(webhook_id: UUID) -> MadeWebhook:
        find(webhook_id).old_secret_until = THEN
        return MadeWebhook(secret=SECRET, **find(webhook_id).model_dump())

    @app.get(f"{api}/webhooks/{{webhook_id}}/deliveries")
    def deliveries(webhook_id: UUID, limit: int, cursor: str | None = None) -> DeliveryPage:
        first = int(cursor or 0)
        rest = held.deliveries[first : first + limit]
        is_last = first + limit >= len(held.deliveries)
        return DeliveryPage(items=rest, next_cursor=None if is_last else str(first + limit))

    @app.post(f"{api}/webhooks/{{webhook_id}}/deliveries/{{delivery_id}}/retry")
    def retry(webhook_id: UUID, delivery_id: UUID) -> Delivery:
        held.retried.append(delivery_id)
        (found,) = (one for one in held.deliveries if one.id == delivery_id)
        return found

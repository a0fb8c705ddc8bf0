"""Webhooks: where the events of sessions are sent, and what became of them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Whole
from backend.api.http.threads import long_wait
from backend.schemas.webhooks import (
    Delivery,
    DeliveryPage,
    DeliveryStatus,
    MadeWebhook,
    NewWebhook,
    Webhook,
    WebhookChange,
    Webhooks,
    WebhookTest,
)
from backend.webhooks import service

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


@router.get("")
def list_webhooks(services: ServicesDep, scope: ReadScope) -> Webhooks:
    """The webhooks of the caller, of their teams and of everyone, the latest first."""
    with services.database.read() as session:
        return service.list_webhooks(session, scope)


@router.post("", status_code=201)
def add_webhook(body: Sent[NewWebhook], services: ServicesDep, scope: ManageScope) -> MadeWebhook:
    """Set a webhook. Its secret is in this answer only."""
    with services.database.transaction() as session:
        return service.add_webhook(session, services.settings, scope, body)


@router.get("/{webhook_id}")
def get_webhook(webhook_id: UUID, services: ServicesDep, scope: ReadScope) -> Webhook:
    """One webhook."""
    with services.database.read() as session:
        return service.get_webhook(session, scope, webhook_id)


@router.patch("/{webhook_id}")
def change_webhook(
    webhook_id: UUID, body: Sent[WebhookChange], services: ServicesDep, scope: ManageScope
) -> Webhook:
    """Change, pause or resume a webhook."""
    with services.database.transaction() as session:
        return service.change_webhook(session, services.settings, scope, webhook_id, body)


@router.delete("/{webhook_id}", status_code=204)
def delete_webhook(webhook_id: UUID, services: ServicesDep, scope: ManageScope) -> None:
    """Delete a webhook with its deliveries; those that wait are not sent."""
    with services.database.transaction() as session:
        service.delete_webhook(session, scope, webhook_id)


@router.post("/{webhook_id}/test")
@long_wait
def test_webhook(webhook_id: UUID, services: ServicesDep, scope: ManageScope) -> WebhookTest:
    """Send a signed event of type `test` now, and show what the receiver answers."""
    return service.test_webhook(services.database, services.settings, scope, webhook_id)


@router.post("/{webhook_id}/secret")
def rotate_secret(webhook_id: UUID, services: ServicesDep, scope: ManageScope) -> MadeWebhook:
    """Make a new secret, which is in this answer only. The one before also signs for a day."""
    with services.database.transaction() as session:
        return service.rotate_secret(session, services.settings, scope, webhook_id)


@router.get("/{webhook_id}/deliveries")
def list_deliveries(
    webhook_id: UUID,
    services: ServicesDep,
    scope: ReadScope,
    status: DeliveryStatus | None = None,
    cursor: str | None = None,
    limit: Annotated[Whole, Query(ge=1, le=service.MAX_PAGE)] = 50,
) -> DeliveryPage:
    """What a webhook was told in the last week, the latest first."""
    with services.database.read() as session:
        return service.list_deliveries(
            session, scope, webhook_id, status, cursor=cursor, limit=limit
        )


@router.post("/{webhook_id}/deliveries/{delivery_id}/retry")
def retry_delivery(
    webhook_id: UUID, delivery_id: UUID, services: ServicesDep, scope: ManageScope
) -> Delivery:
    """Have a delivery sent again, or sooner."""
    with services.database.transaction() as session:
        return service.retry_delivery(session, scope, webhook_id, delivery_id)

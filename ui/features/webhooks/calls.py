"""API calls for webhooks and their deliveries."""

from typing import Any
from uuid import UUID

from backend.schemas.webhooks import (
    Delivery,
    DeliveryPage,
    MadeWebhook,
    NewWebhook,
    Webhook,
    Webhooks,
    WebhookTest,
)
from ui.client import Client


def list_webhooks(client: Client) -> Webhooks:
    """Return the webhooks that the person sees, the latest first."""
    return client.get(Webhooks, "webhooks")


def add_webhook(client: Client, new: NewWebhook) -> MadeWebhook:
    """Set a webhook; its secret is in this answer only."""
    return client.call(MadeWebhook, "POST", "webhooks", json=new.model_dump(mode="json"))


def pause(client: Client, webhook_id: UUID, *, is_paused: bool) -> Webhook:
    """Pause a webhook, or resume it."""
    body: dict[str, Any] = {"is_paused": is_paused}
    return client.call(Webhook, "PATCH", f"webhooks/{webhook_id}", json=body)


def delete_webhook(client: Client, webhook_id: UUID) -> None:
    """Delete a webhook with its deliveries."""
    client.send("DELETE", f"webhooks/{webhook_id}")


def test(client: Client, webhook_id: UUID) -> WebhookTest:
    """Send a test event and return the receiver's answer."""
    return client.call(WebhookTest, "POST", f"webhooks/{webhook_id}/test")


def rotate(client: Client, webhook_id: UUID) -> MadeWebhook:
    """Make a new secret, which is in this answer only."""
    return client.call(MadeWebhook, "POST", f"webhooks/{webhook_id}/secret")


def deliveries(client: Client, webhook_id: UUID, cursor: str | None) -> DeliveryPage:
    """Return a page of a webhook's deliveries, the latest first."""
    return client.get(DeliveryPage, f"webhooks/{webhook_id}/deliveries", limit=20, cursor=cursor)


def retry(client: Client, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Have a delivery sent again."""
    return client.call(Delivery, "POST", f"webhooks/{webhook_id}/deliveries/{delivery_id}/retry")

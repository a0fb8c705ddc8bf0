"""Secrets and signatures, as the Standard Webhooks specification defines them (version 1)."""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

from backend.connections.keyring import Keyring
from backend.settings import Settings
from db.models.webhook import WebhookRow

PREFIX = "whsec_"
BYTES = 32


def new_secret() -> str:
    """Return a new secret."""
    return PREFIX + b64encode(secrets.token_bytes(BYTES)).decode()


def seal(settings: Settings, webhook_id: object, secret: str) -> str:
    """Return a secret as it is stored. Raise OSError."""
    return Keyring(settings).seal(secret, _bound(webhook_id))


def open_secrets(settings: Settings, row: WebhookRow, now: datetime) -> list[str]:
    """Return the secrets that count now, the newest first. Raise KeyUnreadable."""
    sealed = [row.sealed_secret]
    if row.sealed_old_secret and row.old_secret_until and row.old_secret_until > now:
        sealed.append(row.sealed_old_secret)
    return [Keyring(settings).open(one, _bound(row.id)) for one in sealed]


def sign(message_id: str, at: datetime, body: bytes, of: Iterable[str]) -> Mapping[str, str]:
    """Return the headers that prove who sends a body, and when: one signature for each secret."""
    seconds = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), seconds.encode(), body))
    keys = [b64decode(secret.removeprefix(PREFIX)) for secret in of]
    signatures = [b64encode(hmac.digest(key, signed, sha256)).decode() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }


def _bound(webhook_id: object) -> str:
    return f"webhook {webhook_id}"

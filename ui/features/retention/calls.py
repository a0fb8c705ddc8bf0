"""API calls of the retention page."""

import httpx

from backend.schemas.retention import Retention, RetentionOutcome
from ui.client import Client

DELETING = httpx.Timeout(3_600.0, connect=3.0)  # some ten thousand sessions or more


def get_retention(client: Client) -> Retention:
    """Return the rules, what they would delete now, and when they were applied."""
    return client.get(Retention, "retention")


def apply_retention(client: Client) -> RetentionOutcome:
    """Delete now what is due for deletion."""
    return client.call(
        RetentionOutcome, "POST", "retention", params={"dry_run": False}, timeout=DELETING
    )

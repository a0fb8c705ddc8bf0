"""API calls of the account page."""

from uuid import UUID

from backend.schemas.people.account import (
    Account,
    SignIns,
)
from ui.client import Client


def get_account(client: Client) -> Account:
    """Return who the caller is, and what they may do."""
    return client.get(Account, "account")


def list_sign_ins(client: Client) -> SignIns:
    """Return the caller's open sign-ins, the latest first."""
    return client.get(SignIns, "sign-ins")


def end_sign_in(client: Client, sign_in_id: UUID) -> None:
    """End one of the caller's sign-ins."""
    client.send("DELETE", f"sign-ins/{sign_in_id}")

"""API calls for the API tokens of an account; `account` is its path in the API."""

from uuid import UUID

from backend.schemas.people.account import ApiToken, ApiTokens, MadeToken, NewToken
from ui.client import Client


def list_tokens(client: Client, account: str) -> ApiTokens:
    """Return the account's tokens, the latest first, without their texts."""
    return client.get(ApiTokens, f"{account}/tokens")


def make_token(client: Client, account: str, new: NewToken) -> MadeToken:
    """Make a token; its text is in this answer only."""
    body = new.model_dump(mode="json")
    return client.call(MadeToken, "POST", f"{account}/tokens", json=body)


def revoke_token(client: Client, account: str, token_id: UUID) -> ApiToken:
    """Revoke a token for good."""
    return client.call(ApiToken, "DELETE", f"{account}/tokens/{token_id}")

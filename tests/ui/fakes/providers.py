"""The identity providers of the fake API."""

from datetime import UTC, datetime

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from backend.schemas.conversations.sessions import Problem
from backend.schemas.people.account import Way, Ways
from backend.schemas.people.providers import (
    IdentityProvider,
    IdentityProviders,
    NewProvider,
    ProviderChange,
    ProviderSource,
    ProviderTest,
    TestedProvider,
)

REDIRECT = "https://desk.example.com/sign-in/oidc/{id}/answer"


class FakeProviders:
    """The providers, and what was sent; `refusal`: how each change is refused."""

    def __init__(self):
        self.known: dict[str, IdentityProvider] = {}
        self.ways = ["local", "oidc"]
        self.test = ProviderTest(is_usable=True, detail="It knows this client.")
        self.sent: list[dict] = []
        self.refusal: Problem | None = None

    def add(self, id, **fields) -> IdentityProvider:
        values = {
            "id": id, "source": ProviderSource.PAGE, "name": id.title(),
            "issuer": f"https://{id}.example.com", "client_id": "colloquy", "has_secret": True,
            "scopes": "openid profile email", "groups_claim": None, "groups": {},
            "admits_new": True, "redirect_url": REDIRECT.format(id=id),
            "created_at": datetime.now(UTC),
        } | fields  # fmt: skip
        provider = self.known[id] = IdentityProvider(**values)
        return provider


def add_provider_routes(app: FastAPI, held: FakeProviders, api: str) -> None:
    path = f"{api}/identity-providers"

    def refused():
        return JSONResponse(held.refusal.model_dump(), held.refusal.status)

    @app.get(f"{api}/sign-in-ways")
    def ways() -> Ways:
        return Ways(items=[Way(way=one) for one in held.ways])

    @app.get(path)
    def listed() -> IdentityProviders:
        items, is_on = list(held.known.values()), "oidc" in held.ways
        return IdentityProviders(items=items, redirect_url=REDIRECT, is_on=is_on)

    @app.post(path, status_code=201)
    def add(new: NewProvider):
        held.sent.append(_sent(new))
        return refused() if held.refusal else held.add(**_shown(new))

    @app.post(f"{api}/identity-provider-tests")
    def test(body: TestedProvider) -> ProviderTest:
        held.sent.append(_sent(body))
        return held.test

    @app.patch(f"{path}/{{provider_id}}")
    def change(provider_id: str, body: ProviderChange):
        held.sent.append(_sent(body))
        if held.refusal:
            return refused()
        changed = held.known[provider_id].model_dump() | _shown(body)
        held.known[provider_id] = IdentityProvider(**changed)
        return held.known[provider_id]

    @app.delete(f"{path}/{{provider_id}}", status_code=204)
    def remove(provider_id: str):
        if held.refusal:
            return refused()
        del held.known[provider_id]
        return Response(status_code=204)


def _sent(body) -> dict:
    """What was sent, with the secret in the clear."""
    sent = body.model_dump(exclude_unset=True, mode="json")
    if body.client_secret is not None and "client_secret" in sent:
        sent["client_secret"] = body.client_secret.get_secret_value()
    return sent


def _shown(body) -> dict:
    shown = _sent(body)
    if (secret := shown.pop("client_secret", None)) is not None:
        shown["has_secret"] = bool(secret)
    return shown

"""The account part of the fake API: one's sign-ins and tokens."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from backend.schemas.conversations.sessions import Problem
from backend.schemas.people.account import (
    Account,
    ApiToken,
    ApiTokens,
    MadeToken,
    NewToken,
    SignIn,
    SignIns,
    Team,
)
from backend.schemas.people.rights import Allows, Permission, Role

USED = datetime(2026, 3, 30, 9, 0, tzinfo=UTC)
SECRET = "cqt_shown_once"


def sign_in(browser: str, *, is_this: bool = False, way: str = "local") -> SignIn:
    return SignIn(
        id=uuid4(), way=way, address="192.0.2.7", browser=browser, created_at=USED, used_at=USED,
        ends_at=USED + timedelta(days=7), is_this=is_this,
    )  # fmt: skip


def token(name: str, **fields: object) -> ApiToken:
    times = {"created_at": USED, "expires_at": None, "used_at": None, "revoked_at": None}
    return ApiToken(**{"id": uuid4(), "name": name, "allows": Allows.READ, **times, **fields})


@dataclass
class FakeAccount:
    """One person's account; `asked` is for which tokens."""

    name: str = "Ada Lovelace"
    role: Role = Role.MEMBER
    permissions: list[Permission] = field(default_factory=list)
    teams: list[Team] = field(default_factory=list)
    has_password: bool = True
    sign_ins: list[SignIn] = field(default_factory=list)
    tokens: list[ApiToken] = field(default_factory=list)
    asked: list[NewToken] = field(default_factory=list)


def add_account_routes(app: FastAPI, held: FakeAccount, api: str) -> None:
    @app.get(f"{api}/account")
    def account() -> Account:
        return Account(
            user_id="ada", name=held.name, login="ada", email=None, role=held.role,
            permissions=held.permissions, allows=Allows.MANAGE, teams=held.teams,
            has_password=held.has_password, sign_in=uuid4(),
        )  # fmt: skip

    @app.get(f"{api}/sign-ins")
    def sign_ins() -> SignIns:
        return SignIns(items=held.sign_ins)

    @app.delete(f"{api}/sign-ins/{{sign_in_id}}", status_code=204, response_model=None)
    def end(sign_in_id: UUID) -> JSONResponse | None:
        if sign_in_id not in [one.id for one in held.sign_ins]:
            gone = Problem(title="Not found", status=404, detail="There is no such sign-in.")
            return JSONResponse(gone.model_dump(), 404, media_type="application/problem+json")
        held.sign_ins = [one for one in held.sign_ins if one.id != sign_in_id]
        return None

    @app.get(f"{api}/account/tokens")
    def tokens() -> ApiTokens:
        return ApiTokens(items=held.tokens)

    @app.post(f"{api}/account/tokens", status_code=201)
    def make(body: NewToken) -> MadeToken:
        held.asked.append(body)
        made = token(body.name, allows=body.allows)
        held.tokens.insert(0, made)
        return MadeToken(token=SECRET, **made.model_dump())

    @app.delete(f"{api}/account/tokens/{{token_id}}")
    def revoke(token_id: UUID) -> ApiToken:
        (found,) = (one for one in held.tokens if one.id == token_id)
        found.revoked_at = found.revoked_at or USED
        return found

"""An installation with accounts, over a running stack's database: its API, and people of it."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import delete, update
from starlette.routing import BaseRoute

from backend.api.app import create_app
from backend.auth import sign_ins
from backend.auth.passwords import hash_password
from backend.auth.sign_ins import Visitor
from backend.bootstrap import bootstrap
from backend.settings import Settings
from db.models.people.sign_in import FailedSignInRow
from db.models.people.user import LOCAL, TeamMemberRow, TeamRow, UserRow
from db.roles import DatabaseRole
from db.session import Database
from tests.stack import Stack

PASSWORD = "four random words here"
_ROUTES: list[BaseRoute] = []


class Accounts:
    """People of an installation, with their passwords and sign-ins."""

    def __init__(self, client: TestClient, database: Database) -> None:
        self._client = client
        self.app = client.app
        self.database = database

    def visitor(self, token: str | None = None) -> TestClient:
        """Return a client with this token, or none."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return TestClient(self._client.app, base_url=str(self._client.base_url), headers=headers)

    def first_admin(self) -> TestClient:
        """Return the first administrator's client, as the link that the start prints makes it."""
        values = {"login": f"admin-{uuid4().hex[:8]}", "password_hash": _password_hash()}
        values["name"] = values["login"]
        with self.database.transaction() as session:
            session.execute(update(UserRow).where(UserRow.id == LOCAL).values(**values))
            sign_ins.end_all(session, LOCAL)
            token = sign_ins.begin(session, LOCAL, "local", Visitor()).token
        return self.visitor(token)

    def person(
        self, role: str = "member", teams: Sequence[str] = (), organisation: str | None = None
    ) -> tuple[str, TestClient]:
        """Make a person, and return their id and their client."""
        name = f"person-{uuid4().hex[:8]}"
        with self.database.transaction() as session:
            session.add(
                UserRow(
                    id=name, name=name, login=name, role=role, organisation=organisation,
                    password_hash=_password_hash(),
                )
            )  # fmt: skip
            session.flush()
            session.add_all(TeamMemberRow(team_id=team, user_id=name) for team in teams)
            token = sign_ins.begin(session, name, "local", Visitor()).token
        return name, self.visitor(token)

    def team(self, name: str | None = None) -> str:
        """Make a team, and return its id."""
        team_id = f"team-{uuid4().hex[:8]}"
        with self.database.transaction() as session:
            session.add(TeamRow(id=team_id, name=name or team_id))
        return team_id


@cache
def _password_hash() -> str:
    """Return the hash of PASSWORD: to compute it takes longer than most tests."""
    return hash_password(PASSWORD)


def forget_failures(database: Database) -> None:
    """All tests come from one address: what others failed at would make this one wait."""
    with database.transaction() as session:
        session.execute(delete(FailedSignInRow))


def _prepared(app: FastAPI) -> FastAPI:
    """Give an app the routes of the first one: FastAPI prepares them for half a second."""
    if not _ROUTES:
        _ROUTES.extend(app.router.routes)
    app.router.routes = _ROUTES
    return app


@contextmanager
def accounts_of(stack: Stack, folder: Path, **settings: Any) -> Iterator[Accounts]:
    """Serve the API of an installation with accounts over this stack's database."""
    given = {"auth": "local", **settings}
    found = Settings(
        _env_file=None,
        database_url=stack.database_url,
        redis_url=stack.redis_url,
        data_dir=folder,
        **given,
    )
    services = bootstrap(found, threads=4, role=DatabaseRole.API)
    with (
        closing(Database(stack.database_url)) as database,
        TestClient(_prepared(create_app(services)), base_url="http://127.0.0.1/api/v1") as client,
    ):
        forget_failures(database)
        yield Accounts(client, database)

"""An installation with people in all relations to a session, without workers, for many requests."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, insert, update

from backend.api.app import create_app
from backend.auth import sign_ins
from backend.auth.sign_ins import Visitor
from backend.auth.tokens import Kind, digest, new_token
from backend.bootstrap import bootstrap
from backend.settings import Settings
from backend.types import JSON
from db.models.conversations.conversation import ConversationRow
from db.models.people.grant import GrantRow
from db.models.people.review import ReviewRow
from db.models.people.sign_in import ApiTokenRow, SignInRow
from db.models.people.user import TeamMemberRow, TeamRow, UserRow
from db.roles import DatabaseRole
from tests.integration.people.matrix.things import Things, make_things, nothing

PREFIX = "/api/v1"
ROLES = ("member", "reviewer", "admin")
NAMED = re.compile(r"\{(\w+)\}")
TEAM, OTHER_TEAM = "ours", "theirs"
STRANGER = "stranger"


class Answer(NamedTuple):
    """What must not differ between another's thing and one that does not exist."""

    status: int
    title: str
    detail: str
    headers: tuple[tuple[str, str], ...]


@dataclass
class Installation:
    """The API, asked in this process, and who may ask it."""

    client: TestClient
    services: Any
    tokens: dict[str, str] = field(default_factory=dict)
    _looked_at: dict[tuple[str, str], Things] = field(default_factory=dict)

    def make_people(self) -> None:
        """Make three callers in one team, one of each role, and strangers in another."""
        with self.services.database.transaction() as session:
            people = [*ROLES, STRANGER, "foreigner", "program", "disabled"]
            roles = dict.fromkeys(people, "member") | {role: role for role in ROLES}
            session.add_all(
                UserRow(
                    id=one, name=one, login=one, role=roles[one], is_service=one == "program",
                    organisation="elsewhere" if one == "foreigner" else "here",
                )
                for one in people
            )  # fmt: skip
            session.add_all([TeamRow(id=TEAM, name=TEAM), TeamRow(id=OTHER_TEAM, name=OTHER_TEAM)])
            session.flush()
            session.add_all(TeamMemberRow(team_id=TEAM, user_id=one) for one in ROLES)
            session.add(TeamMemberRow(team_id=OTHER_TEAM, user_id=STRANGER))
            for one in people:
                self.tokens[one] = sign_ins.begin(session, one, "local", Visitor()).token
                for level in ("read", "ask", "manage"):
                    self.tokens[f"{one}'s {level} token"] = self._api_token(session, one, level)
            now = func.clock_timestamp()
            session.execute(update(UserRow).where(UserRow.id == "disabled").values(disabled_at=now))
            past = now - timedelta(days=1)
            self.tokens["expired"] = self._api_token(session, "member", "manage", expires_at=past)
            self.tokens["revoked"] = self._api_token(session, "member", "manage", revoked_at=past)
            ended = {"ended": {"ended_at": past}, "old": {"ends_at": past},
                     "idle": {"used_at": past}}  # fmt: skip
            for name, values in ended.items():
                self.tokens[name] = sign_ins.begin(session, "member", "local", Visitor()).token
                of_it = SignInRow.token_hash == digest(self.tokens[name])
                session.execute(update(SignInRow).where(of_it).values(**values))

    def looked_at(self, relation: str, caller: str) -> Things:
        """Return things in this relation that no request changes: the same each time."""
        if (relation, caller) not in self._looked_at:
            self._looked_at[relation, caller] = self.things(relation, caller)
        return self._looked_at[relation, caller]

    def things(self, relation: str, caller: str) -> Things:
        """Make a session in this relation to the caller, with all that it holds."""
        if relation == "random":
            return nothing()
        owner = {"own": caller, "another organisation's": "foreigner"}.get(relation, STRANGER)
        team = {"the team's": TEAM, "another team's": OTHER_TEAM}.get(relation)
        with self.services.database.transaction() as session:
            made = make_things(session, self.services.files, owner, team)
            if relation.startswith("shared"):
                right = relation.removeprefix("shared to ")
                session.add(
                    GrantRow(
                        resource_type="session", resource_id=made.session_id,
                        principal_type="user" if right == "read" else "team",
                        principal_id=caller if right == "read" else TEAM,
                        right=right, granted_by=STRANGER,
                    )
                )  # fmt: skip
            of_it = ConversationRow.id == made.session_id
            if relation == "leaving":
                past = func.clock_timestamp() - timedelta(seconds=1)
                session.execute(update(ConversationRow).where(of_it).values(deletes_at=past))
            if relation == "deleted":
                session.execute(delete(ConversationRow).where(of_it))
            if relation == "under review":
                session.add(
                    ReviewRow(
                        conversation_id=made.session_id, reviewer=caller, reason="A complaint",
                        ends_at=func.clock_timestamp() + timedelta(hours=1),
                    )
                )  # fmt: skip
        return made

    def ask(
        self, operation: str, token: str | None, values: JSON, body: Any, query: Any
    ) -> httpx.Response:
        """Send a request; of an event stream only its beginning."""
        method, _, path = operation.partition(" ")
        values = {"principal_type": "user", **values}
        path = NAMED.sub(lambda name: str(values.get(name[1], uuid4())), path)
        path = path if path in ("/healthz", "/readyz", "/metrics") else PREFIX + path
        headers = {"Prefer": "respond-async"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        body, query = _fill(body, values), _fill(query, values)
        if path.endswith("/events"):
            assert self.client.portal is not None
            return self.client.portal.call(self._begin, path, headers)
        if operation in ("POST /files", "POST /imports"):
            files = {"file": ("x.csv", b"a,b\n1,2\n")}
            return self.client.request(method, path, headers=headers, files=files)
        return self.client.request(method, path, headers=headers, json=body, params=query)

    async def _begin(self, path: str, headers: JSON) -> httpx.Response:
        """Return how a stream begins, and leave it."""
        begun: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        body = b""

        async def receive() -> JSON:
            await asyncio.sleep(3600)
            return {"type": "http.disconnect"}

        async def send(message: JSON) -> None:
            nonlocal body
            body += message.get("body", b"")
            if message["type"] == "http.response.start":
                start.update(message)
            elif not begun.done():
                begun.set_result(start)

        start: JSON = {}
        sent = [(b"host", b"127.0.0.1")]
        sent += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
            "root_path": "", "headers": sent, "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
        serving = asyncio.ensure_future(self.client.app(scope, receive, send))
        await asyncio.wait({begun, serving}, return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        return httpx.Response(start["status"], headers=start["headers"], content=body)

    def _api_token(self, session: Any, holder: str, level: str, **values: Any) -> str:
        token = new_token(Kind.API)
        row = {"id": uuid4(), "user_id": holder, "name": level, "allows": level, **values}
        session.execute(insert(ApiTokenRow).values(token_hash=digest(token), **row))
        return token


def comparable(answer: httpx.Response, values: JSON) -> Answer:
    """Return what of an answer a caller could tell apart, without the ids that they sent."""
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    problem = answer.json() if is_problem else {}
    detail = str(problem.get("detail", ""))
    for name, value in values.items():
        detail = detail.replace(value, "…") if name.endswith("_id") else detail
    kept = [(name, value) for name, value in answer.headers.items() if name not in _VARYING]
    return Answer(answer.status_code, str(problem.get("title")), detail, tuple(sorted(kept)))


@contextmanager
def installation(
    database_url: str, redis_url: str, folder: Path, review: str = "reason"
) -> Iterator[Installation]:
    """Serve an installation with accounts over an empty database."""
    settings = Settings(
        _env_file=None, database_url=database_url, redis_url=redis_url, data_dir=folder,
        auth="local", openai_base_url="http://127.0.0.1:9/v1", openai_api_key="key",
        review=review,
    )  # fmt: skip
    app = create_app(bootstrap(settings, threads=4, role=DatabaseRole.API))
    services = bootstrap(settings, threads=4, role=DatabaseRole.WORKER)
    with TestClient(app, base_url="http://127.0.0.1") as client, closing(services.database):
        made = Installation(client, services)
        made.make_people()
        yield made


def _fill(value: Any, values: JSON) -> Any:
    if isinstance(value, dict):
        return {name: _fill(one, values) for name, one in value.items()}
    if not isinstance(value, str):
        return value
    return NAMED.sub(lambda name: str(values.get(name[1], uuid4())), value)


# Headers that say how long an answer is and when it was made.
_VARYING = {"date", "content-length"}

"""Row-level security: what PostgreSQL shows even where a query forgets to ask whose it is."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, make_url, select, text, true

from backend.approvals import inbox
from backend.auth import reach
from backend.bootstrap import bootstrap, prepare_database
from backend.conversations import service
from backend.conversations.search import service as search
from backend.settings import Settings
from backend.turns.plan import reading
from backend.usage import service as usage
from backend.usage.ledger import EVERYTHING, entries
from db.migrate import main as run_migrate
from db.models.conversations.conversation import ConversationRow
from db.roles import DatabaseRole
from db.session import Database
from tests.fakes import ScriptedModel
from tests.integration.people.people import Accounts, accounts_of
from tests.stack import Servers, Stack

LISTS = ("/sessions", "/sessions?q=heron", "/sessions?order_by=title", "/search?q=heron",
         "/approvals", "/approvals?status=pending", "/approvals/count", "/tasks",
         "/usage", "/usage?by=owner", "/files", "/server")  # fmt: skip
# The tables that hang on conversations, by whichever way; and those that tell of people alone.
HANGING = text("""
    WITH RECURSIVE hanging (id) AS (
        SELECT 'conversations'::regclass::oid
        UNION SELECT conrelid FROM pg_constraint JOIN hanging ON confrelid = id WHERE contype = 'f')
    SELECT relname, relrowsecurity FROM pg_class WHERE oid IN (TABLE hanging)
    OR relname IN ('files', 'search_entries', 'spent_keys', 'usage_days')""")
NO_ID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def accounts(stack: Stack, tmp_path: Path) -> Iterator[Accounts]:
    with accounts_of(stack, tmp_path) as found:
        yield found


def ask(person: TestClient, message: str, **body: Any) -> dict[str, Any]:
    answer = person.post("/chat", json={"message": message, **body})
    assert answer.status_code == 200, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


def take_first_wall_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no query ask any more whose its rows are."""
    for module in (reach, service):
        monkeypatch.setattr(module, "conversation_reached_by", lambda *_: true())
    monkeypatch.setattr(service, "first_of_each_way", lambda _, find: find(true()))
    for module in (inbox, reading):
        monkeypatch.setattr(module, "listed_ids", lambda *_: select(ConversationRow.id))
    for module in (service, search):
        monkeypatch.setattr(module, "reaching", lambda _: None)
    monkeypatch.setattr(usage, "entries", lambda since, _: entries(since, EVERYTHING))


def readings(person: TestClient, session_id: str, turn_id: str) -> Iterator[str]:
    """What each route that reads something of a session answers."""
    given = {"session_id": session_id, "turn_id": turn_id}
    for path, methods in person.app.openapi()["paths"].items():  # type: ignore[attr-defined]  # FastAPI's
        ids = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        if "get" in methods and ids and ids[0] in given:
            rest = {name: given.get(name, NO_ID) for name in ids}
            place = path.removeprefix("/api/v1").format(**{**rest, "version": "1", "number": "1"})
            params = {"ids": turn_id} if place.endswith("/usage/turns") else None
            with person.stream("GET", place, params=params) as answer:
                yield answer.read().decode()


@pytest.mark.parametrize("first_wall_stands", [True, False])
def test_nothing_of_another_is_read(
    first_wall_stands: bool,
    accounts: Accounts,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (_, ada), (_, bob) = accounts.person(), accounts.person()
    model.steps = [{"text": "A heron."}] * 2
    turn = ask(ada, "Which heron?")
    if not first_wall_stands:
        take_first_wall_away(monkeypatch)

    own = [ada.get(path).text for path in LISTS[:4]]
    others = [bob.get(path).text for path in LISTS]
    read = list(readings(bob, turn["session_id"], turn["turn_id"]))

    assert [path for path, seen in zip(LISTS, own, strict=False) if "heron" not in seen] == [], own
    assert not [seen for seen in others if "heron" in seen or turn["session_id"] in seen]
    assert len(read) > 15
    assert not [seen for seen in read if '"status":404' not in seen]


def test_each_table_that_hangs_on_conversations_is_walled(stack: Stack) -> None:
    with closing(Database(stack.database_url)) as database, database.read() as session:
        walled = dict(session.execute(HANGING).tuples().all())

    assert len(walled) > 20
    assert [name for name, is_walled in walled.items() if not is_walled] == []


def test_a_function_that_reads_for_others_is_called_by_our_roles_alone(stack: Stack) -> None:
    query = text("SELECT has_function_privilege(:role, oid, 'EXECUTE') FROM pg_proc"
                 " WHERE proname IN ('find_entries', 'find_titles')")  # fmt: skip
    owner = make_url(stack.database_url).username
    with closing(Database(stack.database_url)) as database, database.read() as session:
        may = {
            role: session.scalars(query, {"role": role}).all()
            for role in ("public", f"{owner}_api", f"{owner}_worker")
        }

    assert [all(found) for found in may.values()] == [False, True, True], may
    assert not any(may["public"])


def test_a_transaction_that_acts_for_nobody_sees_and_writes_nothing(
    accounts: Accounts, stack: Stack
) -> None:
    _, ada = accounts.person()
    session_id = ada.post("/sessions", json={}).raise_for_status().json()["id"]
    role = DatabaseRole.API
    with closing(Database(stack.database_url, role=role, acting=lambda: ())) as database:
        with database.read() as session:
            assert session.scalars(select(ConversationRow.id)).all() == []
        with database.transaction() as session:
            statement = text("UPDATE conversations SET title = 'x' RETURNING id")
            assert session.execute(statement).all() == []
    assert ada.get(f"/sessions/{session_id}").json()["title"] == ""


def test_whoever_may_make_no_roles_is_told_the_statements_and_the_start_says_so(
    servers: Servers,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = f"desk {uuid4().hex[:8]}"
    superuser = create_engine(servers.postgres.superuser_url, isolation_level="AUTOCOMMIT")
    with closing(superuser.connect()) as administrator:
        administrator.execute(text(f"CREATE ROLE \"{desk}\" LOGIN PASSWORD 'of tests'"))
        administrator.execute(text(f'CREATE DATABASE "{desk}" OWNER "{desk}" TEMPLATE template0'))
        plain = make_url(servers.postgres.url).set(
            username=desk, password="of tests", database=desk
        )
        url = plain.render_as_string(hide_password=False)
        monkeypatch.setenv("DATABASE_URL", url)

        assert run_migrate() == 0
        said = capsys.readouterr().out
        assert "does not keep the rows of people apart" in said_at_start(url, caplog)
        for statement in said.partition("again:\n")[2].split(";"):
            if statement.strip():
                administrator.execute(text(statement))
        assert run_migrate() == 0

    superuser.dispose()
    assert capsys.readouterr().out == ""
    assert "itself keeps the rows of people apart" in said_at_start(url, caplog)


def said_at_start(url: str, caplog: pytest.LogCaptureFixture) -> str:
    """Return what a starting API says of the database."""
    settings = Settings(
        _env_file=None, database_url=url, redis_url="redis://127.0.0.1:1/0", auth="local"
    )
    services = bootstrap(settings, threads=1, role=DatabaseRole.API)
    caplog.clear()
    with caplog.at_level(logging.INFO), closing(services.database):
        prepare_database(services, wait=False)
    return caplog.text

"""What the database complains of names no value: not in a log, an answer, a turn or a row."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.exc import SQLAlchemyError

from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow
from db.session import Database
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import make_domain
from tests.stack import Servers, Stack

CANARY = "canary-4711"
WRONG = {
    "a key that exists": text("INSERT INTO keys (name) VALUES (:x)"),
    "a check": text("INSERT INTO keys (name, kind) VALUES (:x || '1', :x)"),
    "a missing value": text("INSERT INTO keys (name, other) VALUES (NULL, :x)"),
    "a number": text("SELECT CAST(:x AS integer)"),
    "a number in a body": text("SELECT CAST(CAST(:x AS text) AS uuid)"),
    "JSON": text("SELECT CAST(:x || '{' AS jsonb)"),
    "a date": text("SELECT CAST(:x AS timestamptz)"),
    "a length": text("INSERT INTO keys (name) VALUES (repeat(:x, 100))"),
    "a syntax error": text("SELEKT :x"),
    "time": text("SELECT pg_sleep(5), :x"),
    "a function": text("SELECT no_such_function(:x)"),
    "a type in Python": insert(TurnRow).values(conversation_id=CANARY),
    "JSON in Python": update(ConversationRow).values(image={"x": {1, 2, CANARY}}),
}


@pytest.fixture(scope="module")
def database(servers: Servers) -> Iterator[Database]:
    database = Database(servers.new_database())
    with database.transaction() as session:
        session.execute(
            text("CREATE TABLE keys (name varchar(99) PRIMARY KEY, other text, kind text,"
                 " CONSTRAINT short CHECK (length(kind) < 3))")
        )  # fmt: skip
        session.execute(text("INSERT INTO keys VALUES (:x)"), {"x": CANARY})
    yield database
    database.close()


@pytest.mark.parametrize("kind", WRONG)
def test_an_error_says_what_happened_and_no_value(database: Database, kind: str) -> None:
    with pytest.raises(SQLAlchemyError) as caught, database.transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = 300"))
        is_text = not hasattr(WRONG[kind], "table")
        session.execute(WRONG[kind], {"x": CANARY} if is_text else None)

    said = "".join(traceback.format_exception(caught.value))
    assert CANARY not in said
    assert CANARY not in repr(caught.value)
    assert len(str(caught.value)) > 20


def test_a_violated_constraint_is_named(database: Database) -> None:
    with pytest.raises(SQLAlchemyError) as caught, database.transaction() as session:
        session.execute(WRONG["a check"], {"x": CANARY})

    assert "SQLSTATE 23514, table keys, constraint short" in str(caught.value)


@contextmanager
def refusing(stack: Stack, table: str, column: str) -> Iterator[None]:
    """The table refuses rows that hold the canary, and PostgreSQL quotes them."""
    check = f"CHECK ({column}::text NOT LIKE '%{CANARY}%') NOT VALID"
    stack.query_and_commit(f"ALTER TABLE {table} ADD CONSTRAINT refuses {check}")
    try:
        yield
    finally:
        stack.query_and_commit(f"ALTER TABLE {table} DROP CONSTRAINT refuses")


@pytest.mark.chaos
def test_a_row_that_the_database_refuses_is_quoted_nowhere(
    own_stack: Stack, servers: Servers, model: ScriptedModel
) -> None:
    stack = own_stack
    session_id = stack.chat(script({"text": "before"}))["session_id"]
    with refusing(stack, "domains", "template"):
        answer = stack.client.post("/domains", json={"name": "odd", "system_prompt": CANARY})
    answers = [answer.text]
    with refusing(stack, "display_messages", "content"):
        body = {"message": f"my {CANARY}"}
        answers.append(stack.client.post(f"/sessions/{session_id}/chat", json=body).text)
        model.steps = [{"text": f"the {CANARY}"}]
        turn = stack.submit("ask", session_id)
        ended = stack.finished(turn["turn_id"], seconds=60)
    with refusing(stack, "agent_state_deltas", "delta"):
        other = stack.submit("ask", session_id)
        answers.append(str(stack.finished(other["turn_id"], seconds=60)))

    rows = stack.messages(session_id)
    logs = stack.log.read_text() + servers.postgres.log_file.read_text()
    assert ended["status"] == "failed"
    assert "SQLSTATE 23514" in logs
    for said in (*answers, str(ended), str(rows), logs):
        assert CANARY not in said
    assert stack.chat(script({"text": "after"}), session_id)["response"] == "after"


def test_a_database_that_goes_away_in_the_middle_leaves_no_value_in_the_log(
    own_stack: Stack, model: ScriptedModel
) -> None:
    stack = own_stack
    make_domain(stack)
    turn = stack.submit(script({"text": f"{CANARY} " * 40, "delay": 0.05}))
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "it does not run")

    stack.query_and_commit(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def has_succeeded() -> bool:
        answer = stack.client.get(f"/turns/{turn['turn_id']}")
        # A question whose connection is cut is told so, and asked again.
        return answer.is_success and answer.json()["status"] == "succeeded"

    stack.wait_for(has_succeeded, "the turn does not end", 60)
    assert CANARY not in stack.log.read_text()

"""Servers that others have written serve one domain; what becomes of them ends no turn."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import Gate, check_views, make_domain, make_session
from tests.servers.real import SqliteOverHttp, children, time_server
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

NOW = {"name": "get_current_time", "args": {"timezone": "Asia/Tokyo"}, "id": "t"}
TABLES = {"name": "list_tables", "id": "l"}


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteOverHttp]:
    with SqliteOverHttp(tmp_path / "ledger.db") as server:
        yield server


def rows_of(stack: Stack, session_id: str, kind: str) -> list[JSON]:
    rows, _ = check_views(stack, session_id)
    return [row["content"] for row in rows if row["content_type"] == kind]


def test_two_servers_of_others_serve_one_domain(stack: Stack, sqlite: SqliteOverHttp) -> None:
    domain = make_domain(stack, mcp_servers={"clock": time_server(), "ledger": sqlite.template()})
    create = {"name": "create_table", "args": {"query": "CREATE TABLE booked (eur INTEGER)"}}
    write = {"name": "write_query", "args": {"query": "INSERT INTO booked VALUES (42)"}}
    read = {"name": "read_query", "args": {"query": "SELECT eur FROM booked"}, "id": "r"}
    session_id = make_session(stack, domain["id"])

    steps = [{"tools": [create]}, {"tools": [write]}, {"tools": [NOW, read]}, {"text": "Done."}]
    turn = stack.chat(script(*steps), session_id)

    assert turn["response"] == "Done."
    stack.wait_for(lambda: not children(stack.workers[0].pid), "a child outlives its turn")
    *_, now, booked = rows_of(stack, session_id, "tool_result")
    assert "Asia/Tokyo" in now["content"] and not now["is_error"]
    assert "42" in booked["content"] and not booked["is_error"]
    assert rows_of(stack, session_id, "notice") == []


class Bystander(threading.Thread):
    """Asks again and again in a session of a domain without servers."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self._stack, self._is_over = stack, threading.Event()
        self.turns: list[JSON] = []

    def run(self) -> None:
        while not self._is_over.is_set():
            self.turns.append(self._stack.chat(script({"text": "As ever."})))

    def __enter__(self) -> "Bystander":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self.join()


def break_in_the_middle(
    stack: Stack, servers: JSON, break_it: Any, calls: list[JSON]
) -> tuple[JSON, str]:
    """Break servers while a turn runs that has used them; then let it call them again."""
    gate = Gate()
    with ToolServer([tool("wait")], gate.answer) as waiting:
        domain = make_domain(stack, mcp_servers={**servers, "gate": waiting.template})
        session_id = make_session(stack, domain["id"])
        # Their own step: beside the gate's call, they could be broken before they have answered.
        used, held = {"tools": [NOW, TABLES]}, {"tools": [{"name": "wait", "id": "w"}]}
        later = [{"tools": [call]} for call in calls]
        submitted = stack.submit(script(used, held, *later, {"text": "So be it."}), session_id)
        stack.wait_for(lambda: waiting.calls, "the turn does not come to the gate")
        with Bystander(stack) as bystander:
            break_it()
            gate.is_open = True
            turn = stack.finished(submitted["turn_id"])
            stack.wait_for(lambda: bystander.turns, "nobody else is answered")
    assert {turn["response"] for turn in bystander.turns} == {"As ever."}
    stack.wait_for(lambda: not children(stack.workers[0].pid), "a child outlives its turn")
    return turn, session_id


@pytest.mark.chaos
def test_a_killed_and_a_hung_server_end_their_calls_and_not_the_turn(
    stack: Stack, sqlite: SqliteOverHttp
) -> None:
    servers = {"clock": time_server(call_seconds=6), "ledger": sqlite.template()}

    def break_both() -> None:
        sqlite.signal(signal.SIGKILL)
        (clock,) = children(stack.workers[0].pid)
        os.kill(clock.pid, signal.SIGSTOP)

    turn, session_id = break_in_the_middle(stack, servers, break_both, [TABLES, NOW, NOW])

    assert turn["status"] == "succeeded", turn["error"]
    _, _, _, tables, hung, again = rows_of(stack, session_id, "tool_result")
    assert tables["is_error"] and "cannot be reached; nothing was run" in tables["content"]
    assert hung["is_error"] and "has not answered within 6 seconds" in hung["content"]
    assert not again["is_error"] and "Asia/Tokyo" in again["content"]
    assert rows_of(stack, session_id, "text")[-1]["text"] == "So be it."


@pytest.mark.chaos
def test_a_killed_child_is_started_again_and_a_hung_server_over_http_is_told(
    stack: Stack, sqlite: SqliteOverHttp
) -> None:
    patience = {"call_seconds": 5, "connect_seconds": 4}
    servers = {"clock": time_server(), "ledger": sqlite.template(**patience)}

    def break_both() -> None:
        (clock,) = children(stack.workers[0].pid)
        os.kill(clock.pid, signal.SIGKILL)
        sqlite.signal(signal.SIGSTOP)

    turn, session_id = break_in_the_middle(stack, servers, break_both, [TABLES, TABLES, NOW])

    assert turn["status"] == "succeeded", turn["error"]
    _, _, _, hung, still, again = rows_of(stack, session_id, "tool_result")
    assert "has not answered within 5 seconds" in hung["content"]
    assert "cannot be reached; nothing was run" in still["content"]
    assert not again["is_error"] and "Asia/Tokyo" in again["content"]


def test_the_next_turn_does_without_the_server_and_says_what_is_missing(
    stack: Stack, sqlite: SqliteOverHttp
) -> None:
    servers = {"clock": time_server(), "ledger": sqlite.template()}
    session_id = make_session(stack, make_domain(stack, mcp_servers=servers)["id"])
    stack.chat(script({"tools": [TABLES]}, {"text": "All there."}), session_id)
    sqlite.signal(signal.SIGKILL)

    turn = stack.chat(script({"tools": [TABLES, NOW]}, {"text": "So be it."}), session_id)

    assert turn["response"] == "So be it."
    (missing,) = rows_of(stack, session_id, "notice")
    assert missing["text"].startswith("The tool server ledger is missing: nothing answers")
    _, tables, now = rows_of(stack, session_id, "tool_result")
    assert tables["is_error"]
    assert "its server ledger cannot be reached. Nothing was run." in tables["content"]
    assert not now["is_error"]

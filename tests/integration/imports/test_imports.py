"""Conversations of other programs: inspected, imported by a worker, and continued here."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from backend.operations.integrity.scan import check
from backend.types import JSON
from db.session import Database
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.imports.scenes import (
    chatgpt,
    ended,
    imported,
    inspected,
    lines,
    openai,
    session_of,
    upload,
    zipped,
)
from tests.integration.scenes import check_problem
from tests.stack import Servers, Stack

CALLS: JSON = {
    "id": "with-calls",
    "title": "Weather",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Zürich and Rome?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "function": {"name": "weather", "arguments": '{"city":"Zürich"}'}},
                {"id": "b", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "4 °C"},
        {"role": "tool", "tool_call_id": "nobody", "content": "lost"},
        {"role": "assistant", "content": "Cold in Zürich."},
    ],
}
TREE = chatgpt(
    [
        ("u1", None, "user", "First question"),
        ("a1", "u1", "assistant", "First answer"),
        ("a2", "u1", "assistant", "Another answer"),
        ("u2", "a2", "user", "And then?"),
        ("b1", "u2", "assistant", "This."),
        ("u2x", "a2", "user", "And then, edited?"),
        ("b2", "u2x", "assistant", "That."),
    ],
    "b1",
)


def rows(stack: Stack, session_id: str) -> list[tuple[str, str, str]]:
    return [
        (row["message_type"], row["content_type"], row["content"].get("text", ""))
        for row in stack.messages(session_id, branch="active")
    ]


def texts(stack: Stack, session_id: str) -> list[str]:
    return [text for _, kind, text in rows(stack, session_id) if kind == "text"]


def check_whole(stack: Stack, session_id: str) -> None:
    """Nothing is wrong with a session that operators would have to mend."""
    database = Database(stack.database_url)
    assert check(database, UUID(session_id)) == []
    database.close()


def test_an_upload_is_inspected_before_anything_is_stored(stack: Stack) -> None:
    before = stack.query("SELECT count(*) FROM conversations")
    found = inspected(stack, lines(openai(("user", "Hi"), id="x", title="One"), {"messages": 3}))

    assert found["status"] == "inspected"
    inspection = found["inspection"]
    assert (inspection["conversations"], inspection["messages"], inspection["known"]) == (1, 1, 0)
    assert inspection["label"] == "OpenAI JSON Lines"
    assert inspection["titles"] == ["One"]
    assert inspection["skipped_count"] == 1
    assert "no list of messages" in inspection["skipped"][0]["reason"]
    assert stack.query("SELECT count(*) FROM conversations") == before


def a_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE conversations (id TEXT)")
        return database.serialize()


def test_a_conversation_without_a_title_is_named_by_its_first_message(stack: Stack) -> None:
    imported(stack, lines(openai(("user", "What is CC-1001?"), id="untitled")))

    named = stack.client.get(f"/sessions/{session_of(stack, 'untitled')}").json()
    assert named["title"] == "What is CC-1001?"


def test_what_is_no_export_is_refused_and_leaves_nothing(stack: Stack) -> None:
    before = stack.client.get("/imports").json()["items"]

    for content, words in [
        (b"hello", "no export"),
        (a_database(), "no export"),
        (zipped({"../conversations.json": b"[]"}), "leave its folder"),
    ]:
        refused = upload(stack, content)
        check_problem(refused, 422)
        assert words in refused.json()["detail"]

    assert stack.client.get("/imports").json()["items"] == before


def test_calls_and_results_are_paired_in_both_views(stack: Stack) -> None:
    report = imported(stack, lines(CALLS))

    assert report["counts"] == {"imported": 1}
    session_id = session_of(stack, "with-calls")
    kinds = [(kind, text) for _, kind, text in rows(stack, session_id)]
    assert [kind for kind, _ in kinds] == [
        "notice", "text", "tool_call", "tool_call", "tool_result", "tool_result", "text", "notice",
    ]  # fmt: skip
    assert "results of tools without their calls" in kinds[-1][1]
    state = stack.state(session_id)["messages"]
    assert [m["role"] for m in state] == ["user", "assistant", "tool", "tool", "assistant"]
    assert state[2]["content"] == "4 °C"
    assert "has no result" in state[3]["content"]
    check_whole(stack, session_id)


def test_branches_become_versions_that_can_be_switched(stack: Stack, model: ScriptedModel) -> None:
    archive = zipped({"conversations.json": json.dumps([TREE]).encode()})
    assert imported(stack, archive)["counts"] == {"imported": 1}
    session_id = session_of(stack, "conversation-1")

    assert texts(stack, session_id) == [
        "First question", "Another answer", "And then?", "This.",
    ]  # fmt: skip
    items = stack.client.get(f"/sessions/{session_id}/branches").json()["items"]
    assert [len(item["versions"]) for item in items] == [2, 2]
    check_whole(stack, session_id)

    def switch(item: JSON) -> None:
        (other,) = [one for one in item["versions"] if not one["is_active"]]
        answer = stack.client.post(
            f"/sessions/{session_id}/branch", json={"turn_id": other["turn_id"]}
        )
        assert answer.status_code == 200, answer.text

    switch(items[1])
    assert texts(stack, session_id)[2:] == ["And then, edited?", "That."]
    assert [m["content"] for m in stack.state(session_id)["messages"]][2:] == [
        "And then, edited?", "That.",
    ]  # fmt: skip
    switch(items[0])
    assert texts(stack, session_id) == ["First question", "First answer"]

    model.steps = [{"text": "Going on."}]
    stack.chat("Go on", session_id)
    sent = [m["content"] for m in model.requests[-1]["messages"] if m["role"] != "system"]
    assert sent == ["First question", "First answer", "Go on"]
    check_whole(stack, session_id)


def test_times_are_kept_and_retention_counts_from_the_import(stack: Stack) -> None:
    nodes = [("q", None, "user", "Old"), ("a", "q", "assistant", "Answer")]
    one = chatgpt(nodes, "a", conversation_id="old")
    imported(stack, zipped({"conversations.json": json.dumps([one]).encode()}))

    session_id = session_of(stack, "old")
    answer = stack.client.get(f"/sessions/{session_id}")
    assert answer.status_code == 200, answer.text
    session = answer.json()
    assert session["created_at"].startswith("2023-11-14T22:13:20")
    assert session["updated_at"].startswith("2023-11-14T22:15:00")
    first, *_ = stack.messages(session_id)
    assert first["created_at"].startswith("2023-11-14T22:13:20")
    of_turn = {"ids": first["turn_id"]}
    figures = stack.client.get(f"/sessions/{session_id}/usage/turns", params=of_turn).json()
    assert [turn["seconds"] for turn in figures["items"]] == [None]
    ((used,),) = stack.query(
        "SELECT last_accessed_at > now() - interval '1 hour' FROM conversations WHERE id = :id",
        id=session_id,
    )
    assert used


def test_importing_again_doubles_nothing_and_says_what_has_changed(stack: Stack) -> None:
    one, other = (openai(("user", name), id=name) for name in ("again-1", "again-2"))
    imported(stack, lines(one, other))
    grown = openai(("user", "again-2"), ("assistant", "More"), id="again-2")

    again = inspected(stack, lines(one, grown, openai(("user", "new"), id="again-3")))
    assert again["inspection"]["known"] == 2
    stack.client.post(f"/imports/{again['id']}/start", json={})
    report = ended(stack, again["id"])

    assert report["counts"] == {"known": 1, "changed": 1, "imported": 1}
    (changed,) = [line for line in report["report"] if line["outcome"] == "changed"]
    assert changed["session_id"] == session_of(stack, "again-2")
    assert "2 messages now, and had 1" in changed["notes"][0]


def test_a_deleted_session_can_be_imported_again(stack: Stack) -> None:
    content = lines(openai(("user", "x"), id="deleted"))
    imported(stack, content)
    stack.client.delete(f"/sessions/{session_of(stack, 'deleted')}")

    assert imported(stack, content)["counts"] == {"imported": 1}


def test_a_picture_is_shown_and_a_table_can_be_queried(stack: Stack) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    said = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "image_url", "image_url": {"url": "https://elsewhere.example/x.png"}},
    ]
    line = {"id": "pictures", "messages": [{"role": "user", "content": said}]}
    report = imported(stack, lines(line))

    session_id = session_of(stack, "pictures")
    shown = [row for row in stack.messages(session_id) if row["content_type"] == "image"]
    assert ["result_id" in row["metadata"] for row in shown] == [True, False]
    path = f"/sessions/{session_id}/results/{shown[0]['metadata']['result_id']}"
    assert stack.client.get(path, params={"format": "file"}).content == b"\x89PNG\r\n\x1a\n"
    assert any("missing" in note for note in report["report"][0]["notes"])


def test_the_agent_reads_the_recent_part_of_a_long_conversation(
    stack: Stack, model: ScriptedModel
) -> None:
    said = [(role, f"{role} {n}") for n in range(300) for role in ("user", "assistant")]
    imported(stack, lines(openai(*said, id="long")))

    session_id = session_of(stack, "long")
    state = stack.state(session_id)["messages"]
    assert len(state) == 200
    assert (state[0]["content"], state[-1]["content"]) == ("user 200", "assistant 299")
    assert (
        "last 200 of 600 messages" in stack.messages(session_id, limit="1")[-1]["content"]["text"]
    )
    check_whole(stack, session_id)


def test_a_cancelled_import_keeps_what_it_has_and_goes_on_later(own_stack: Stack) -> None:
    own_stack.kill_workers()
    content = lines(*(openai(("user", "x"), id=f"c{n}") for n in range(30)))
    import_id = inspected(own_stack, content)["id"]
    assert own_stack.client.post(f"/imports/{import_id}/start", json={}).status_code == 200
    check_problem(own_stack.client.post(f"/imports/{import_id}/start", json={}), 409)
    assert own_stack.client.post(f"/imports/{import_id}/cancel").json()["status"] == "cancelled"
    own_stack.start_worker()

    assert own_stack.client.post(f"/imports/{import_id}/start", json={}).status_code == 200
    report = ended(own_stack, import_id)

    assert (report["status"], report["counts"]) == ("succeeded", {"imported": 30})
    assert own_stack.query("SELECT count(*) FROM conversations") == [(30,)]
    check_problem(own_stack.client.post(f"/imports/{import_id}/start", json={}), 409)


@pytest.fixture
def mortal_stack(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """Its worker dies after the first conversation that it stores, once."""
    armed = {
        "FAILPOINTS": "import.stored=kill",
        "FAILPOINTS_DIR": str(tmp_path / "fired"),
        "LEASE_SECONDS": "2",
    }
    for folder in ("fired", "data"):
        (tmp_path / folder).mkdir()
    with make_stack(servers, model, tmp_path / "data", **armed) as running:
        yield running


def test_another_worker_continues_after_one_was_killed(mortal_stack: Stack) -> None:
    content = lines(*(openai(("user", "x"), id=f"k{n}") for n in range(5)))
    import_id = inspected(mortal_stack, content)["id"]
    mortal_stack.client.post(f"/imports/{import_id}/start", json={})
    mortal_stack.wait_for(
        lambda: mortal_stack.workers[0].poll() is not None, "the worker does not die"
    )
    assert mortal_stack.client.get(f"/imports/{import_id}").json()["done"] == 1
    mortal_stack.start_worker()

    report = ended(mortal_stack, import_id)

    assert (report["done"], report["counts"]) == (5, {"imported": 5})
    assert mortal_stack.query("SELECT count(*) FROM conversations") == [(5,)]

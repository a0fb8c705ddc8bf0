"""Messages are accepted in order, whatever they hold and however many come at once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    send_json,
    texts,
)
from tests.integration.turns.test_idempotency_keys import ASYNC
from tests.stack import Stack


def test_messages_sent_at_once_each_get_their_turn(stack: Stack) -> None:
    session_id = make_session(stack)
    words = [f"message {number}" for number in range(8)]

    with ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(lambda text: stack.submit(text, session_id), words))
    for turn in turns:
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"

    rows, state = check_views(stack, session_id)
    assert sorted(texts(rows, "user")) == words
    assert [row["message_type"] for row in rows] == ["user", "assistant"] * 8
    assert [message["role"] for message in state["messages"]] == ["user", "assistant"] * 8


def test_messages_to_many_sessions_sent_twice_at_once_are_accepted_once(stack: Stack) -> None:
    sessions = [make_session(stack, None) for _ in range(8)]
    wanted = [(session, f"message {n} to {session}") for n in range(4) for session in sessions]

    def post(sent: tuple[str, str]) -> str:
        session, message = sent
        return stack.submit(message, session, **{"Idempotency-Key": message})["turn_id"]

    with ThreadPoolExecutor(32) as pool:
        turns = list(pool.map(post, wanted + wanted))

    assert turns[: len(wanted)] == turns[len(wanted) :]
    assert len(set(turns)) == len(wanted)
    for turn in turns:
        assert stack.finished(turn)["status"] == "succeeded"
    for session in sessions:
        rows, _ = check_views(stack, session)
        assert sorted(texts(rows, "user")) == [m for s, m in wanted if s == session]


def test_a_session_that_is_held_up_holds_no_other_up(stack: Stack) -> None:
    held, free = make_session(stack, None), make_session(stack, None)
    engine = create_engine(stack.database_url)
    lock = text("SELECT FROM conversations WHERE id = :id FOR UPDATE")

    with ThreadPoolExecutor(16) as pool, engine.begin() as connection:
        connection.execute(lock, {"id": held})
        waiting = pool.submit(stack.submit, "to the held one", held)
        others = list(pool.map(lambda n: stack.submit(f"free {n}", free), range(8)))
        assert not waiting.done()
        connection.rollback()
        turn = waiting.result(30)
    engine.dispose()

    for accepted in (*others, turn):
        assert stack.finished(accepted["turn_id"])["status"] == "succeeded"
    assert texts(stack.messages(held), "user") == ["to the held one"]


def test_first_messages_sent_at_once_make_a_session_each(stack: Stack) -> None:
    with ThreadPoolExecutor(6) as pool:
        turns = list(pool.map(stack.submit, ["double click"] * 6))

    assert len({turn["session_id"] for turn in turns}) == 6
    assert {stack.finished(turn["turn_id"])["status"] for turn in turns} == {"succeeded"}


def test_a_waiting_message_is_a_row_only_when_its_turn_starts(stack: Stack) -> None:
    running = stack.submit(script(ENDLESS))
    session_id = running["session_id"]
    waiting = stack.submit("I can wait", session_id)

    queued = stack.turn(waiting["turn_id"])
    seen = texts(stack.messages(session_id), "user")
    listed = stack.client.get(f"/sessions/{session_id}/turns").json()["items"]

    assert (queued["status"], queued["queue_position"]) == ("queued", 1)
    assert queued["message"] == "I can wait"
    assert "I can wait" not in seen
    assert [turn["id"] for turn in listed] == [running["turn_id"], waiting["turn_id"]]
    stack.client.post(f"/turns/{running['turn_id']}/stop")
    assert stack.finished(waiting["turn_id"])["status"] == "succeeded"
    assert stack.turn(waiting["turn_id"])["queue_position"] is None
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "user")[1] == "I can wait"


def test_a_megabyte_of_text_is_kept_to_the_byte(stack: Stack, model: ScriptedModel) -> None:
    text = ("ä line of text 🙂\n" * 60_000)[:1_000_000]

    answer = stack.chat(text)

    assert answer["status"] == "succeeded"
    rows, state = check_views(stack, answer["session_id"])
    assert rows[0]["content"]["text"] == text
    assert state["messages"][0]["content"] == text
    assert model.messages[-1][-1]["content"] == text
    title = stack.client.get(f"/sessions/{answer['session_id']}").json()["title"]
    assert 0 < len(title) <= 200


def test_a_message_beyond_the_limit_is_refused(stack: Stack) -> None:
    session_id = make_session(stack)

    answer = stack.client.post(f"/sessions/{session_id}/chat", json={"message": "x" * 2_000_001})

    assert "2,000,000 characters" in check_problem(answer, 413)["detail"]
    assert stack.messages(session_id) == []


def test_a_body_beyond_the_limit_is_refused(stack: Stack) -> None:
    answer = stack.client.post("/chat", json={"message": "x" * 17_000_000})

    check_problem(answer, 413)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (r"nul \u0000 here", "nul \u2400 here"),
        (r"lone \ud83d half", "lone \ufffd half"),
        (r"other \ude00 half", "other \ufffd half"),
        (r"pair \ud83d\ude00", "pair 😀"),
        (r"\u202ebidi\u202c \u200b e\u0301", "\u202ebidi\u202c \u200b e\u0301"),
        (r"\u0001\u0008\u001b[31m\u007f", "\u0001\u0008\u001b[31m\u007f"),
    ],
)
def test_odd_characters_are_normalised_and_the_session_goes_on(
    stack: Stack, sent: str, kept: str
) -> None:
    body = f'{{"message": "{sent}"}}'
    answer = stack.client.post("/chat", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 200, answer.text
    session_id = answer.json()["session_id"]
    rows, state = check_views(stack, session_id)
    assert rows[0]["content"]["text"] == kept
    assert state["messages"][0]["content"] == kept
    assert stack.chat("go on", session_id)["status"] == "succeeded"


def test_odd_characters_in_every_other_text_do_no_harm(stack: Stack) -> None:
    odd = "\ud83d\x00"

    check_problem(send_json(stack, "POST", "/chat", {"message": "hello", "agent": odd}), 422)
    check_problem(send_json(stack, "POST", "/chat", {"message": "hello", "domain": odd}), 404)
    made = send_json(stack, "POST", "/sessions", {"title": f"title {odd}"})
    assert made.status_code == 201
    path = f"/sessions/{made.json()['id']}"
    renamed = send_json(stack, "PATCH", path, {"title": f"new {odd}"})
    assert renamed.status_code == 200
    assert renamed.json()["title"] == "new \ufffd\u2400"


def test_missing_places_are_not_found_and_nothing_is_stored(stack: Stack) -> None:
    deleted = make_session(stack)
    stack.client.delete(f"/sessions/{deleted}")
    before = stack.query("SELECT count(*) FROM turns")

    for session_id in (deleted, str(uuid4())):
        check_problem(
            stack.client.post("/chat", json={"message": "x", "session_id": session_id}), 404
        )
        check_problem(stack.client.post(f"/sessions/{session_id}/chat", json={"message": "x"}), 404)
    check_problem(stack.client.post("/chat", json={"message": "x", "domain": "no-such"}), 404)
    check_problem(stack.client.post("/chat", json={"message": "x", "agent": "nobody"}), 422)

    assert stack.query("SELECT count(*) FROM turns") == before


@pytest.mark.parametrize("message", ["", " \n\t ", "\u3000"])
def test_an_empty_message_is_refused(stack: Stack, message: str) -> None:
    check_problem(stack.client.post("/chat", json={"message": message}), 422)


def test_preferences_of_waiting(stack: Stack) -> None:
    slow = script({"text": "late", "wait": 1.5})

    at_once = stack.client.post("/chat", json={"message": slow}, headers=ASYNC)
    briefly = stack.client.post("/chat", json={"message": slow}, headers={"Prefer": "wait=0"})
    mixed = stack.client.post(
        "/chat", json={"message": slow}, headers={"Prefer": "handling=lenient, respond-async; x=1"}
    )
    patient = stack.client.post("/chat", json={"message": slow}, headers={"Prefer": "wait=30"})

    for answer in (at_once, briefly, mixed):
        body = answer.json()
        assert answer.status_code == 202
        assert body["response"] is None
        assert answer.headers["location"] == f"/api/v1/turns/{body['turn_id']}"
        assert stack.finished(body["turn_id"])["status"] == "succeeded"
    assert patient.status_code == 200
    assert patient.json()["response"] == "late"
    assert "location" not in patient.headers


@pytest.mark.parametrize(
    "prefer", ["wait=soon", "wait=-1", "wait=", "wait=1.5", "respond-async, wait=soon"]
)
def test_an_unreadable_wait_is_refused_before_anything_is_stored(stack: Stack, prefer: str) -> None:
    before = stack.query("SELECT count(*) FROM turns")

    answer = stack.client.post("/chat", json={"message": "x"}, headers={"Prefer": prefer})

    check_problem(answer, 422)
    assert stack.query("SELECT count(*) FROM turns") == before


def test_a_message_to_a_session_names_no_other_domain(stack: Stack) -> None:
    domain, other = make_domain(stack), make_domain(stack)
    session_id = make_session(stack, domain["name"])
    body = {"message": script({"text": "yes"}), "session_id": session_id}

    for named in (other["name"], other["id"], "unknown", ""):
        problem = check_problem(stack.client.post("/chat", json={**body, "domain": named}), 422)
        assert domain["name"] in problem["detail"]
    for named in (domain["name"], domain["id"], domain["id"].upper()):
        assert stack.client.post("/chat", json={**body, "domain": named}).status_code == 200
    assert len(texts(stack.messages(session_id), "user")) == 3

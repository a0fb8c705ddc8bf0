"""A message that is sent again with its key is accepted once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from tests.integration.scenes import check_problem, check_views, make_session, texts
from tests.stack import Stack

ASYNC = {"Prefer": "respond-async"}


def test_fifty_posts_with_one_key_make_one_turn(stack: Stack) -> None:
    key = {"Idempotency-Key": uuid4().hex, **ASYNC}

    def post(_: int) -> dict:
        answer = stack.client.post("/chat", json={"message": "once"}, headers=key)
        assert answer.status_code in (200, 202), answer.text
        return answer.json()

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(post, range(50)))

    assert len({answer["turn_id"] for answer in answers}) == 1
    stack.finished(answers[0]["turn_id"])
    rows, _ = check_views(stack, answers[0]["session_id"])
    assert texts(rows, "user") == ["once"]
    count = "SELECT count(*) FROM turns WHERE idempotency_key = :key"
    assert stack.query(count, key=key["Idempotency-Key"])[0][0] == 1
    of_session = "SELECT count(*) FROM conversations WHERE title = 'once'"
    assert stack.query(of_session)[0][0] == 1


def test_a_key_answers_the_same_turn_after_its_end(stack: Stack) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    first = stack.client.post("/chat", json={"message": "again"}, headers=key).json()

    second = stack.client.post("/chat", json={"message": "again"}, headers=key)

    assert second.status_code == 200
    assert second.json() == first


def test_a_key_does_not_bring_a_deleted_session_back(stack: Stack) -> None:
    key = {"Idempotency-Key": uuid4().hex, **ASYNC}
    title = f"gone {uuid4().hex}"
    first = stack.submit(title, **key)
    stack.finished(first["turn_id"])
    stack.client.delete(f"/sessions/{first['session_id']}")

    again = stack.client.post("/chat", json={"message": title}, headers=key)

    check_problem(again, 404)
    of_title = "SELECT count(*) FROM conversations WHERE title = :title"
    assert stack.query(of_title, title=title)[0][0] == 0


@pytest.mark.parametrize("change", [{"message": "other"}, {"agent": "assistant"}])
def test_a_key_with_another_body_is_refused(stack: Stack, change: dict) -> None:
    key = {"Idempotency-Key": uuid4().hex, **ASYNC}
    session_id = stack.submit("one", **key)["session_id"]

    answer = stack.client.post("/chat", json={"message": "one", **change}, headers=key)

    check_problem(answer, 422)
    assert texts(stack.messages(session_id), "user") == ["one"]


def test_a_key_belongs_to_one_session(stack: Stack) -> None:
    one, other = make_session(stack), make_session(stack)
    key = {"Idempotency-Key": uuid4().hex}
    stack.submit("hello", one, **key)

    answer = stack.client.post(f"/sessions/{other}/chat", json={"message": "hello"}, headers=key)

    check_problem(answer, 422)
    assert stack.messages(other) == []


def test_a_refused_message_leaves_its_key_unused(stack: Stack) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    check_problem(stack.client.post("/chat", json={"message": " "}, headers=key), 422)

    answer = stack.client.post("/chat", json={"message": "better"}, headers=key)

    assert answer.status_code == 200


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_an_unusable_key_is_refused(stack: Stack, key: str) -> None:
    answer = stack.client.post("/chat", json={"message": "hello"}, headers={"Idempotency-Key": key})

    check_problem(answer, 422)

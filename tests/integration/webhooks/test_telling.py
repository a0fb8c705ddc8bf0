"""What webhooks are told: all of it, signed, in order, whatever the receiver or a worker does."""

from typing import Any

from sqlalchemy import event

from tests.fakes import script
from tests.integration.webhooks.conftest import HELLO, Place
from tests.servers.receiver import Received
from tests.unit.web.test_webhook_signatures import documented

OF_A_TURN = ["session_created", f"message_added: {HELLO}", "message_added: Hello there.",
             "turn_finished"]  # fmt: skip

# A message that is older than the transaction that writes it, as imports do.
IMPORT = """
    INSERT INTO display_messages
        (conversation_id, position, turn_id, message_type, content_type, content, status,
        created_at)
    SELECT conversation_id, 1000, id, 'user', 'text', '{"text": "long ago"}', 'completed',
        now() - interval '1 second'
    FROM turns WHERE conversation_id = CAST(:session AS uuid)"""


def test_a_turn_is_told_signed_and_in_order(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada)

    turn = place.ask(ada)
    place.sees(lambda: len(place.receiver.got) == 4, "not all came")
    assert ada.delete(f"/sessions/{turn['session_id']}").status_code == 204
    place.sees(lambda: len(place.receiver.got) == 5, "the deletion did not come")

    got = place.receiver.got
    assert place.receiver.says() == [*OF_A_TURN, "session_deleted"]
    verify = documented()
    assert all(verify(hook["secret"], one.headers, one.body) for one in got)
    assert [one.headers["webhook-id"] for one in got] == [one.event["id"] for one in got]
    assert len({one.event["id"] for one in got}) == 5
    contexts = [one.event["data"]["context"] for one in got]
    assert {one["session_id"] for one in contexts} == {turn["session_id"]}
    assert contexts[1]["turn_id"] == contexts[3]["turn_id"] == turn["turn_id"]
    finished = got[3].event["data"]["turn"]
    assert (finished["status"], finished["id"]) == ("succeeded", turn["turn_id"])
    assert finished["usage"]["model_calls"] == 1
    listed = place.deliveries(ada, hook)
    assert [one["status"] for one in listed] == ["delivered"] * 5
    assert (listed[0]["answer_status"], listed[0]["answer"]) == (200, "noted")
    assert hook["secret"] not in ada.get(f"/webhooks/{hook['id']}").text


def test_what_is_told_is_what_the_api_shows(place: Place) -> None:
    _, ada = place.accounts.person()
    place.hook(ada, events=["message_added", "turn_finished", "session_created"])

    turn = place.ask(ada)
    place.sees(lambda: len(place.receiver.got) == 4, "not all came")

    created, *said, finished = [one.event["data"] for one in place.receiver.got]
    messages = ada.get(f"/sessions/{turn['session_id']}/messages").json()["items"]
    assert [one["message"] for one in said] == messages
    assert finished["turn"] == ada.get(f"/turns/{turn['turn_id']}").json()
    session = ada.get(f"/sessions/{turn['session_id']}").json()
    assert created["session"].keys() == session.keys()
    assert created["session"]["id"] == turn["session_id"]


def test_a_failed_event_is_tried_again_and_holds_up_its_session_only(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada)
    bad: list[Any] = [500, "close", 302]

    def answer(one: Received) -> Any:
        is_first = "first" in one.says
        return bad.pop(0) if is_first and bad else 200

    place.receiver.answer = answer
    place.ask(ada, script({"text": "the first"}))
    place.sees(lambda: len(bad) == 2, "the first try did not come")
    assert place.deliveries(ada, hook, status="pending")
    second = place.ask(ada)["session_id"]

    def told() -> list[str]:
        got = place.receiver.got
        return [one.says for one in got if one.event["data"]["context"]["session_id"] == second]

    place.sees(lambda: told() == OF_A_TURN, "another session had to wait")
    place.sees(lambda: len(bad) == 1, "it was not tried again by itself")
    while place.deliveries(ada, hook, status="pending"):
        place.time_passes()
        place.sees(lambda: True, "")

    tried = [one for one in place.receiver.got if "first" in one.says]
    assert len({one.event["id"] for one in tried}) == 2  # the person's, and the agent's
    assert tried[0].event == tried[1].event
    in_order = [one["event"] for one in reversed(place.deliveries(ada, hook))]
    assert in_order.count("message_added") == 4
    last = {one["attempts"] for one in place.deliveries(ada, hook)}
    assert max(last) == 4


def test_a_lost_worker_loses_nothing(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada)
    place.receiver.answer = lambda one: "hang" if len(place.receiver.got) == 3 else 200
    place.ask(ada)
    place.sees(lambda: len(place.receiver.got) == 3, "it was not sent")

    place.stack.kill_workers()
    place.receiver.released.set()
    waiting = place.deliveries(ada, hook, status="pending")
    place.stack.start_worker()
    place.time_passes()
    place.sees(lambda: not place.deliveries(ada, hook, status="pending"), "something was lost")

    assert [one["event"] for one in reversed(waiting)] == ["message_added", "turn_finished"]
    assert place.receiver.says() == [*OF_A_TURN[:3], *OF_A_TURN[2:]]
    again = place.receiver.got[2:4]
    assert again[0].event == again[1].event


def test_a_slow_receiver_delays_nobody_else(place: Place) -> None:
    (_, ada), (_, bob) = place.accounts.person(), place.accounts.person()
    place.hook(ada, "/slow")
    place.hook(bob, "/fast")
    place.receiver.answer = lambda one: "hang" if one.path == "/slow" else 200
    for _ in range(3):
        place.ask(ada)
    place.sees(lambda: len(place.receiver.says("/slow")) >= 1, "the slow one was not asked")

    place.ask(bob)

    place.sees(lambda: place.receiver.says("/fast") == OF_A_TURN, "a slow one delays it", 8)


def test_an_answer_of_410_ends_it_and_a_person_resumes_it(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada, events=["message_added"])
    place.receiver.answer = lambda _: 410

    place.ask(ada)
    found = place.sees(lambda: _paused(ada, hook), "it was not paused")
    place.ask(ada)

    assert found["paused"] == "gone"
    statuses = [one["status"] for one in place.deliveries(ada, hook)]
    assert statuses == ["pending", "given_up"]  # the answer waits; what came later was not noted
    (failed,) = place.deliveries(ada, hook, status="given_up")
    again = f"/webhooks/{hook['id']}/deliveries/{failed['id']}/retry"
    assert ada.post(again).json()["title"] == "Webhook paused"
    place.receiver.answer = lambda _: 204
    ada.patch(f"/webhooks/{hook['id']}", json={"is_paused": False})
    assert ada.post(again).json()["status"] == "pending"
    place.sees(lambda: len(place.receiver.got) == 3, "what waited did not come")
    place.sees(lambda: not place.deliveries(ada, hook, status="pending"), "it did not end")


def test_what_fails_for_a_day_is_given_up_and_its_webhook_paused(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada, events=["message_added"])
    place.receiver.answer = lambda _: 503
    place.ask(ada)

    def has_given_up() -> bool:
        place.stack.query_and_commit(
            "UPDATE webhooks SET failing_since = clock_timestamp() - interval '13 hours'"
            " WHERE failing_since IS NOT NULL"
        )
        place.time_passes()
        return bool(place.deliveries(ada, hook, status="given_up"))

    place.sees(has_given_up, "it was not given up")

    found = ada.get(f"/webhooks/{hook['id']}").json()
    assert found["paused"] == "failing" and found["failing_since"]
    (failed,) = place.deliveries(ada, hook, status="given_up")
    assert (failed["attempts"], failed["answer_status"], failed["due_at"]) == (10, 503, None)


def test_a_deleted_webhook_is_told_nothing_more(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada, events=["message_added"])
    other = place.hook(ada, "/other", events=["turn_finished"])
    place.receiver.answer = lambda one: 500 if one.path == "/" else 200
    place.ask(ada)
    place.sees(lambda: place.receiver.says(), "nothing came")

    assert ada.delete(f"/webhooks/{hook['id']}").status_code == 204
    before = len(place.receiver.says())
    place.ask(ada)
    place.sees(lambda: len(place.receiver.says("/other")) == 2, "the other one was not told")

    assert len(place.receiver.says()) == before
    assert ada.get(f"/webhooks/{hook['id']}").status_code == 404
    assert ada.get(f"/webhooks/{other['id']}").status_code == 200


def test_a_deleted_session_is_told_of_no_more(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada, events=["message_added", "session_deleted"])
    place.receiver.answer = lambda _: 500
    turn = place.ask(ada)
    place.sees(lambda: place.receiver.got, "nothing came")

    ada.delete(f"/sessions/{turn['session_id']}")
    place.receiver.answer = lambda _: 200
    place.sees(
        lambda: place.time_passes() or not place.deliveries(ada, hook, status="pending"), "it waits"
    )

    statuses = [one["status"] for one in place.deliveries(ada, hook)]
    assert statuses == ["delivered", "void", "void"]
    assert place.receiver.says()[-1] == "session_deleted"


def test_a_wait_for_people_is_told(place: Place) -> None:
    _, ada = place.accounts.person()
    place.hook(ada, events=["interrupt", "turn_finished"])
    rules = [{"tools": "write_todos", "action": "ask"}]
    domain = {"name": "Asks", "middleware": ["todos", {"approvals": {"rules": rules}}]}
    assert place.accounts.first_admin().post("/domains", json=domain).status_code == 201
    todo = {"todos": [{"content": "a", "status": "pending"}]}
    asking = script({"tools": [{"name": "write_todos", "args": todo}]}, {"text": "done"})

    sent = ada.post(
        "/chat", json={"message": asking, "domain": "Asks"}, headers={"Prefer": "respond-async"}
    ).json()
    place.sees(lambda: place.receiver.says() == ["interrupt"], "the wait was not told")

    told = place.receiver.got[0].event["data"]["turn"]
    assert (told["id"], told["status"]) == (sent["turn_id"], "waiting")
    ada.post(f"/turns/{sent['turn_id']}/stop")
    place.sees(lambda: place.receiver.says()[1:] == ["turn_finished"], "the end was not told")
    assert place.receiver.got[1].event["data"]["turn"]["status"] == "stopped"


def test_copies_and_imports_are_not_told_as_if_they_were_said_now(place: Place) -> None:
    _, ada = place.accounts.person()
    turn = place.ask(ada)
    place.hook(ada)

    made = ada.post(f"/sessions/{turn['session_id']}/continue", json={})
    place.stack.query_and_commit(IMPORT, session=turn["session_id"])
    place.sees(lambda: place.receiver.got, "nothing came")
    place.ask(ada)
    place.sees(lambda: len(place.receiver.got) == 5, "not all came")

    assert made.status_code == 201
    assert place.receiver.says() == ["session_created", *OF_A_TURN]


def test_a_turn_asks_nothing_about_webhooks_and_leaves_no_row_without_any(place: Place) -> None:
    _, ada = place.accounts.person()
    statements: list[str] = []
    engine = place.accounts.app.state.services.database.engine  # type: ignore[attr-defined]

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    place.ask(ada)
    rows = place.stack.query("SELECT count(*) FROM webhook_deliveries")[0][0]
    event.remove(engine, "before_cursor_execute", note)

    assert rows == 0
    assert [one for one in statements if "INSERT INTO turns" in one]
    assert not [one for one in statements if "webhook" in one]


def _paused(person: Any, hook: Any) -> Any:
    found = person.get(f"/webhooks/{hook['id']}").json()
    return found if found["paused"] else None

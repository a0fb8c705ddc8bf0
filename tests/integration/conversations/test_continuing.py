"""A session goes on in a new one: today's configuration, the same history, the same memory."""

import json
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import create_engine, text

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.conversations.test_copied_files import look_up
from tests.integration.scenes import (
    Gate,
    check_problem,
    check_views,
    continued,
    make_domain,
    make_session,
    stop,
    texts,
    tool_domain,
    wait_for_event,
)
from tests.stack import Stack

ANSWER = "What was found stands here, in so many words that it is stored only once. " * 2
SCRIPT = [
    {"think": "Let me look.", "tools": [{"name": "list_sources", "id": "a"}]},
    {"text": ANSWER},
]


def shown(rows: list[JSON]) -> list[JSON]:
    """What people see of rows, whoever's they are."""
    kept = ("position", "message_type", "content_type", "content", "sequence", "status", "agent")
    return [{name: row[name] for name in kept} for row in rows]


def drift_of(stack: Stack, session_id: str) -> JSON:
    return stack.client.get(f"/sessions/{session_id}/drift").json()


def test_a_new_session_has_no_drift_and_an_edit_of_its_domain_is_one(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.")
    session_id = make_session(stack, domain["name"])
    quiet = drift_of(stack, session_id)

    stack.client.patch(
        f"/domains/{domain['id']}", json={"system_prompt": "Two.", "agents": [{"name": "Anna"}]}
    )
    told = drift_of(stack, session_id)

    assert (quiet["changes"], quiet["image_version"], quiet["domain_version"]) == ([], 1, 1)
    assert (told["image_version"], told["domain_version"]) == (1, 2)
    assert {".".join(change["path"]): change["kind"] for change in told["changes"]} == {
        "system_prompt": "changed",
        "agents": "added",
    }
    stack.client.patch(f"/domains/{domain['id']}", json={"archived": True})
    assert drift_of(stack, session_id)["archived"]
    stack.client.delete(f"/domains/{domain['id']}")
    gone = drift_of(stack, session_id)
    assert (gone["domain_exists"], gone["domain_version"], gone["changes"]) == (False, None, [])


def test_history_and_memory_go_on_with_todays_configuration(
    stack: Stack, model: ScriptedModel
) -> None:
    domain = make_domain(stack, system_prompt="The first prompt.")
    old_id = make_session(stack, domain["name"])
    model.steps = SCRIPT
    stack.chat("What is there?", old_id)
    before, remembered = stack.messages(old_id), stack.state(old_id)
    stack.client.patch(f"/domains/{domain['id']}", json={"system_prompt": "The second prompt."})

    new = continued(stack, old_id)
    rows = stack.messages(new["id"])

    assert shown(rows[:-1]) == shown(before)
    assert {row["id"] for row in rows} & {row["id"] for row in before} == set()
    assert [row["created_at"] for row in rows[:-1]] == [row["created_at"] for row in before]
    assert rows[-1]["content_type"] == "notice"
    assert "What is there?" in rows[-1]["content"]["text"]
    assert rows[-1]["metadata"] == {"continued_from": old_id}
    assert stack.state(new["id"]) == remembered
    assert drift_of(stack, new["id"])["changes"] == []

    model.clear()
    model.steps = [{"text": "Gladly."}]
    stack.chat("Go on.", new["id"])
    check_views(stack, new["id"])
    (sent,) = model.messages
    assert sent[0]["content"] == "The second prompt."
    assert [m["role"] for m in sent[1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[4]["content"] == ANSWER
    assert shown(stack.messages(old_id)) == shown(before)
    assert stack.state(old_id) == remembered


def test_the_memory_is_one_delta_over_an_empty_state_and_names_its_texts(
    stack: Stack, model: ScriptedModel
) -> None:
    old_id = make_session(stack, make_domain(stack)["name"])
    model.steps = SCRIPT
    stack.chat("What is there?", old_id)

    new = continued(stack, old_id)

    where = {"id": new["id"]}
    snapshot = stack.query(
        "SELECT state_data, version FROM agent_state_snapshots WHERE conversation_id = :id", **where
    )
    deltas = stack.query(
        "SELECT version, delta FROM agent_state_deltas WHERE conversation_id = :id", **where
    )
    assert [(row.version, row.state_data["messages"]) for row in snapshot] == [(0, [])]
    assert [row.version for row in deltas] == [1]
    assert ANSWER not in json.dumps(deltas[0].delta)
    stack.client.delete(f"/sessions/{old_id}")
    assert stack.state(new["id"])["messages"][-1]["content"] == ANSWER


def test_another_domain_may_go_on_and_a_deleted_one_cannot(
    stack: Stack, model: ScriptedModel
) -> None:
    first, second = make_domain(stack), make_domain(stack, system_prompt="Second.")
    old_id = make_session(stack, first["name"], title="Closing of March")
    stack.client.delete(f"/domains/{first['id']}")

    refused = stack.client.post(f"/sessions/{old_id}/continue")
    new = continued(stack, old_id, domain=second["name"])

    assert "Choose another one" in check_problem(refused, 404)["detail"]
    assert (new["domain"], new["title"]) == (second["name"], "Closing of March (continued)")
    stack.chat("Hello.", new["id"])
    assert model.messages[-1][0]["content"] == "Second."
    assert continued(stack, new["id"])["title"] == new["title"]


def test_it_waits_for_the_end_of_a_turn(stack: Stack, model: ScriptedModel) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "wait") as (domain, _):
        session_id = make_session(stack, domain["name"])
        model.steps = [{"tools": [{"name": "wait", "id": "a"}]}, {"text": "Done."}]
        turn = stack.submit("Go.", session_id)
        wait_for_event(stack, session_id, "turn_started")

        refused = stack.client.post(f"/sessions/{session_id}/continue")
        count = stack.query("SELECT count(*) FROM conversations")[0][0]
        stop(stack, turn["turn_id"])
        gate.is_open = True
        stack.finished(turn["turn_id"])

        check_problem(refused, 409)
        new = continued(stack, session_id)
        assert stack.query("SELECT count(*) FROM conversations")[0][0] == count + 1
        check_views(stack, new["id"])


def test_a_state_whose_calls_dangle_is_refused(stack: Stack, model: ScriptedModel) -> None:
    session_id = make_session(stack)
    model.steps = [{"text": "Hello."}]
    stack.chat("Hello.", session_id)
    function = {"name": "list_sources", "arguments": "{}"}
    call = {"id": "z", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "id": "m", "tool_calls": [call]}
    add_delta(stack, session_id, {"append": [message]})

    answer = stack.client.post(f"/sessions/{session_id}/continue")

    assert "without results" in check_problem(answer, 409)["detail"]


def add_delta(stack: Stack, session_id: str, delta: JSON) -> None:
    """Change a state behind the stack's back."""
    engine = create_engine(stack.database_url)
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO agent_state_deltas (conversation_id, version, delta)"
                " SELECT conversation_id, max(version) + 1, CAST(:delta AS jsonb)"
                " FROM agent_state_deltas WHERE conversation_id = :id GROUP BY conversation_id"
            ),
            {"id": session_id, "delta": json.dumps(delta)},
        )
    engine.dispose()


def test_only_the_open_branch_is_carried_over(stack: Stack, model: ScriptedModel) -> None:
    session_id = make_session(stack)
    for number in range(3):
        model.steps = [{"text": f"{number}: {ANSWER}"}]
        stack.chat(f"Question {number}", session_id)
    # The path of a conversation that was forked before its second question.
    stack.query_and_commit(
        f"UPDATE conversations SET path = '[[1, 2], [5, null]]' WHERE id = '{session_id}'"
    )
    kept = stack.state(session_id)["messages"]
    add_delta(stack, session_id, {"drop": 0, "keep": 2, "append": kept[4:]})

    new = continued(stack, session_id)
    rows, state = check_views(stack, new["id"])

    assert texts(rows, "user") == ["Question 0", "Question 2"]
    assert [m["content"] for m in state["messages"]] == [
        "Question 0",
        f"0: {ANSWER}",
        "Question 2",
        f"2: {ANSWER}",
    ]


def test_ten_thousand_messages_are_carried_over(stack: Stack) -> None:
    session_id = make_session(stack)
    many = 10_000
    stack.query_and_commit(
        "INSERT INTO display_messages (conversation_id, position, message_type, content_type,"
        " content, status) SELECT"
        f" '{session_id}', n, CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'text',"
        " jsonb_build_object('text', n || repeat(' words that stand once', 5)), 'completed'"
        f" FROM generate_series(1, {many}) AS n;"
        f" UPDATE conversations SET message_count = {many} WHERE id = '{session_id}';"
        " INSERT INTO agent_state_deltas (conversation_id, version, delta)"
        f" SELECT '{session_id}', 1, jsonb_build_object('append', jsonb_agg(jsonb_build_object("
        "'role', CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END,"
        " 'content', jsonb_build_object('$shown', n), 'id', n::text) ORDER BY n))"
        f" FROM generate_series(1, {many}) AS n"
    )

    new = continued(stack, session_id)

    assert new["message_count"] == many + 1
    assert stack.state(new["id"]) == stack.state(session_id)
    (size,) = stack.query(
        "SELECT length(delta::text) AS chars FROM agent_state_deltas WHERE conversation_id = :id",
        id=new["id"],
    )
    assert size.chars < many * 80


def test_the_same_key_gives_one_session_however_concurrently(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = look_up(stack, model)
    count = stack.query("SELECT count(*) FROM conversations")[0][0]

    def ask(key: str, **body: str) -> str:
        headers = {"Idempotency-Key": key}
        path = f"/sessions/{session_id}/continue"
        answer = stack.client.post(path, json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(ask, ["twice"] * 8))

    assert made == {ask("twice")}
    assert stack.query("SELECT count(*) FROM conversations")[0][0] == count + 1
    other = {"domain": make_domain(stack)["id"]}
    key = {"Idempotency-Key": "twice"}
    refused = stack.client.post(f"/sessions/{session_id}/continue", json=other, headers=key)
    check_problem(refused, 422)
    assert ask("once more") not in made
    assert ask("and again", **other) == ask("and again", **other)


def test_a_repeated_request_does_not_bring_back_a_deleted_continuation(stack: Stack) -> None:
    old = make_session(stack)
    path, headers = f"/sessions/{old}/continue", {"Idempotency-Key": "once"}
    new = stack.client.post(path, json={}, headers=headers).json()["id"]
    assert stack.client.delete(f"/sessions/{new}").status_code == 204

    again = stack.client.post(path, json={}, headers=headers)

    check_problem(again, 404)
    assert stack.client.get(f"/sessions/{new}").status_code == 404

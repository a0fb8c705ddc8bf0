"""Sessions over the API: pages without gap or repeat, search, changes, what each view holds."""

from typing import Any
from uuid import UUID, uuid4

from backend.schemas.conversations.sessions import MAX_TITLE_CHARS
from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    wait_for_event,
)
from tests.stack import Stack


def list_all(stack: Stack, **query: Any) -> list[JSON]:
    """All sessions of a query, page by page."""
    items: list[JSON] = []
    cursor: str | None = ""
    while cursor is not None:
        page = stack.client.get("/sessions", params={**query, "cursor": cursor or None}).json()
        assert len(page["items"]) <= query.get("limit", 50)
        items += page["items"]
        cursor = page["next_cursor"]
    return items


def ids(items: list[JSON]) -> list[str]:
    return [item["id"] for item in items]


def test_pages_of_sessions_have_each_once_newest_first(stack: Stack) -> None:
    domain = make_domain(stack)["name"]
    made = [make_session(stack, domain) for _ in range(7)]

    for limit in (1, 2, 3, 7, 8):
        listed = list_all(stack, domain=domain, limit=limit)
        assert ids(listed) == made[::-1]


def test_sessions_made_while_one_pages_change_no_later_page(stack: Stack) -> None:
    domain = make_domain(stack)["name"]
    made = [make_session(stack, domain) for _ in range(4)]
    first = stack.client.get("/sessions", params={"domain": domain, "limit": 2}).json()
    make_session(stack, domain)

    rest = {"domain": domain, "limit": 2, "cursor": first["next_cursor"]}
    second = stack.client.get("/sessions", params=rest).json()

    assert ids(first["items"] + second["items"]) == made[::-1]
    assert second["next_cursor"] is None


def test_a_message_brings_its_session_to_the_top(stack: Stack) -> None:
    domain = make_domain(stack)["name"]
    old, new = make_session(stack, domain), make_session(stack, domain)

    stack.chat("hello", old)

    assert ids(list_all(stack, domain=domain)) == [old, new]


def test_search_finds_words_of_the_title(stack: Stack) -> None:
    mark = f"w{uuid4().hex[:10]}"
    budget = make_session(stack, title=f"{mark} Budget of CC-1001 für Zürich")
    other = make_session(stack, title=f"{mark} Reconciliation 2026")

    def found(q: str) -> set[str]:
        return set(ids(list_all(stack, q=q)))

    assert found(mark) == {budget, other}
    assert found(f"{mark} budg") == {budget}
    assert found(f"CC-1001 {mark.upper()}") == {budget}
    assert found(f"{mark} zürich") == {budget}
    assert found(f"{mark} 2026") == {other}
    assert found(f"{mark} nothing") == set()
    assert found("'; DROP TABLE turns; --") == set()


def test_search_follows_a_new_title(stack: Stack) -> None:
    mark = f"w{uuid4().hex[:10]}"
    session_id = make_session(stack, title="before")

    stack.client.patch(f"/sessions/{session_id}", json={"title": f"after {mark}"})

    assert ids(list_all(stack, q=mark)) == [session_id]


def test_filters_of_sessions(stack: Stack) -> None:
    domain = make_domain(stack)["name"]
    plain, pinned, archived = (make_session(stack, domain) for _ in range(3))
    stack.client.patch(f"/sessions/{pinned}", json={"pinned": True})
    stack.client.patch(f"/sessions/{archived}", json={"archived": True})
    running = stack.submit(script({"text": "word " * 100, "delay": 0.1}), plain)
    wait_for_event(stack, plain, "text_delta")

    assert ids(list_all(stack, domain=domain, pinned=True)) == [pinned]
    assert ids(list_all(stack, domain=domain, archived=True)) == [archived]
    assert set(ids(list_all(stack, domain=domain))) == {plain, pinned}
    assert ids(list_all(stack, domain=domain, status="running")) == [plain]
    assert ids(list_all(stack, domain=domain, status="idle")) == [pinned]
    assert stack.client.get(f"/sessions/{plain}").json()["status"] == "running"
    stack.client.post(f"/turns/{running['turn_id']}/stop")
    stack.finished(running["turn_id"])
    assert stack.client.get(f"/sessions/{plain}").json()["status"] == "idle"


def test_a_session_has_the_fields_of_the_contract(stack: Stack) -> None:
    made = stack.client.post("/sessions", json={"title": "  Two \n lines  "})

    session = made.json()
    assert made.status_code == 201
    assert set(session) == {
        "id", "title", "domain", "domain_id", "image_id", "status", "pinned", "archived",
        "message_count", "turn_count", "has_failed", "owner", "created_at", "updated_at", "branch",
        "models", "model", "default_model", "parent_id", "waits_for", "deletes_at",
        "owner_name", "team", "team_name", "rights", "review_ends_at", "review_count", "figures",
        "last_accessed_at", "prefixed_ids",
    }  # fmt: skip
    assert session["title"] == "Two lines"
    assert (session["status"], session["message_count"]) == ("idle", 0)
    assert stack.client.get(f"/sessions/{session['id']}").json() == session


def test_each_model_messages_rows_have_the_tokens_of_its_call(stack: Stack) -> None:
    turn = stack.chat(script({"tools": [{"name": "list_sources"}]}, {"text": "Here."}))

    rows = stack.messages(turn["session_id"])
    with_usage = [row for row in rows if "usage" in row["metadata"]]
    assert [row["content_type"] for row in with_usage] == ["tool_call", "text"]
    used = stack.turn(turn["turn_id"])["usage"]
    for kind in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"):
        assert sum(row["metadata"]["usage"][kind] for row in with_usage) == used[kind]
    assert used["input_tokens"] > 0


def test_an_unnamed_session_is_named_after_its_first_message(stack: Stack) -> None:
    named = make_session(stack, title="My name")
    stack.chat("another subject", named)
    long = stack.chat(
        "What is the budget of cost centre 1001 in the year 2026 please?\nSecond line"
    )

    assert stack.client.get(f"/sessions/{named}").json()["title"] == "My name"
    title = stack.client.get(f"/sessions/{long['session_id']}").json()["title"]
    assert title.startswith("What is the budget")
    assert len(title) <= 61 and "Second" not in title


def test_a_title_that_is_too_long_is_refused_and_never_cut(stack: Stack) -> None:
    longest = "😀" * MAX_TITLE_CHARS
    session_id = make_session(stack, title=longest)
    renamed = {"title": "x" + longest}

    for refused in (
        stack.client.post("/sessions", json=renamed),
        stack.client.patch(f"/sessions/{session_id}", json=renamed),
    ):
        assert f"{MAX_TITLE_CHARS} characters" in check_problem(refused, 422)["detail"]
    assert stack.client.get(f"/sessions/{session_id}").json()["title"] == longest


def test_a_change_touches_only_what_it_names(stack: Stack) -> None:
    session_id = make_session(stack, title="name")

    pinned = stack.client.patch(f"/sessions/{session_id}", json={"pinned": True}).json()
    renamed = stack.client.patch(f"/sessions/{session_id}", json={"title": "new"}).json()
    nothing = stack.client.patch(f"/sessions/{session_id}", json={})

    assert (pinned["title"], pinned["pinned"], pinned["archived"]) == ("name", True, False)
    assert (renamed["title"], renamed["pinned"]) == ("new", True)
    assert nothing.status_code == 200
    for title in ("", "  \n ", "\u200b", "\u3164 \u2800"):
        answer = stack.client.patch(f"/sessions/{session_id}", json={"title": title})
        check_problem(answer, 422)
    for name in ("title", "pinned", "archived"):
        answer = stack.client.patch(f"/sessions/{session_id}", json={name: None})
        assert name in check_problem(answer, 422)["detail"]


def test_pages_of_messages_have_no_gap_at_any_limit(stack: Stack) -> None:
    session_id = make_session(stack)
    for number in range(4):
        stack.chat(f"message {number}", session_id)
    rows = stack.messages(session_id)
    url = f"/sessions/{session_id}/messages"
    assert len(rows) == 8

    for limit in (1, 3, 8, 9):
        forward, after = [], 0
        while after is not None:
            page = stack.client.get(url, params={"after": after, "limit": limit}).json()
            forward += page["items"]
            after = page["next_after"]
        page = stack.client.get(url, params={"limit": limit}).json()
        assert page["next_after"] is None
        backward = page["items"]
        while page["next_before"] is not None:
            query = {"before": page["next_before"], "limit": limit}
            page = stack.client.get(url, params=query).json()
            backward = page["items"] + backward
        assert forward == rows
        assert backward == rows


def test_ends_of_pages_of_messages(stack: Stack) -> None:
    session_id = make_session(stack)
    url = f"/sessions/{session_id}/messages"
    empty = {"items": [], "next_before": None, "next_after": None}
    assert stack.client.get(url).json() == empty
    assert stack.client.get(url, params={"after": 0}).json() == empty
    stack.chat("hello", session_id)

    whole = stack.client.get(url).json()
    for after in (2, 1000, 10**30):
        beyond = stack.client.get(url, params={"after": after}).json()
        assert beyond == {"items": [], "next_before": 3, "next_after": None}
        back = stack.client.get(url, params={"before": beyond["next_before"]}).json()
        assert back["items"] == whole["items"]
    assert stack.client.get(url, params={"before": 1}).json() == empty | {"next_after": 0}
    check_problem(stack.client.get(url, params={"after": 1, "before": 2}), 422)
    assert (whole["next_before"], whole["next_after"]) == (None, None)
    first = stack.client.get(url, params={"after": 0, "limit": 1}).json()
    assert (first["next_before"], first["next_after"]) == (None, 1)


def test_a_display_message_has_the_fields_of_the_contract(stack: Stack) -> None:
    steps = (
        {"text": "Look.", "tools": [{"name": "list_sources", "id": "call_1"}]},
        {"text": "Ok."},
    )
    answer = stack.chat(script(*steps))

    rows, _ = check_views(stack, answer["session_id"])

    for row in rows:
        assert set(row) == {
            "id", "position", "message_type", "content_type", "content", "sequence", "status",
            "agent", "turn_id", "created_at", "metadata",
        }  # fmt: skip
        assert row["turn_id"] == answer["turn_id"]
        assert UUID(row["id"])
    assert [row["sequence"] for row in rows] == [0, 0, 1, 0, 0]
    call, result = rows[2]["content"], rows[3]["content"]
    assert call == {"call_id": "call_1", "name": "list_sources", "arguments": {}}
    assert set(result) == {"tool_call_id", "name", "content", "is_error"}
    assert result["tool_call_id"] == "call_1"


def test_rows_in_the_tables_are_what_the_api_gives(stack: Stack) -> None:
    session_id = make_session(stack)
    for number in range(3):
        stack.chat(f"message {number}", session_id)

    rows, _ = check_views(stack, session_id)

    stored = stack.query(
        "SELECT position, content FROM display_messages WHERE conversation_id = :id"
        " ORDER BY position",
        id=session_id,
    )
    assert [tuple(row) for row in stored] == [(row["position"], row["content"]) for row in rows]
    turns = "SELECT status, attempt, steps FROM turns WHERE conversation_id = :id"
    assert [tuple(row) for row in stack.query(turns, id=session_id)] == [("succeeded", 1, 1)] * 3


def test_the_state_is_what_the_model_reads_next(stack: Stack) -> None:
    session_id = make_session(stack)
    empty = stack.state(session_id)
    assert empty["messages"] == []
    assert set(empty) >= {"version", "messages", "todos", "metadata", "payload", "interrupt"}

    calls = {"tools": [{"name": "list_sources", "id": "c", "args": '{"a":  1}'}]}
    stack.chat(script({"text": "Look.", **calls}, {"text": "Ok."}), session_id)

    user, assistant, tool, last = stack.state(session_id)["messages"]
    assert user["role"] == "user"
    assert (assistant["role"], assistant["content"]) == ("assistant", "Look.")
    function = {"name": "list_sources", "arguments": '{"a":  1}'}
    assert assistant["tool_calls"] == [{"id": "c", "type": "function", "function": function}]
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "c")
    assert (last["role"], last["content"]) == ("assistant", "Ok.")


def test_a_turn_has_the_fields_of_the_contract(stack: Stack) -> None:
    answer = stack.chat("hello")

    turn = stack.turn(answer["turn_id"])

    assert set(answer) == {"session_id", "turn_id", "status", "response", "agent"}
    assert set(turn) >= {
        "id", "session_id", "status", "agent", "attempts", "steps", "usage", "error",
        "queue_position", "created_at", "started_at", "finished_at",
    }  # fmt: skip
    assert (turn["attempts"], turn["steps"], turn["error"]) == (1, 1, None)
    assert turn["usage"]["model_calls"] == 1
    assert turn["usage"]["input_tokens"] > 0 and turn["usage"]["output_tokens"] > 0
    assert turn["created_at"] <= turn["started_at"] <= turn["finished_at"]


def test_what_is_deleted_is_gone_everywhere(stack: Stack) -> None:
    session_id = make_session(stack, title=f"t{uuid4().hex}")
    answer = stack.chat("hello", session_id)

    assert stack.client.delete(f"/sessions/{session_id}").status_code == 204

    for path in ("", "/messages", "/state", "/image", "/turns", "/events"):
        check_problem(stack.client.get(f"/sessions/{session_id}{path}"), 404)
    check_problem(stack.client.get(f"/turns/{answer['turn_id']}"), 404)
    check_problem(stack.client.post(f"/turns/{answer['turn_id']}/retry"), 404)
    assert session_id not in ids(list_all(stack))

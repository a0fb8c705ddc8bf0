"""Messages by what they are and say: filters in SQL, pages and cursors that agree with them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack

KINDS: list[tuple[str, str, str, str | None, JSON]] = [
    ("user", "text", "completed", None, {"text": "What is 100% of CC_1001?\nAnd “Zürich”?"}),
    ("assistant", "thinking", "completed", "analyst", {"text": "A question of budgets"}),
    ("assistant", "tool_call", "completed", "analyst",
     {"call_id": "call_budget", "name": "query_source", "arguments": {"sql": ["SELECT 42 AS n"]}}),
    ("tool", "tool_result", "failed", "analyst",
     {"tool_call_id": "call_budget", "name": "query_source", "content": "no such \"table\"",
      "is_error": True}),
    ("assistant", "text", "stopped", "writer", {"text": "ZÜRICH has a back\\slash, 100 percent."}),
]  # fmt: skip


def make_history(stack: Stack, count: int) -> str:
    """A session of so many messages, the kinds one after the other."""
    session_id = make_session(stack)
    stack.query_and_commit(
        """INSERT INTO display_messages
             (conversation_id, position, message_type, content_type, status, agent, content)
           SELECT CAST(:session AS uuid), n, kind->>0, kind->>1, kind->>2, kind->>3, kind->4
           FROM generate_series(1, :count) n,
             LATERAL (SELECT CAST(:kinds AS jsonb) -> CAST((n - 1) % :every AS int) AS kind) k""",
        session=session_id, count=count, every=len(KINDS), kinds=json.dumps(KINDS),
    )  # fmt: skip
    stack.query_and_commit(
        "UPDATE conversations SET message_count = :count WHERE id = CAST(:session AS uuid)",
        session=session_id, count=count,
    )  # fmt: skip
    return session_id


def read_page(stack: Stack, session_id: str, **query: Any) -> JSON:
    answer = stack.client.get(f"/sessions/{session_id}/messages", params=query)
    assert answer.status_code == 200, answer.text
    page: JSON = answer.json()
    return page


def walk_back(stack: Stack, session_id: str, **query: Any) -> list[int]:
    """The positions of a filter, read from the latest page to the first one."""
    page = read_page(stack, session_id, **query)
    found = [item["position"] for item in page["items"]]
    while page["next_before"] is not None:
        page = read_page(stack, session_id, **query, before=page["next_before"])
        assert page["items"]
        assert page["next_after"] is not None
        found = [item["position"] for item in page["items"]] + found
    return found


def walk_on(stack: Stack, session_id: str, **query: Any) -> list[int]:
    """The same, read from the first page to the latest."""
    found, after = [], 0
    while after is not None:
        page = read_page(stack, session_id, **query, after=after)
        assert page["items"]
        assert (page["next_before"] is None) == (after == 0)
        found += [item["position"] for item in page["items"]]
        after = page["next_after"]
    return found


FILTERS: list[tuple[JSON, Callable[[int], bool]]] = [
    ({}, lambda kind: True),
    ({"content_type": "text"}, lambda kind: kind in (0, 4)),
    ({"content_type": "tool_call"}, lambda kind: kind == 2),
    ({"message_type": "assistant"}, lambda kind: kind in (1, 2, 4)),
    ({"status": "failed"}, lambda kind: kind == 3),
    ({"agent": "analyst"}, lambda kind: kind in (1, 2, 3)),
    ({"agent": "analyst", "content_type": "thinking"}, lambda kind: kind == 1),
    ({"q": "100%"}, lambda kind: kind == 0),
    ({"q": "c_1"}, lambda kind: kind == 0),
    ({"q": "?\nand"}, lambda kind: kind == 0),
    ({"q": "zürich"}, lambda kind: kind in (0, 4)),
    ({"q": "BACK\\"}, lambda kind: kind == 4),
    ({"q": 'such "TABLE'}, lambda kind: kind == 3),
    ({"q": "select 42"}, lambda kind: kind == 2),
    ({"q": "query_source", "status": "completed"}, lambda kind: kind == 2),
    ({"q": "budget"}, lambda kind: kind == 1),
]


def test_messages_are_listed_by_what_they_are_and_say(stack: Stack) -> None:
    session_id = make_history(stack, 23)

    for query, fits in FILTERS:
        wanted = [position for position in range(1, 24) if fits((position - 1) % len(KINDS))]
        for limit in (2, len(wanted)):
            assert walk_back(stack, session_id, **query, limit=limit) == wanted, query
            assert walk_on(stack, session_id, **query, limit=limit) == wanted, query


def test_what_fits_nothing_is_an_empty_page(stack: Stack) -> None:
    session_id = make_history(stack, 10)

    for query in ({"q": "call_budget"}, {"q": "is_error"}, {"agent": "nobody"},
                  {"content_type": "artifact"}, {"q": "%"*50}):  # fmt: skip
        for place in ({}, {"after": 0}, {"before": 5}, {"after": 99}, {"before": 99}):
            page = read_page(stack, session_id, **query, **place)
            assert page == {"items": [], "next_before": None, "next_after": None}, (query, place)


def test_beyond_the_last_that_fits_there_is_a_way_back(stack: Stack) -> None:
    session_id = make_history(stack, 10)

    page = read_page(stack, session_id, status="failed", after=9)

    assert (page["items"], page["next_after"]) == ([], None)
    assert walk_back(stack, session_id, status="failed", before=page["next_before"]) == [4, 9]


@pytest.mark.parametrize(
    "query",
    ["content_type=speech", "message_type=bot", "status=done", "agent=", "agent=%00", "q=%00",
     "content_type=text&content_type=image", "type=text", "q=" + "a+" * 10_001],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused(stack: Stack, query: str) -> None:
    session_id = make_session(stack)

    check_problem(stack.client.get(f"/sessions/{session_id}/messages?{query}"), 422)


def test_a_filter_keeps_to_the_branch_that_is_shown(stack: Stack) -> None:
    session_id = make_history(stack, 10)
    stack.query_and_commit(
        "UPDATE conversations SET path = '[[1, 3], [9, null]]' WHERE id = CAST(:id AS uuid)",
        id=session_id,
    )

    shown = walk_back(stack, session_id, content_type="text", branch="active", limit=1)

    assert shown == walk_on(stack, session_id, content_type="text", branch="active", limit=1)
    assert shown == [1, 10]
    assert walk_back(stack, session_id, branch="active", limit=2) == [1, 2, 3, 9, 10]


def test_ten_thousand_messages_are_looked_through_within_moments(stack: Stack) -> None:
    session_id = make_history(stack, 10_000)

    page = read_page(stack, session_id, q="never said", before=10_001)
    rare = read_page(stack, session_id, content_type="tool_result", q="TABLE", limit=2, after=0)

    assert page["items"] == []
    assert [item["position"] for item in rare["items"]] == [4, 9]


def test_sessions_are_listed_in_the_order_that_was_asked_for(stack: Stack) -> None:
    domain = make_domain(stack)["name"]
    titles = ["beta", "Alpha", "alpha", "", "Beta 2", "beta"]
    made = [make_session(stack, domain, title) for title in titles]
    stack.client.patch(f"/sessions/{made[1]}", json={"pinned": True})
    stack.query_and_commit(
        "UPDATE conversations SET updated_at = now() + interval '1 hour'"
        " WHERE id = CAST(:id AS uuid)",
        id=made[2],
    )

    def listed(limit: int, **order: str) -> list[str]:
        found: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            query = {"domain": domain, "limit": limit, "cursor": cursor, **order}
            page = stack.client.get("/sessions", params=query).json()
            found += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
        return found

    by_title = sorted(made, key=lambda each: (titles[made.index(each)].lower(), each))
    latest = [made[2], *[each for each in made[::-1] if each != made[2]]]
    for limit in (1, 2, 6, 50):
        assert listed(limit) == listed(limit, order_by="-updated_at") == latest
        assert listed(limit, order_by="updated_at") == latest[::-1]
        assert listed(limit, order_by="created_at") == made
        assert listed(limit, order_by="-created_at") == made[::-1]
        assert listed(limit, order_by="title") == by_title
        assert listed(limit, order_by="-title") == by_title[::-1]


def test_a_cursor_belongs_to_its_order(stack: Stack) -> None:
    for _ in range(2):
        make_session(stack, title="a title")
    orders = ("-updated_at", "created_at", "title")
    cursors = {
        order: stack.client.get("/sessions", params={"order_by": order, "limit": 1}).json()[
            "next_cursor"
        ]
        for order in orders
    }

    for given, cursor in cursors.items():
        for order in set(orders) - {given}:
            query = {"order_by": order, "cursor": cursor}
            told = check_problem(stack.client.get("/sessions", params=query), 422)["detail"]
            assert "another order" in told
    for order in ("", "owner", "TITLE", "updated_at desc", "--title"):
        check_problem(stack.client.get("/sessions", params={"order_by": order}), 422)


def test_a_page_around_a_position_has_it_in_its_middle(stack: Stack) -> None:
    session_id = make_history(stack, 40)

    def around(position: int, **query: Any) -> tuple[list[int], int | None, int | None]:
        page = read_page(stack, session_id, around=position, limit=6, **query)
        positions = [item["position"] for item in page["items"]]
        return positions, page["next_before"], page["next_after"]

    assert around(20) == ([17, 18, 19, 20, 21, 22], 17, 22)
    assert around(1) == ([1, 2, 3, 4, 5, 6], None, 6)
    assert around(2) == ([1, 2, 3, 4, 5, 6], None, 6)
    assert around(40) == ([35, 36, 37, 38, 39, 40], 35, None)
    assert around(1_000) == ([35, 36, 37, 38, 39, 40], 35, None)
    assert around(20, message_type="user") == ([6, 11, 16, 21, 26, 31], 6, 31)
    for other in ("after", "before"):
        query = {"around": 3, other: 4}
        check_problem(stack.client.get(f"/sessions/{session_id}/messages", params=query), 422)

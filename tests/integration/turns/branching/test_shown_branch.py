"""The branch that is shown is paged, rebuilt, titled, followed and deleted as one session."""

from backend.types import JSON
from tests.integration.turns.branching.branches import edit, edited, read, shown, switch, talk
from tests.stack import Stack


def test_pages_of_a_branch_follow_each_other_across_its_ranges(stack: Stack) -> None:
    session_id, turns = talk(stack, "one", "two", "three")
    edited(stack, turns[1], "other")
    stack.chat("more", session_id)
    edited(stack, stack.chat("most", session_id)["turn_id"], "most again")
    whole = [row["position"] for row in shown(stack, session_id)]
    assert whole == [1, 2, 7, 8, 9, 10, 13, 14]

    for limit in (1, 2, 3, 5, 8):
        forward, after = [], 0
        while after is not None:
            page = page_of(stack, session_id, limit, after=after)
            forward += [row["position"] for row in page["items"]]
            after = page["next_after"]
        backward, page = [], page_of(stack, session_id, limit)
        backward = [row["position"] for row in page["items"]]
        assert page["next_after"] is None
        while page["next_before"] is not None:
            page = page_of(stack, session_id, limit, before=page["next_before"])
            backward = [row["position"] for row in page["items"]] + backward
        assert forward == backward == whole

    assert page_of(stack, session_id, 2, before=7)["next_before"] is None
    assert page_of(stack, session_id, 2, before=7)["next_after"] == 2
    assert page_of(stack, session_id, 5, after=14)["items"] == []


def page_of(stack: Stack, session_id: str, limit: int, **place: int) -> JSON:
    params = {"branch": "active", "limit": limit, **place}
    return stack.client.get(f"/sessions/{session_id}/messages", params=params).json()


def test_where_nobody_has_forked_there_is_one_branch(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    assert shown(stack, session_id) == stack.messages(session_id)
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] is None
    assert stack.client.get(f"/sessions/{session_id}/branches").json() == {
        "branch": None, "items": [], "left": None,
    }  # fmt: skip
    edited(stack, first, "other")
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] == 2
    switch(stack, session_id, first)
    assert stack.client.get(f"/sessions/{session_id}").json()["branch"] == 1


def test_what_is_rebuilt_is_the_branch_that_is_shown(stack: Stack) -> None:
    session_id, (_, second) = talk(stack, "one", "two")
    edited(stack, second, "other")

    assert stack.client.post(f"/sessions/{session_id}/rebuild").status_code == 200

    said = [text for role, text in read(stack, session_id) if role == "user"]
    assert said == ["one", "other"]
    switch(stack, session_id, second)
    said = [text for role, text in read(stack, session_id) if role == "user"]
    assert said == ["one", "two"]


def test_versions_of_the_state_are_linear_and_deleted_with_the_session(stack: Stack) -> None:
    session_id, (_, second) = talk(stack, "one", "two")
    edited(stack, second, "other")
    switch(stack, session_id, second)
    found = stack.query(
        "SELECT version FROM agent_state_deltas WHERE conversation_id = :id ORDER BY version",
        id=session_id,
    )
    assert [row.version for row in found] == list(range(1, len(found) + 1))
    assert stack.query("SELECT * FROM branches WHERE conversation_id = :id", id=session_id)

    stack.client.delete(f"/sessions/{session_id}")

    for table in ("branches", "turns", "display_messages", "agent_state_deltas"):
        rows = stack.query(f"SELECT 1 FROM {table} WHERE conversation_id = :id", id=session_id)
        assert rows == []


def test_the_title_stays_that_of_the_session(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    edited(stack, first, "other")

    assert stack.client.get(f"/sessions/{session_id}").json()["title"] == "one"


def test_a_fork_is_told_to_those_who_follow(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    with stack.events(session_id) as events:
        new = edit(stack, first, "other").json()["id"]
        told = []
        for event in events:
            told.append(event)
            if event["event"] == "turn_finished":
                break

    assert {event["data"]["context"]["turn_id"] for event in told} == {new}
    assert told[0]["event"] == "turn_queued"
    assert told[0]["data"]["turn"]["fork_of"] == first
    positions = [e["data"]["message"]["position"] for e in told if e["event"] == "message_added"]
    assert positions == [3, 4]

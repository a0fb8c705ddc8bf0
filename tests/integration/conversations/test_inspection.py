"""The inspector: what became of each display message, and what the model reads next."""

from contextlib import closing
from typing import Any
from uuid import UUID

import pytest

from backend.auth.scope import Scope
from backend.errors.conversations import SessionNotFound
from backend.inspection.calls import get_call, list_calls
from backend.inspection.service import inspect
from backend.schemas.people.rights import Review, Role
from backend.types import JSON
from db.session import Database
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import make_domain, make_session, tool_domain
from tests.stack import Stack

LONG = "The ledger of that year says, line by line, what was spent and by whom. " * 12


def inspection(stack: Stack, session_id: str, **params: Any) -> JSON:
    answer = stack.client.get(f"/sessions/{session_id}/inspection", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def all_pairs(stack: Stack, session_id: str, limit: int = 7) -> list[JSON]:
    """The pairs of all pages, in order."""
    pairs: list[JSON] = []
    before: int | None = None
    while True:
        page = inspection(stack, session_id, limit=limit, **({"before": before} if before else {}))
        pairs = page["items"] + pairs
        before = page["next_before"]
        if before is None:
            return pairs


def context_statuses(pairs: list[JSON]) -> list[tuple[str, str]]:
    return [
        (row["message"]["content_type"], row["context_status"])
        for pair in pairs
        for row in pair["shown"]
    ]


def places(pairs: list[JSON]) -> list[int]:
    """The places that the model reads, one for each of its messages."""
    found = [pair["reads"]["place"] for pair in pairs if pair["reads"]]
    return list(dict.fromkeys(found))


def test_all_is_kept_where_no_policy_is(stack: Stack, model: ScriptedModel) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look", "find") as (domain, _):
        session_id = make_session(stack, domain["name"])
        tools = [{"name": "look"}, {"name": "find"}]
        stack.chat(
            script({"text": "I look.", "think": "hm", "tools": tools}, {"text": "done"}), session_id
        )

    page = inspection(stack, session_id)

    assert context_statuses(page["items"]) == [
        ("text", "kept"),
        ("thinking", "people_only"),
        ("text", "kept"),
        ("tool_call", "kept"),
        ("tool_call", "kept"),
        ("tool_result", "kept"),
        ("tool_result", "kept"),
        ("text", "kept"),
    ]
    assert [len(pair["shown"]) for pair in page["items"]] == [1, 4, 1, 1, 1]
    assert places(page["items"]) == [0, 1, 2, 3, 4]
    assert page["totals"]["tools"] > 0
    assert page["totals"]["messages"] == sum(pair["reads"]["tokens"] for pair in page["items"])
    assert page["notes"] == []


def test_a_session_in_which_nothing_was_said_is_empty(stack: Stack) -> None:
    page = inspection(stack, make_session(stack))

    assert page["items"] == []
    assert page["totals"]["message_count"] == 0


def test_what_was_summarised_says_when_and_the_summary_stands_in_its_place(
    stack: Stack, model: ScriptedModel
) -> None:
    def answer(messages: list[JSON], body: JSON) -> JSON:
        if "What was spent" not in str(messages[-1]["content"]) or (
            len(messages) == 1 and "[person]" in str(messages)
        ):
            return {"text": "So far: what was spent, year by year."}
        return {"text": f"So much. {LONG}"}

    model.steps = answer
    policy = {"summarization": {"trigger_tokens": 900, "keep_tokens": 300}}
    domain = make_domain(stack, tools=[], middleware=[policy])
    session_id = make_session(stack, domain["name"])
    for number in range(8):
        stack.chat(f"What was spent in 20{number:02}?", session_id)

    pairs = all_pairs(stack, session_id)
    state = stack.state(session_id)["messages"]

    assert [m["message"]["position"] for p in pairs for m in p["shown"]] == list(
        range(1, len(stack.messages(session_id)) + 1)
    )
    assert places(pairs) == list(range(len(state)))
    gone = [row for pair in pairs for row in pair["shown"] if row["context_status"] == "summarised"]
    assert gone and all(row["left"]["reason"] == "summary" for row in gone)
    assert all(2 <= row["left"]["turn"] <= 8 and row["left"]["step"] == 1 for row in gone)
    (summary,) = [pair for pair in pairs if pair["reads"] and pair["reads"]["origin"] == "summary"]
    assert summary["shown"] == []
    following = pairs[pairs.index(summary) + 1]
    assert following["reads"]["place"] == summary["reads"]["place"] + 1
    totals = inspection(stack, session_id)["totals"]
    assert (totals["budget"], totals["keep"]) == (900, 300)
    assert totals["messages"] == sum(
        {p["reads"]["place"]: p["reads"]["tokens"] for p in pairs if p["reads"]}.values()
    )


def test_what_was_trimmed_is_dropped(stack: Stack) -> None:
    domain = make_domain(
        stack, tools=[], middleware=[{"recent_messages": {"trigger": 4, "keep": 2}}]
    )
    session_id = make_session(stack, domain["name"])
    for number in range(4):
        stack.chat(script({"text": f"answer {number}"}), session_id)

    pairs = all_pairs(stack, session_id)

    dropped = [row for pair in pairs for row in pair["shown"] if row["context_status"] == "dropped"]
    assert dropped[0]["left"] == {"reason": "trimmed", "turn": 3, "step": 1}
    assert ("notice", "people_only") in context_statuses(pairs)
    assert places(pairs) == list(range(len(stack.state(session_id)["messages"])))


def test_an_answer_that_is_tried_again_was_taken_back(stack: Stack, model: ScriptedModel) -> None:
    model.steps = [{"text": "half of the", "hang": 30}]
    turn = stack.submit("say it")
    session_id = turn["session_id"]
    with stack.events(session_id) as events:
        next(event for event in events if event["event"] == "text_delta")
    stack.client.post(f"/turns/{turn['turn_id']}/stop")
    stack.finished(turn["turn_id"])
    model.steps = [{"text": "the whole answer"}]
    again = stack.client.post(f"/turns/{turn['turn_id']}/retry").json()
    stack.finished(again["id"])

    pairs = all_pairs(stack, session_id)

    by_text = {
        row["message"]["content"].get("text"): row for pair in pairs for row in pair["shown"]
    }
    partial = next(row for text, row in by_text.items() if text.startswith("half"))
    assert partial["context_status"] == "dropped"
    assert partial["left"]["reason"] == "taken_back"
    assert by_text["the whole answer"]["context_status"] == "kept"


def test_results_that_the_last_request_left_out_are_edited(
    stack: Stack, model: ScriptedModel
) -> None:
    policy = {"context_editing": {"trigger_tokens": 100, "keep": 0}}
    with tool_domain(stack, lambda name, arguments: LONG, "look") as (made, _):
        domain = make_domain(stack, mcp_servers=made["mcp_servers"], middleware=[policy])
        session_id = make_session(stack, domain["name"])
        stack.chat(script({"tools": [{"name": "look"}]}, {"text": "done"}), session_id)
        stack.chat(script({"text": "and done"}), session_id)

    pairs = all_pairs(stack, session_id)

    (result,) = [
        p for p in pairs if p["shown"] and p["shown"][0]["message"]["message_type"] == "tool"
    ]
    assert result["shown"][0]["context_status"] == "edited"
    assert "left out" in result["reads"]["sent"]


def test_a_session_of_an_older_version_says_what_it_does_not_know(stack: Stack) -> None:
    session_id = make_session(stack)
    for number in range(3):
        stack.chat(script({"text": f"answer {number} {LONG}"}), session_id)
    old = f"conversation_id = '{UUID(session_id)}'"
    stack.query_and_commit(f"DELETE FROM agent_state_deltas WHERE {old} AND version < 4")
    stack.query_and_commit(f"UPDATE agent_state_deltas SET calls = NULL WHERE {old}")
    stack.query_and_commit(f"UPDATE turns SET state_version = NULL WHERE {old}")
    stack.query_and_commit(f"UPDATE agent_state_snapshots SET version = 3 WHERE {old}")

    page = inspection(stack, session_id)
    calls = stack.client.get(f"/sessions/{session_id}/calls").json()

    assert len(page["notes"]) == 2
    assert {status for _, status in context_statuses(page["items"])} <= {
        "kept",
        "unknown",
        "people_only",
    }
    assert calls["items"] == [] and len(calls["notes"]) == 1


def test_a_state_that_cannot_be_read_leaves_the_history(stack: Stack) -> None:
    session_id = stack.chat(script({"text": "fine"}))["session_id"]
    where = f"WHERE conversation_id = '{UUID(session_id)}'"
    stack.query_and_commit(f"UPDATE agent_state_snapshots SET state_data = '[1]' {where}")

    page = inspection(stack, session_id)

    assert [len(pair["shown"]) for pair in page["items"]] == [1, 1]
    assert page["notes"]


def test_a_long_session_is_read_in_pages(stack: Stack) -> None:
    session_id = make_session(stack)
    for number in range(6):
        stack.chat(script({"text": f"answer {number}"}), session_id)

    first = inspection(stack, session_id, limit=5)
    whole = all_pairs(stack, session_id, limit=100)

    assert first["next_before"] == 8
    assert all_pairs(stack, session_id, limit=5) == whole


def test_a_state_that_was_made_anew_is_read_as_what_it_was_made_of(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        answers = [{"text": "I look.", "tools": [{"name": "look"}]}, {"text": "done"}]
        stack.chat(script(*answers), session_id)
    where = f"WHERE conversation_id = '{UUID(session_id)}'"
    stack.query_and_commit(f"UPDATE agent_state_snapshots SET state_data = '[1]' {where}")
    assert stack.client.post(f"/sessions/{session_id}/rebuild").status_code == 200

    pairs = all_pairs(stack, session_id)

    assert [
        context_status for kind, context_status in context_statuses(pairs) if kind != "notice"
    ] == ["kept"] * 5
    assert places(pairs) == [0, 1, 2, 3]


def test_the_inspector_shows_the_branch_that_is_open(stack: Stack) -> None:
    session_id = make_session(stack)
    first = stack.chat(script({"text": "one answer"}), session_id)
    again = stack.client.post(f"/turns/{first['turn_id']}/retry").json()
    stack.finished(again["id"])

    pairs = all_pairs(stack, session_id)

    branch = stack.client.get(f"/sessions/{session_id}/messages?branch=active").json()["items"]
    shown = [row["message"]["position"] for pair in pairs for row in pair["shown"]]
    assert shown == [row["position"] for row in branch]
    assert {status for _, status in context_statuses(pairs)} == {"kept"}
    assert places(pairs) == [0, 1]


def test_it_is_for_the_owner_and_for_admins(stack: Stack) -> None:
    said = stack.chat(script({"text": "fine"}))
    session_id = UUID(said["session_id"])
    stranger, admin = (
        Scope("stranger"),
        Scope("chief", Role.ADMIN, review=Review.ON, reads_all=True),
    )
    database = Database(stack.database_url)
    with closing(database), database.read() as session:
        for ask in (
            lambda scope: inspect(session, scope, session_id, before=None, limit=50),
            lambda scope: list_calls(session, scope, session_id, before=None, limit=50),
            lambda scope: get_call(session, scope, session_id, 2, 1),
        ):
            assert ask(admin)
            with pytest.raises(SessionNotFound):
                ask(stranger)

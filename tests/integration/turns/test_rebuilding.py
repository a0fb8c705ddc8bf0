"""A state that cannot be read bricks nothing: the session opens, says so, and can be mended."""

import pytest

from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.scenes import check_problem, check_views, make_session, texts
from tests.stack import Stack

CALL = {"tools": [{"name": "list_sources", "id": "a"}]}
SPOILS = {
    "snapshot": "UPDATE agent_state_snapshots SET state_data = '\"gone\"'"
    " WHERE conversation_id = '{0}'",
    "delta": "UPDATE agent_state_deltas SET delta = '[1]'"
    " WHERE conversation_id = '{0}' AND version = 2",
    "message": 'UPDATE agent_state_deltas SET delta = \'{{"append": [{{"role": "king"}}]}}\''
    " WHERE conversation_id = '{0}' AND version = 2",
    "version": 'UPDATE agent_state_snapshots SET state_data = \'{{"version": 99, "messages": []}}\''
    " WHERE conversation_id = '{0}'",
    "missing": "DELETE FROM agent_state_snapshots WHERE conversation_id = '{0}'",
}


def talk(stack: Stack, model: ScriptedModel) -> str:
    """A session in which a tool was called and an answer given."""
    model.steps = [CALL, {"text": "Found it."}]
    session_id = make_session(stack)
    stack.chat("Look it up.", session_id)
    return session_id


def integrity(stack: Stack, session_id: str, *arguments: str) -> tuple[int, str]:
    """What the check of one session says, and its status."""
    ended, said = stack.run(
        "-m", "backend.operations.integrity", "--session", session_id, *arguments
    )
    assert ended in (0, 1), said
    return ended, said


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_session_with_an_unreadable_state_is_rebuilt_and_goes_on(
    stack: Stack, model: ScriptedModel, spoil: str
) -> None:
    session_id = talk(stack, model)
    seen = stack.messages(session_id)
    stack.query_and_commit(SPOILS[spoil].format(session_id))
    model.steps = [{"text": "I remember."}]

    failed = stack.finished(stack.submit("And now?", session_id)["turn_id"])
    rows = stack.messages(session_id)
    rebuilt = stack.client.post(f"/sessions/{session_id}/rebuild")
    again = stack.client.post(f"/turns/{failed['id']}/retry").json()

    assert failed["status"] == "failed" and "Rebuild" in failed["error"]["detail"]
    assert rows[: len(seen)] == seen
    assert rows[-1]["content_type"] == "error" and rows[-1]["metadata"] == {"offer": "rebuild"}
    assert rebuilt.status_code == 200, rebuilt.text
    assert stack.finished(again["id"])["status"] == "succeeded"
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "assistant") == ["Found it.", "I remember."]
    sent = [message["role"] for message in model.messages[-1]]
    assert sent == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert integrity(stack, session_id)[0] == 0


def test_an_unreadable_state_is_said_in_a_sentence(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    stack.query_and_commit(SPOILS["snapshot"].format(session_id))

    problem = check_problem(stack.client.get(f"/sessions/{session_id}/state"), 409)

    assert "Rebuild" in problem["detail"]


def test_a_session_at_work_is_not_rebuilt(stack: Stack, model: ScriptedModel) -> None:
    model.steps = [ENDLESS]
    turn = stack.submit("Tell me.")

    problem = check_problem(stack.client.post(f"/sessions/{turn['session_id']}/rebuild"), 409)

    assert problem["title"] == "Session busy"
    stack.client.post(f"/turns/{turn['turn_id']}/stop")
    stack.finished(turn["turn_id"])


def test_integrity_finds_nothing_in_a_sound_session(stack: Stack, model: ScriptedModel) -> None:
    status, said = integrity(stack, talk(stack, model))

    assert status == 0
    assert said == "1 session checked, 0 with something wrong\n"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (SPOILS["snapshot"], "its agent state cannot be read"),
        (
            "DELETE FROM agent_state_deltas WHERE conversation_id = '{0}' AND version = 3",
            "the versions of its agent state have a gap",
        ),
        (
            "UPDATE agent_state_deltas SET delta = '{{}}'"
            " WHERE conversation_id = '{0}' AND version = 3",
            "its agent state has calls without results",
        ),
        (
            "UPDATE display_messages SET status = 'executing'"
            " WHERE conversation_id = '{0}' AND content_type = 'tool_call'",
            "1 messages look as if they still ran",
        ),
        (
            "UPDATE agent_state_deltas"
            " SET delta = jsonb_set(delta, '{{append,0,content}}', '\"x\"')"
            " WHERE conversation_id = '{0}' AND version = 3",
            "1 messages that the model reads were never shown",
        ),
        (
            "DELETE FROM search_entries WHERE conversation_id = '{0}' AND position = 1",
            "the search does not know 1 messages",
        ),
    ],
)
def test_integrity_finds_what_is_wrong_and_repairs_it(
    stack: Stack, model: ScriptedModel, spoil: str, said: str
) -> None:
    session_id = talk(stack, model)
    stack.query_and_commit(spoil.format(session_id))

    found = integrity(stack, session_id)
    repaired = integrity(stack, session_id, "--repair")

    assert found[0] == 1 and said in found[1] and "proposed: " in found[1]
    assert repaired[0] == 0 and "done: " in repaired[1]
    assert integrity(stack, session_id) == (0, "1 session checked, 0 with something wrong\n")
    check_views(stack, session_id)


def test_integrity_says_what_it_cannot_repair(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    stack.query_and_commit(
        f"DELETE FROM display_messages WHERE conversation_id = '{session_id}' AND position = 2"
    )

    status, said = integrity(stack, session_id, "--repair")

    assert status == 1
    assert "have a gap; proposed: restore this conversation from a backup" in said


def test_integrity_names_a_message_that_cannot_be_read(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    stack.query_and_commit(
        f"UPDATE display_messages SET status = 'canary' WHERE conversation_id = '{session_id}'"
        " AND position = (SELECT max(position) FROM display_messages"
        f" WHERE conversation_id = '{session_id}')"
    )

    status, said = integrity(stack, session_id)

    assert status == 1
    assert "a message of it cannot be read (status)" in said
    assert "canary" not in said

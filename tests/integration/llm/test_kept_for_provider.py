"""What a provider wants back goes with the conversation wherever that goes, and can be seen."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.conversations.test_inspection_calls import check_all
from tests.integration.scenes import check_views, make_session, tool_domain
from tests.recorded_answers import ANSWERS
from tests.recordings import step
from tests.stack import Stack

TOOLS = ("get_budget", "list_sources")


def talk(stack: Stack, model: ScriptedModel, domain: JSON, name: str) -> tuple[str, str]:
    """A session with a recorded answer and one question more; give it, and its first turn."""
    steps = [step(name)]
    model.steps = lambda *_: steps.pop() if steps else {"text": "Done."}
    session_id = make_session(stack, domain["name"])
    first = stack.chat("go", session_id)["turn_id"]
    stack.chat("and then?", session_id)
    return session_id, first


def answer_in(messages: list[JSON]) -> JSON:
    """The first answer that a request gives back."""
    return next(message for message in messages if message["role"] == "assistant")


@pytest.mark.parametrize(
    "name", ["openrouter_claude_calls", "gemini_calls", "databricks_calls", "minimax_calls"]
)
def test_it_is_stored_sent_and_shown(stack: Stack, model: ScriptedModel, name: str) -> None:
    with tool_domain(stack, lambda *_: "ok", *TOOLS) as (domain, _):
        session_id, _ = talk(stack, model, domain, name)
        requests = list(model.requests)

        check_all(stack, session_id, requests)

        sent = [answer_in(messages) for messages in model.messages[1:]]
        assert sent[0] == sent[1]
        returned = {**ANSWERS[name].back}
        if ANSWERS[name].content:
            returned["content"] = ANSWERS[name].content
        assert {field: sent[0][field] for field in returned} == returned
        for place, fields in ANSWERS[name].back_calls.items():
            assert fields.items() <= sent[0]["tool_calls"][place].items()
        page = stack.client.get(f"/sessions/{session_id}/inspection").json()
        read = [pair["reads"] for pair in page["items"] if pair["reads"]]
        given = next(message["returned"] for message in read if message["returned"])
        kept = stack.state(session_id)["messages"][1]["additional_kwargs"]["kept"]
        assert given.get("calls") == kept.get("calls")
        assert given.get("message", {}).keys() >= kept.get("message", {}).keys()
        assert not any(
            "edited" in row["context_status"] for pair in page["items"] for row in pair["shown"]
        )


def test_it_goes_with_a_copy_a_branch_and_a_state_that_is_rebuilt(
    stack: Stack, model: ScriptedModel
) -> None:
    wanted = ANSWERS["deepseek_calls"].back["reasoning_content"]
    with tool_domain(stack, lambda *_: "ok", *TOOLS) as (domain, _):
        session_id, _ = talk(stack, model, domain, "deepseek_calls")
        second = stack.client.get(f"/sessions/{session_id}/messages").json()["items"][-1]["turn_id"]
        edit = stack.client.post(f"/turns/{second}/edit", json={"message": "or then?"}).json()
        stack.finished(edit["id"])
        copy = stack.client.post(f"/sessions/{session_id}/continue", json={}).json()
        stack.chat("on", copy["id"])
        spoilt = "UPDATE agent_state_snapshots SET state_data = '\"gone\"'"
        stack.query_and_commit(f"{spoilt} WHERE conversation_id = '{session_id}'")
        rebuilt = stack.client.post(f"/sessions/{session_id}/rebuild")
        stack.chat("on", session_id)

    assert rebuilt.status_code == 200, rebuilt.text
    answers = [answer_in(messages) for messages in model.messages[1:]]
    assert len(answers) == 5
    assert [message["reasoning_content"] for message in answers] == [wanted] * 5


def test_sources_are_shown_and_not_sent(stack: Stack, model: ScriptedModel) -> None:
    with tool_domain(stack, lambda *_: "ok", *TOOLS) as (domain, _):
        session_id, _ = talk(stack, model, domain, "perplexity")

    rows, _ = check_views(stack, session_id)
    assert rows[1]["metadata"]["sources"] == ANSWERS["perplexity"].told["sources"]
    assert answer_in(model.messages[1]) == {"role": "assistant", "content": "Growth slowed[1][2]."}

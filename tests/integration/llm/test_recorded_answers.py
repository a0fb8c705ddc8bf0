"""Each recorded answer is understood, and its provider gets back what it wants, over real HTTP."""

import json
from collections.abc import Iterator

import pytest

from backend.agents.steps.events import ModelWaiting, TextDelta, ThinkingDelta
from backend.errors.models import ModelUnavailable
from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.recorded_answers import AGAIN, ANSWERS, FAILS
from tests.recordings import FOLDER, Expected, step
from tests.runs import asking, final_state, run
from tests.servers.tool import ToolServer, tool

DONE = {"text": "Done."}


@pytest.fixture(scope="module")
def tools() -> Iterator[ToolServer]:
    with ToolServer([tool("get_budget"), tool("list_sources")], lambda *_: "ok") as server:
        yield server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


def answering(endpoint: ScriptedModel, name: str) -> None:
    """Let the first request get the recorded answer, and all others a plain one."""
    endpoint.clear()
    steps = [step(name)]
    endpoint.steps = lambda *_: steps.pop() if steps else DONE


def stored(state: JSON) -> JSON:
    """The state as it is after it was stored: JSON whose keys have another order."""
    return json.loads(json.dumps(state, sort_keys=True))


def ids_of(message: JSON) -> list[str]:
    return [call["id"] for call in message.get("tool_calls", ())]


def expected_message(expected: Expected, message: JSON) -> JSON:
    """What has to be sent again of an answer; made-up ids are those of the state."""
    sent: JSON = {
        "role": "assistant",
        "content": expected.content or expected.text,
        **expected.back,
    }
    if expected.calls:
        sent["content"] = sent["content"] or None
        sent["tool_calls"] = [
            {
                "type": "function",
                "id": call_id,
                "function": call["function"],
                **expected.back_calls.get(place, {}),
            }
            for place, (call_id, call) in enumerate(
                zip(ids_of(message), message["tool_calls"], strict=True)
            )
        ]
    return sent


@pytest.mark.parametrize("name", ANSWERS)
def test_a_recorded_answer_is_understood_and_sent_back(
    endpoint: ScriptedModel, tools: ToolServer, name: str
) -> None:
    expected = ANSWERS[name]
    answering(endpoint, name)
    tools.calls.clear()

    events = run(endpoint.url, asking("go"), mcp_servers={"s": tools.template})
    state = stored(final_state(events))
    run(endpoint.url, asking("on", *state["messages"]), mcp_servers={"s": tools.template})

    answer = state["messages"][1]
    first = answer["id"]
    said = [e for e in events if isinstance(e, TextDelta | ThinkingDelta) and e.message_id == first]
    assert "".join(e.text for e in said if isinstance(e, TextDelta)) == expected.text
    assert "".join(e.text for e in said if isinstance(e, ThinkingDelta)) == expected.thinking
    assert (answer["content"] or "") == expected.text
    thinking = answer.get("additional_kwargs", {}).get("reasoning_content", "")
    assert thinking == expected.thinking
    made = answer.get("tool_calls", [])
    called = [(c["function"]["name"], json.loads(c["function"]["arguments"] or "{}")) for c in made]
    assert called == list(expected.calls)
    assert sorted(tools.calls, key=str) == sorted(expected.calls, key=str)
    assert len(set(ids_of(answer))) == len(expected.ids) == len(expected.calls)
    known = zip(ids_of(answer), expected.ids, strict=True)
    assert all(given == wanted for given, wanted in known if wanted is not None)
    assert used(answer) == expected.usage
    told = answer["response_metadata"]
    assert {k: told[k] for k in told if k not in ("finish_reason", "model_name")} == expected.told
    wanted = expected_message(expected, answer)
    asked_again = endpoint.messages[1:]
    assert asked_again
    for messages in asked_again:
        assert messages[1] == wanted


RETURNED = [name for name, expected in ANSWERS.items() if expected.back or expected.content]


@pytest.mark.parametrize("name", [*RETURNED, "gemini_calls"])
def test_another_provider_gets_nothing_of_what_is_kept(
    endpoint: ScriptedModel, tools: ToolServer, name: str
) -> None:
    answering(endpoint, name)
    events = run(endpoint.url, asking("go"), mcp_servers={"s": tools.template})
    state = stored(final_state(events))

    with ScriptedModel([DONE]) as other:
        run(other.url, asking("on", *state["messages"]), mcp_servers={"s": tools.template})

    message = other.messages[0][1]
    assert message["content"] == (ANSWERS[name].text or (None if ANSWERS[name].calls else ""))
    assert set(message) <= {"role", "content", "tool_calls"}
    for call in message.get("tool_calls", ()):
        assert set(call) == {"id", "type", "function"}


def test_a_model_of_another_maker_that_answers_instead_gets_nothing_either(
    endpoint: ScriptedModel, tools: ToolServer
) -> None:
    first = step("openrouter_claude_calls")
    fails = {"status": 400, "text": "no"}
    steps = {"anthropic/claude": [first, fails], "deepseek/v3": [DONE]}
    endpoint.clear()
    endpoint.steps = lambda _, body: steps[body["model"]].pop(0)

    run(
        endpoint.url,
        asking("go"),
        model="anthropic/claude",
        middleware=[{"model_fallback": {"models": ["deepseek/v3"]}}],
        mcp_servers={"s": tools.template},
    )

    own, other = endpoint.messages[1][1], endpoint.messages[2][1]
    assert own["reasoning_details"][0]["signature"] == "ErUBCkYIBxgC"
    assert set(other) == {"role", "content", "tool_calls"}


def used(answer: JSON) -> tuple[int, int, int, int]:
    usage = answer.get("usage_metadata") or {}
    read = usage.get("input_token_details", {}).get("cache_read", 0)
    thought = usage.get("output_token_details", {}).get("reasoning", 0)
    return usage.get("input_tokens", 0), usage.get("output_tokens", 0), read, thought


@pytest.mark.parametrize("name", AGAIN)
def test_a_recorded_slip_is_asked_for_again_and_nothing_is_run(
    endpoint: ScriptedModel, tools: ToolServer, name: str
) -> None:
    answering(endpoint, name)
    tools.calls.clear()

    events = run(endpoint.url, asking("go"), mcp_servers={"s": tools.template})

    assert [m["content"] for m in final_state(events)["messages"]] == ["go", "Done."]
    assert len(endpoint.requests) == 2
    assert tools.calls == []
    assert any(AGAIN[name] in e.reason for e in events if isinstance(e, ModelWaiting))


@pytest.mark.parametrize("name", FAILS)
def test_a_recorded_refusal_says_what_the_endpoint_says(endpoint: ScriptedModel, name: str) -> None:
    words, unwanted = FAILS[name]
    answering(endpoint, name)

    with pytest.raises(ModelUnavailable) as failure:
        run(endpoint.url, asking("go"))

    assert words in failure.value.detail
    assert unwanted not in failure.value.detail
    assert len(endpoint.requests) == 1


def test_each_recording_has_its_place_in_one_table() -> None:
    named = [*ANSWERS, *AGAIN, *FAILS]

    assert sorted(named) == sorted(path.stem for path in FOLDER.glob("*.txt"))
    assert len(named) == len(set(named)) >= 60

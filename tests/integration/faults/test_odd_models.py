"""Whatever a model does wrong: no half call runs, people read why, and the session goes on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_views, make_session, texts, tool_domain
from tests.integration.turns.events.following import read_kept
from tests.servers.tool import ToolServer
from tests.stack import Servers, Stack

SECRET = "sk-canary-secret-1234"
HALF = '{"to": "boss", "body": "I do NOT agr'
WHOLE = {"name": "send", "args": {"to": "boss"}}
GOOD = {"text": "Now it works."}
SOON = {"Retry-After": "0"}


def chunk(delta: JSON, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], 'model': 'm'})}\n\n"


def garbage(before: str, odd: bytes) -> JSON:
    """An answer whose stream goes wrong; raw bytes may not be text."""
    return {"raw": before.encode() + odd}


FIRST = chunk({"content": "half an"})
FAILS: dict[str, tuple[JSON, str]] = {
    "429": ({"status": 429}, "rate limit"),
    "429, come again": ({"status": 429, "headers": SOON}, "rate limit"),
    "429, tomorrow": ({"status": 429, "headers": {"Retry-After": "86400"}}, "rate limit"),
    "500": ({"status": 500, "text": SECRET}, "status 500"),
    "503": ({"status": 503}, "status 503"),
    "400": ({"status": 400, "text": f"bad {SECRET}"}, "refused the request"),
    "silent before": ({"wait": 30}, "silent"),
    "silent within": ({"text": "half an", "hang": 30}, "silent"),
    "silent within a call": ({"tools": [{"name": "send", "args": HALF}], "hang": 30}, "silent"),
    "disconnected": ({"text": "half an", "cut": True}, "broke off"),
    "disconnected in a call": ({"tools": [{"name": "send", "args": HALF}], "cut": True}, "broke"),
    "no finish": ({"text": "half an", "drop": True}, "broke off"),
    "no finish of a call": ({"tools": [{"name": "send", "args": HALF}], "drop": True}, "broke off"),
    "no finish of a whole call": ({"tools": [WHOLE], "drop": True}, "broke off"),
    "length": ({"tools": [{"name": "send", "args": HALF}], "finish": "length"}, "cut (length)"),
    "length of a whole call": ({"tools": [WHOLE], "finish": "length"}, "cut (length)"),
    "filter": ({"tools": [WHOLE], "finish": "content_filter"}, "cut (content_filter)"),
    "nameless": ({"tools": [{**WHOLE, "name": ""}]}, "without a name"),
    "an index that is none": ({"tools": [{**WHOLE, "index": {}}]}, "cannot be read"),
    "nothing": ({"raw": b""}, "broke off"),
    "only [DONE]": ({"raw": b"data: [DONE]\n\n"}, "broke off"),
    "no JSON": (garbage(FIRST, b"data: <html>\n\n"), "broke off"),
    "not UTF-8": (garbage(FIRST, b'data: {"choices": "\xff"}\n\n'), "broke off"),
    "error within": (garbage(FIRST, b'data: {"error": {"message": "busy"}}\n\n'), "busy"),
    "never legible": ({"tools": [{"name": "send", "args": HALF}]}, "3 times in a row"),
}
ONCE: dict[str, tuple[JSON, str]] = {
    "429": ({"status": 429}, "rate limit"),
    "429, come again": ({"status": 429, "headers": {"Retry-After": "1"}}, "rate limit"),
    "503": ({"status": 503}, "status 503"),
    "disconnected": ({"text": "half an", "cut": True}, "broke off"),
    "no finish of a call": ({"tools": [{"name": "send", "args": HALF}], "drop": True}, "broke off"),
    "empty": ({"text": ""}, "empty answer"),
    "a slip that the provider tells": (
        {"status": 400, "text": "see failed_generation", "code": "tool_use_failed"},
        "could not read",
    ),
    "[DONE] within a call": (
        {"raw": (chunk({"tool_calls": [{"index": 0, "id": "a", "function":
                 {"name": "send", "arguments": HALF}}]}) + "data: [DONE]\n\n").encode()},
        "broke off",
    ),
    "an index that changes": (
        {"raw": (chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "send"}}]})
                 + chunk({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]})
                 + chunk({}, "tool_calls")).encode()},
        "without a name",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def impatient(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A stack that waits for a silent model but a moment."""
    brief = {"MODEL_FIRST_TOKEN_SECONDS": "3", "MODEL_SILENCE_SECONDS": "3"}
    with make_stack(servers, model, tmp_path_factory.mktemp("impatient"), **brief) as running:
        yield running


@pytest.fixture(scope="module")
def sending(impatient: Stack) -> Iterator[tuple[str, ToolServer]]:
    """A domain with a tool that acts, and the server that counts what was done."""
    with tool_domain(impatient, lambda name, _: f"{name} is done", "send") as (domain, server):
        yield domain["name"], server


@pytest.fixture
def session(impatient: Stack, model: ScriptedModel, sending: tuple[str, ToolServer]) -> str:
    model.clear()
    sending[1].calls.clear()
    return make_session(impatient, sending[0])


def in_turn(*answers: JSON) -> Any:
    """A model that gives these answers, then a good one whenever it is asked."""
    left = list(answers)
    return lambda *_: left.pop(0) if left else GOOD


def check_goes_on(stack: Stack, model: ScriptedModel, session_id: str) -> list[JSON]:
    """The rows, after checking that both views agree and that a next message works."""
    rows, _ = check_views(stack, session_id)
    model.steps = [GOOD]
    assert stack.chat("go on", session_id)["response"] == GOOD["text"]
    assert check_views(stack, session_id)[0][: len(rows)] == rows
    return rows


def told(stack: Stack, session_id: str, turn_id: str) -> tuple[list[str], list[str]]:
    """What a viewer has got: the texts that were not taken back, and why others were."""
    said: dict[str, str] = {}
    reasons = []
    for event in read_kept(stack, session_id, turn_id, after="0"):
        data = event["data"]
        if event["event"] == "text_delta":
            said[data["message_id"]] = said.get(data["message_id"], "") + data["text"]
        elif event["event"] == "reset":
            said.pop(data["message_id"], None)
            reasons.append(data["reason"])
        elif event["event"] == "progress":
            reasons.append(data["reason"])
    return list(said.values()), reasons


@pytest.mark.chaos
@pytest.mark.parametrize("fault", FAILS)
def test_a_model_that_goes_on_failing_fails_the_turn_in_words(
    impatient: Stack,
    model: ScriptedModel,
    sending: tuple[str, ToolServer],
    session: str,
    fault: str,
) -> None:
    step, words = FAILS[fault]
    model.steps = lambda *_: step
    turn = impatient.submit("Try.", session)

    failed = impatient.finished(turn["turn_id"])

    assert failed["status"] == "failed"
    assert words in failed["error"]["detail"] and failed["error"]["title"]
    assert "Traceback" not in failed["error"]["detail"]
    assert "canary" not in json.dumps(failed)
    assert sending[1].calls == []
    rows, _ = check_views(impatient, session)
    errors = [row["content"] for row in rows if row["content_type"] == "error"]
    assert errors == [failed["error"]]
    assert told(impatient, session, turn["turn_id"])[0] == texts(rows, "assistant")
    model.steps = [GOOD]
    again = impatient.client.post(f"/turns/{turn['turn_id']}/retry").json()
    assert impatient.finished(again["id"])["status"] == "succeeded"
    assert model.messages[-1][-1]["role"] in ("user", "tool")
    assert [m["content"] for m in model.messages[-1] if m["role"] == "user"] == ["Try."]
    check_goes_on(impatient, model, session)


def test_an_answer_without_end_fails_the_turn_in_words(stack: Stack, model: ScriptedModel) -> None:
    """Apart from the impatient stack: the nine megabytes take their time."""
    endless = garbage(chunk({"content": "x" * 9_000_000}, "stop"), b"")
    model.steps = lambda *_: endless
    session_id = make_session(stack)
    turn = stack.submit("Try.", session_id)

    failed = stack.finished(turn["turn_id"])

    assert failed["status"] == "failed"
    assert "8000000 characters" in failed["error"]["detail"]
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "assistant") == told(stack, session_id, turn["turn_id"])[0]
    check_goes_on(stack, model, session_id)


@pytest.mark.parametrize("fault", ONCE)
def test_a_model_that_fails_once_is_asked_again_and_people_see_why(
    impatient: Stack,
    model: ScriptedModel,
    sending: tuple[str, ToolServer],
    session: str,
    fault: str,
) -> None:
    step, words = ONCE[fault]
    model.steps = in_turn(step)

    turn = impatient.chat("Try.", session)

    assert turn["response"] == GOOD["text"]
    assert impatient.turn(turn["turn_id"])["model_retries"] == 1
    assert sending[1].calls == []
    said, reasons = told(impatient, session, turn["turn_id"])
    assert said == [GOOD["text"]] == texts(check_views(impatient, session)[0], "assistant")
    assert any(words in reason for reason in reasons)
    check_goes_on(impatient, model, session)


def calls(*tools: JSON) -> JSON:
    return {"tools": [{**WHOLE, **tool} for tool in tools]}


ODD_CALLS: dict[str, tuple[JSON, list[int], str | None]] = {
    "one id twice": (calls({"id": "a", "args": {"n": 1}}, {"id": "a", "args": {"n": 2}}),
                     [1, 2], None),
    "no ids": (calls({"id": "", "args": {"n": 1}}, {"id": "", "args": {"n": 2}}), [1, 2], None),
    "one index twice": (calls({"index": 0, "args": {"n": 1}}, {"index": 0, "args": {"n": 2}}),
                        [1, 2], None),
    "indexes with a gap": (calls({"index": 7, "args": {"n": 1}}, {"index": -1, "args": {"n": 2}}),
                           [1, 2], None),
    "unknown tool": (calls({"name": "sned"}, {"args": {"n": 2}}), [2], "sned"),
    "one name twice": (calls({"args": '{"n": 1, "n": 3}'}, {"args": {"n": 2}}),
                       [2], "`n` is given more than once"),
    "a number too long": (calls({"args": '{"n": ' + "7" * 5000 + "}"}, {"args": {"n": 2}}),
                          [2], "5,000 digits"),
    "NaN": (calls({"args": '{"n": NaN}'}, {"args": {"n": 2}}), [2], "NaN"),
    "no object": (calls({"args": "[1]"}, {"args": {"n": 2}}), [2], "not an object"),
    "no JSON": (calls({"args": HALF}, {"args": {"n": 2}}), [2], "nothing was run"),
    "two objects": (calls({"args": '{"n": 1}{"n": 1}'}, {"args": {"n": 2}}), [2], "nothing was"),
    "too deep": (calls({"args": '{"n":' + "[" * 5000 + "]" * 5000 + "}"}, {"args": {"n": 2}}),
                 [2], "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("fault", ODD_CALLS)
def test_only_whole_calls_run_and_each_has_its_result(
    impatient: Stack,
    model: ScriptedModel,
    sending: tuple[str, ToolServer],
    session: str,
    fault: str,
) -> None:
    step, ran, words = ODD_CALLS[fault]
    model.steps = [step, step, GOOD]  # twice: ids may come again in a later step

    turn = impatient.chat("Try.", session)

    assert turn["response"] == GOOD["text"]
    assert sorted(arguments["n"] for _, arguments in sending[1].calls) == sorted(2 * ran)
    rows = check_goes_on(impatient, model, session)
    results = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    shown = [row for row in rows if row["content_type"] == "tool_call"]
    assert len(results) == len(shown) == 4
    assert sum(result["is_error"] for result in results) == 4 - 2 * len(ran)
    assert [row["status"] == "failed" for row in shown] == [r["is_error"] for r in results]
    assert words is None or all(words in r["content"] for r in results if r["is_error"])


def test_the_same_call_for_ever_is_ended_and_its_results_stay(
    impatient: Stack, model: ScriptedModel, sending: tuple[str, ToolServer], session: str
) -> None:
    model.steps = lambda *_: {"tools": [WHOLE]}

    failed = impatient.finished(impatient.submit("Try.", session)["turn_id"])

    assert (failed["status"], len(sending[1].calls)) == ("failed", 20)
    assert "send 20 times in a row" in failed["error"]["detail"]
    check_goes_on(impatient, model, session)


SAID: dict[str, tuple[JSON, str]] = {
    "empty": ({"text": ""}, "The model gave an empty answer."),
    "blank": ({"text": " \n"}, "The model gave an empty answer."),
    "only thinking": ({"think": "Hm."}, "The model gave an empty answer."),
    "refusal": ({"refusal": "I must not.", "finish": "stop"}, "I must not."),
    "refusal and filter": ({"refusal": "I must not.", "finish": "content_filter"}, "filter ended"),
    "length": ({"text": "as far as it", "finish": "length"}, "limit of length"),
    "a picture": (garbage(chunk({"images": [{"type": "image_url"}]}, "stop"), b""), "images"),
    "[DONE] alone": (garbage(chunk({"content": "All."}), b"data: [DONE]\n\n"), "All."),
    "no [DONE]": ({"text": "All.", "done": False}, "All."),
    "silent after the end": ({"text": "All.", "linger": 30}, "All."),
    "cut after the end": ({"text": "All.", "cut_late": True}, "All."),
    "a huge chunk": (garbage(chunk({"content": "x" * 5_000_000}, "stop"), b""), "x" * 5_000_000),
}


@pytest.mark.parametrize("fault", SAID)
def test_an_answer_that_is_odd_but_whole_is_shown_with_what_is_odd(
    impatient: Stack, model: ScriptedModel, session: str, fault: str
) -> None:
    step, words = SAID[fault]
    model.steps = lambda *_: step

    turn = impatient.chat("Try.", session)

    rows = check_goes_on(impatient, model, session)
    assert turn["status"] == "succeeded"
    assert any(words in row["content"].get("text", "") for row in rows[1:])

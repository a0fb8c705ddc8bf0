"""A model that is busy, silent or breaks off is asked again while that has sense, and visibly."""

import json
import time
from dataclasses import replace

import httpx2
import pytest

from backend.agents.steps.events import AnswerReset, ModelWaiting, TextDelta, ThinkingDelta
from backend.errors.models import IncompleteAnswer, ModelUnavailable
from backend.llm.refusals import seconds_to_wait
from tests.fakes import ScriptedModel
from tests.runs import GOOD, PATIENCE, asking, failing, final_state, run, steps

CUT = {"text": "half an", "cut": True}
FIRST = b'data: {"choices": [{"index": 0, "delta": {"content": "half an"}}]}\n\n'


def in_turn(*answers):
    left = list(answers)
    return lambda *_: left.pop(0)


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_busy_endpoint_is_asked_again_and_the_waiting_is_told(status):
    with ScriptedModel(in_turn({"status": status}, {"status": status}, GOOD)) as model:
        events = run(model.url, asking("go"))

    waits = of(events, ModelWaiting)
    assert final_state(events)["messages"][-1]["content"] == GOOD["text"]
    assert len(model.requests) == 3
    assert len(waits) == 2
    assert all(0 < wait.seconds < 1 and "Press Retry" not in wait.reason for wait in waits)
    assert of(events, AnswerReset) == []


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
def test_what_will_not_pass_is_not_asked_again(status):
    with ScriptedModel(lambda *_: {"status": status}) as model:
        events, _ = failing(model.url, ModelUnavailable)

    assert len(model.requests) == 1
    assert of(events, ModelWaiting) == []


def test_a_quota_that_is_used_up_is_no_rate_limit():
    used_up = {"status": 429, "code": "insufficient_quota"}
    with ScriptedModel(lambda *_: used_up) as model:
        _, error = failing(model.url, ModelUnavailable)

    assert "used up" in error.detail
    assert len(model.requests) == 1


def test_an_endpoint_that_stays_busy_ends_the_turn():
    with ScriptedModel(lambda *_: {"status": 503}) as model:
        events, error = failing(model.url, ModelUnavailable)

    assert len(model.requests) == PATIENCE.tries
    assert len(of(events, ModelWaiting)) == PATIENCE.tries - 1
    assert "status 503" in error.detail


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "1"},
        {"retry-after-ms": "1000"},
    ],
)
def test_the_wait_that_the_provider_asks_for_is_kept(headers):
    with ScriptedModel(in_turn({"status": 429, "headers": headers}, GOOD)) as model:
        events = run(model.url, asking("go"))

    first, second = model.started_at
    assert second - first >= 1
    assert of(events, ModelWaiting)[0].seconds >= 1


def test_the_wait_that_google_asks_for_within_its_error_is_kept():
    kinds = ("google.rpc.Help", "google.rpc.RetryInfo")
    help_, wait = ({"@type": f"type.googleapis.com/{kind}"} for kind in kinds)
    error = {"code": 429, "details": [help_, {**wait, "retryDelay": "1.25s"}]}
    busy = {
        "status": 429,
        "raw": json.dumps([{"error": error}]).encode(),
        "media_type": "application/json",
    }
    with ScriptedModel(in_turn(busy, GOOD)) as model:
        events = run(model.url, asking("go"))

    assert of(events, ModelWaiting)[0].seconds >= 1.25
    first, second = model.started_at
    assert second - first >= 1.25


def test_a_date_to_wait_for_is_measured_by_the_providers_own_clock():
    now, later = (f"Fri, 20 Nov 2020 10:00:0{second} GMT" for second in (0, 7))
    headers = {"date": now, "retry-after": later}

    assert seconds_to_wait(httpx2.Headers(headers)) == 7
    assert seconds_to_wait(httpx2.Headers({"retry-after": headers["retry-after"]})) is None


def test_a_wait_that_is_too_long_ends_the_turn_at_once():
    with ScriptedModel(lambda *_: {"status": 429, "headers": {"retry-after": "86400"}}) as model:
        events, _ = failing(model.url, ModelUnavailable)

    assert len(model.requests) == 1
    assert of(events, ModelWaiting) == []


@pytest.mark.parametrize("nonsense", ["soon", "-5", "nan", "inf", "Fri, 99 Nov", "\u00e9"])
def test_a_wait_that_makes_no_sense_is_not_heeded(nonsense):
    busy = {"status": 503, "headers": {"retry-after": nonsense.encode().decode("latin-1")}}
    told = json.dumps({"error": {"details": [{"retryDelay": nonsense}]}}).encode()
    within = {"status": 429, "raw": told, "media_type": "application/json"}
    with ScriptedModel(in_turn(busy, within, GOOD)) as model:
        events = run(model.url, asking("go"))

    assert all(wait.seconds < 1 for wait in of(events, ModelWaiting))


@pytest.mark.parametrize(
    "broken",
    [
        CUT,
        {"text": "half an", "drop": True},
        {"text": "half an", "hang": 30},
        {"think": "half a thought", "cut": True},
        {"text": "half an", "finish": "error"},
        {"raw": FIRST + b'data: {"er'},
        {"raw": FIRST + b"data: \xff\n\n"},
    ],
)
def test_an_answer_that_broke_off_is_dropped_and_asked_for_again(broken):
    patience = replace(PATIENCE, silence_seconds=2)
    with ScriptedModel(in_turn(broken, GOOD)) as model:
        events = run(model.url, asking("go"), patience=patience)

    (reset,) = of(events, AnswerReset)
    (step,) = steps(events)
    before = events[: events.index(reset)]
    after = events[events.index(reset) :]
    assert {e.message_id for e in of(before, TextDelta | ThinkingDelta)} == {reset.message_id}
    assert "".join(e.text for e in of(after, TextDelta)) == GOOD["text"]
    assert step.messages[0]["content"] == GOOD["text"]
    assert step.messages[0]["id"] != reset.message_id
    assert reset.reason
    assert len(of(events, ModelWaiting)) == 1


def test_answers_that_always_break_off_end_the_turn():
    with ScriptedModel(lambda *_: CUT) as model:
        events, _ = failing(model.url, IncompleteAnswer)

    assert len(model.requests) == PATIENCE.resets + 1
    assert len(of(events, AnswerReset)) == PATIENCE.resets
    assert steps(events) == []


def test_a_model_that_never_begins_is_given_up():
    began = time.monotonic()
    with ScriptedModel(lambda *_: {"wait": 30}) as model:
        _, error = failing(
            model.url, ModelUnavailable, patience=replace(PATIENCE, first_token_seconds=0.3)
        )

    assert "silent" in error.detail
    assert len(model.requests) == 2
    assert time.monotonic() - began < 25


def test_words_without_end_are_ended_by_the_time_for_all():
    patience = replace(PATIENCE, answer_seconds=1)
    began = time.monotonic()
    with ScriptedModel(lambda *_: {"text": "word " * 1000, "delay": 0.02}) as model:
        failing(model.url, ModelUnavailable, patience=patience)

    assert len(model.requests) == 1
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("ending", [{"done": False}, {"linger": 30}, {"cut_late": True}])
def test_an_answer_is_whole_with_its_finish_reason_whatever_comes_after(ending):
    with ScriptedModel([{**GOOD, **ending}]) as model:
        events = run(model.url, asking("go"))

    assert final_state(events)["messages"][-1]["content"] == GOOD["text"]
    assert len(model.requests) == 1


def test_an_empty_answer_is_asked_for_once_more():
    with ScriptedModel(in_turn({"text": ""}, GOOD)) as model:
        events = run(model.url, asking("go"))

    (step,) = steps(events)
    assert step.messages[0]["content"] == GOOD["text"]
    assert "empty" in of(events, ModelWaiting)[0].reason
    assert step.usage.output_tokens == 1 + 4


def test_what_a_broken_answer_said_it_used_is_counted():
    chunk = {
        "choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": None}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }
    with ScriptedModel(in_turn({"raw": f"data: {json.dumps(chunk)}\n\n"}, GOOD)) as model:
        events = run(model.url, asking("go"))

    (step,) = steps(events)
    assert step.messages[0]["content"] == GOOD["text"]
    assert step.usage.input_tokens >= 1_000
    assert step.usage.output_tokens == 100 + 4


def test_thinking_without_a_word_is_an_empty_answer_too():
    with ScriptedModel(lambda *_: {"think": "hm", "text": " "}) as model:
        events = run(model.url, asking("go"))

    (step,) = steps(events)
    assert len(model.requests) == 2
    assert len(of(events, AnswerReset)) == 1
    assert step.messages[0]["content"] == " "


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_text_that_ran_into_a_limit_stays_and_says_so(finish):
    with ScriptedModel([{"text": "as far as it", "finish": finish}]) as model:
        (step,) = steps(run(model.url, asking("go")))

    assert step.messages[0]["content"] == "as far as it"
    assert step.messages[0]["response_metadata"]["finish_reason"] == finish
    assert len(model.requests) == 1

"""What spans of calls say of how these ended: only what failed is marked as failed."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors.base import ConfigurationError
from backend.errors.models import ModelUnavailable
from backend.errors.turns import LeaseLost
from backend.telemetry import tracing
from backend.telemetry.calls import CallResult, ToolKind, model_call, tool_call
from backend.telemetry.figures import WorkFigures
from backend.telemetry.origins import origin, trace_of
from backend.turns.run.traced import traced_attempt
from tests.servers.collector import Collector, Seen

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
WORK = WorkFigures()


class Waits(Exception):
    """What a tool raises whose call waits for people."""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as running:
        monkeypatch.setenv(ENDPOINT, running.url)
        tracing.start("worker", "one")
        yield running
        tracing.close()


def sent(collector: Collector) -> list[Seen]:
    tracing.close()
    return collector.spans


def call_of(tool: str, result: CallResult | None, error: BaseException | None = None) -> None:
    with tool_call(ToolKind(tool), "1", WORK) as call:
        call.result = result
        if error:
            raise error


def test_a_call_that_failed_or_timed_out_is_marked_and_one_that_was_stopped_or_waits_is_not(
    collector,
):
    call_of("found", None)
    call_of("wrong", CallResult.FAILED)
    call_of("slow", CallResult.TIMED_OUT)
    with pytest.raises(Waits):
        call_of("asks", CallResult.WAITS, Waits())
    with pytest.raises(asyncio.CancelledError):
        call_of("stopped", None, asyncio.CancelledError())
    with pytest.raises(ValueError, match="private"):
        call_of("raises", None, ValueError("private"))

    ended = {
        span.name.removeprefix("execute_tool "): (
            span.attributes["colloquy.call.result"],
            span.is_failed,
            span.attributes.get("error.type"),
        )
        for span in sent(collector)
    }
    assert ended == {
        "found": ("ok", False, None),
        "wrong": ("failed", True, "failed"),
        "slow": ("timed_out", True, "timed_out"),
        "asks": ("waits", False, None),
        "stopped": ("stopped", False, None),
        "raises": ("failed", True, "ValueError"),
    }
    assert b"private" not in b"".join(collector.bodies)


def test_a_model_that_is_not_available_is_named_by_the_kind_of_its_error(collector):
    with pytest.raises(ModelUnavailable), model_call("scripted", WORK):
        raise ModelUnavailable("private")

    (span,) = sent(collector)
    assert (span.name, span.is_failed) == ("chat scripted", True)
    assert span.attributes["error.type"] == "ModelUnavailable"
    assert b"private" not in b"".join(collector.bodies)


def test_work_that_begins_later_is_part_of_the_span_in_which_it_was_accepted(collector):
    with tracing.span("request", {}):
        kept = origin()
    with tracing.span("turn", {}, parent=trace_of(kept)):
        pass
    with tracing.span("another", {}, parent=trace_of(None)):
        pass

    request, turn, another = sent(collector)
    assert (turn.trace, turn.parent) == (request.trace, request.id)
    assert (another.trace == request.trace, another.parent) == (False, "")


def test_an_attempt_that_others_go_on_with_has_not_failed_and_one_without_lease_has(
    collector,
):
    turn = SimpleNamespace(agent="Sage", model=None)
    claim: Any = SimpleNamespace(
        turn=turn, conversation_id="s", turn_id="t", attempt=3, request={"id": "edge-1"}
    )

    for error in (Waits, LeaseLost):
        with pytest.raises(error), traced_attempt(claim, Waits):
            raise error

    spans = sent(collector)
    assert [span.attributes.get("error.type") for span in spans] == [None, "LeaseLost"]
    assert [span.is_failed for span in spans] == [False, True]
    assert {span.attributes["colloquy.request.id"] for span in spans} == {"edge-1"}


def test_a_process_is_named_as_the_variables_say(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "desk")
    tracing.start("worker", "one")
    with tracing.span("work", {}):
        pass

    assert [span.service for span in sent(collector)] == ["desk"]


@pytest.mark.parametrize(
    ("environment", "is_wanted"),
    [
        ({}, False),
        ({ENDPOINT: ""}, False),
        ({ENDPOINT: "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector/v1/traces"}, True),
        ({ENDPOINT: "http://collector:4318", "OTEL_SDK_DISABLED": "True"}, False),
        ({ENDPOINT: "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_SERVICE_NAME": "desk"}, False),
    ],
)
def test_traces_are_wanted_where_a_collector_is_named(environment, is_wanted):
    assert tracing.is_wanted(environment) is is_wanted


@pytest.mark.parametrize(
    "wrong",
    [
        {ENDPOINT: "collector:4317"},
        {"OTEL_TRACES_EXPORTER": "console"},
        {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"},
    ],
)
def test_what_is_not_supported_is_refused(wrong):
    with pytest.raises(ConfigurationError):
        tracing.is_wanted({ENDPOINT: "http://collector:4318", **wrong})

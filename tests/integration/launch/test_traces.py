"""Traces for OpenTelemetry: from a request to the calls of its turn, without what people write."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from backend.web.request_ids import HEADER
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import make_session, tool_domain
from tests.processes import free_port
from tests.servers.collector import Collector, Seen
from tests.stack import Servers, Stack

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "100"}
LATE = {"OTEL_BSP_SCHEDULE_DELAY": "3600000"}
SERVER, CLIENT, INTERNAL = 2, 3, 1


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as running:
        yield running


def tracing(collector: Collector, **more: str) -> dict[str, str]:
    """What an operator sets."""
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "LOG_FORMAT": "json", **more}


def one(stack: Stack, collector: Collector, name: str) -> Seen:
    """The only span of this name, once it is there."""
    (found,) = stack.wait_for(lambda: collector.named(name), f"there is no span {name}")
    return found


def test_a_request_its_turn_and_its_calls_are_one_trace_without_what_people_write(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    model.steps = [
        {"text": "answer-77", "tools": [{"name": "look", "args": {"at": "argument-77"}}]},
        {"text": "answer-78"},
    ]
    settings = tracing(collector, OTEL_EXPORTER_OTLP_HEADERS="key=secret-of-collector", **SOON)
    with make_stack(servers, model, tmp_path, **settings) as stack:
        with tool_domain(stack, lambda *_: "result-77", "look") as (domain, _):
            session = make_session(stack, domain["name"])
            asked = stack.submit("prompt-77", session, **TRACEPARENT, **{HEADER: "edge-30"})
            turn = stack.finished(asked["turn_id"])
        stack.client.get("/sessions", params={"q": "searched-77"})
        invoked = one(stack, collector, "invoke_agent")
        stack.wait_for(lambda: len(collector.named("chat ")) == 2, "no two calls of models")
        called = one(stack, collector, "execute_tool")
        request = one(stack, collector, "POST /sessions/{session_id}/chat")
        one(stack, collector, "GET /sessions")

    records = [json.loads(line) for line in Path(stack.log).read_text().splitlines() if "{" in line]
    (accepted,) = (one for one in records if one["message"] == "turn accepted")
    assert (accepted["trace"], accepted["request"]) == (TRACE, "edge-30")
    assert (request.trace, request.parent) == (TRACE, CALLER)
    assert (invoked.trace, invoked.parent) == (TRACE, request.id)
    for part in (*collector.named("chat "), called):
        assert (part.trace, part.parent) == (TRACE, invoked.id)
    assert (request.service, request.kind) == ("colloquy-api", SERVER)
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "/sessions/{session_id}/chat",
        "http.response.status_code": 202,
        "colloquy.request.id": "edge-30",
    }
    assert (invoked.service, invoked.kind) == ("colloquy-worker", INTERNAL)
    usage = turn["usage"]
    assert invoked.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": turn["agent"],
        "gen_ai.conversation.id": session,
        "gen_ai.usage.input_tokens": usage["input_tokens"],
        "gen_ai.usage.output_tokens": usage["output_tokens"],
        "gen_ai.usage.cache_read.input_tokens": usage["cached_tokens"],
        "gen_ai.usage.reasoning.output_tokens": usage["reasoning_tokens"],
        "colloquy.turn.id": turn["id"],
        "colloquy.turn.attempt": 1,
        "colloquy.turn.status": "succeeded",
        "colloquy.request.id": "edge-30",
    }
    chats = [span.attributes for span in collector.named("chat ")]
    assert {span.kind for span in collector.named("chat ")} == {CLIENT}
    assert {span["gen_ai.request.model"] for span in chats} == {"scripted"}
    assert (
        sum(int(str(span["gen_ai.usage.output_tokens"])) for span in chats)
        == (usage["output_tokens"])
    )
    assert called.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "extension",
        "gen_ai.tool.call.id": called.attributes["gen_ai.tool.call.id"],
        "colloquy.tool.server": "tools",
        "colloquy.call.result": "ok",
    }
    sent = b"".join(collector.bodies)
    for written in (b"-77", b"-78", b"secret-of-collector"):
        assert written not in sent
    assert {head["path"] for head in collector.headers} == {"/v1/traces"}
    assert collector.headers[0]["key"] == "secret-of-collector"


def test_a_trace_goes_on_from_a_proxy_through_the_pages(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    with make_stack(servers, model, tmp_path, **tracing(collector, **SOON)) as stack:
        pages = stack.start_ui()

        httpx.get(f"{pages}/colloquy/api/sessions", headers=TRACEPARENT).raise_for_status()

        request = one(stack, collector, "GET /sessions")
    assert (request.trace, request.parent) == (TRACE, CALLER)


def test_a_failed_turn_and_the_tasks_of_a_plan_belong_to_the_trace_of_their_request(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    with make_stack(servers, model, tmp_path, **tracing(collector, **SOON)) as stack:
        team = Team(stack, model, lambda _: {"status": 400, "text": "private-77"})
        team.calls = [plan(task("t1"))]
        asked = stack.submit("go", make_session(stack, team.domain), **TRACEPARENT)
        stack.finished(asked["turn_id"])
        # The manager's turn until it waits and again to its end, and each try of the task.
        turns = {"waiting", "failed", "succeeded"}
        stack.wait_for(lambda: statuses(collector) == turns, "not all are traced")
        spans = collector.named("invoke_agent")

    assert {span.trace for span in spans} == {TRACE}
    failed = [span for span in spans if span.is_failed]
    assert {span.attributes["error.type"] for span in failed} == {"Model unavailable"}
    assert {span.attributes["colloquy.turn.status"] for span in failed} == {"failed"}
    assert b"private-77" not in b"".join(collector.bodies)


def statuses(collector: Collector) -> set[object]:
    spans = collector.named("invoke_agent")
    return {span.attributes["colloquy.turn.status"] for span in spans}


def test_what_is_left_is_sent_when_a_worker_and_the_api_end(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    with make_stack(servers, model, tmp_path, **tracing(collector, **LATE)) as stack:
        stack.chat("hello")
        assert collector.bodies == []

        stack.workers[0].terminate()
        assert stack.workers[0].wait(timeout=30) == 0
        assert len(collector.named("invoke_agent")) == 1
        assert stack.api
        stack.api.terminate()
        stack.api.wait(timeout=30)

    assert len(collector.named("POST /chat")) == 1


def test_a_collector_that_hangs_keeps_neither_turns_nor_the_end_of_a_worker(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    collector.answers.clear()
    with make_stack(servers, model, tmp_path, **tracing(collector, **SOON)) as stack:
        stack.chat("hello")
        stack.wait_for(lambda: collector.bodies, "nothing is sent")
        assert stack.chat("and again")["status"] == "succeeded"

        stack.workers[0].terminate()

        assert stack.workers[0].wait(timeout=30) == 0


def test_a_collector_that_is_away_is_one_line_of_each_process(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": nobody, "OTEL_EXPORTER_OTLP_TIMEOUT": "1", **SOON}
    settings = tracing(collector, **away)
    with make_stack(servers, model, tmp_path, **settings) as stack:
        for _ in range(3):
            stack.chat("hello")
        said = stack.wait_for(lambda: len(found := lost(stack)) == 2 and found, "not two lines")
        stack.chat("hello")
        stack.restart_worker()

        assert {record["process"] for record in said} == {"api", "worker"}
        # The new worker, and once more the one before, at most.
        assert len(lost(stack)) <= 3


def lost(stack: Stack) -> list[dict[str, str]]:
    lines = Path(stack.log).read_text().splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]
    assert not [one for one in records if one["logger"].startswith("opentelemetry")]
    return [one for one in records if one.get("away") == "collector"]


def test_switched_off_nothing_is_sent(
    servers: Servers, model: ScriptedModel, tmp_path: Path, collector: Collector
) -> None:
    settings = tracing(collector, OTEL_SDK_DISABLED="true", **SOON)
    with make_stack(servers, model, tmp_path, **settings) as stack:
        stack.chat("hello")
        stack.workers[0].terminate()
        assert stack.workers[0].wait(timeout=30) == 0
        (request,) = stack.query("SELECT request FROM turns")

    assert collector.bodies == []
    assert request[0].keys() == {"id"}


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}, "must be an address like http://"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "must be http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "must be otlp or none"),
    ],
)
def test_what_cannot_be_done_is_refused_at_the_start(
    servers: Servers,
    model: ScriptedModel,
    tmp_path: Path,
    collector: Collector,
    setting: dict[str, str],
    complaint: str,
) -> None:
    stack = make_stack(servers, model, tmp_path, **tracing(collector, **setting))

    for part in ("worker", "backend.api"):
        ended, said = stack.run("-m", part)
        assert ended == 2
        assert complaint in said
    stack.__exit__()

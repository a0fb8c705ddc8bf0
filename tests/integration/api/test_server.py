"""The server about itself: alive, ready, measured, documented."""

import os
import re
import signal
import time
from uuid import uuid4

import httpx

from backend.bootstrap import REDIS_ASKING_SECONDS
from backend.schemas.bounds import MOST_ENTRIES
from backend.schemas.conversations.sessions import (
    MAX_KEY_CHARS,
    MAX_MESSAGE_CHARS,
    MAX_TITLE_CHARS,
)
from backend.version import VERSION
from tests.fakes import script
from tests.integration.scenes import make_domain, stop, wait_for_event
from tests.processes import ROOT
from tests.stack import Servers, Stack

OPERATIONS = ROOT / "docs" / "operations.md"
ENDED = ("succeeded", "failed", "stopped")


def scrape(stack: Stack) -> dict[str, float]:
    """The figures as Prometheus gets them."""
    answer = httpx.get(f"{stack.base_url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain"), answer.text
    lines = (line for line in answer.text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def timed(url: str) -> tuple[httpx.Response, float]:
    """The answer, and how many seconds it took."""
    begun = time.monotonic()
    answer = httpx.get(url, timeout=20)
    return answer, time.monotonic() - begun


def test_alive_and_ready_at_the_root(stack: Stack) -> None:
    alive = httpx.get(f"{stack.base_url}/healthz")
    ready = httpx.get(f"{stack.base_url}/readyz")

    assert alive.status_code == ready.status_code == 200
    assert ready.json() == dict.fromkeys(("api", "database", "redis", "worker"), "ok")
    assert stack.client.get("/healthz").status_code == 404


def test_a_redis_that_hangs_is_waited_for_once_and_not_for_long(
    own_stack: Stack, servers: Servers
) -> None:
    process = servers.newest_redis.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)
    try:
        ready, ready_seconds = timed(f"{own_stack.base_url}/readyz")
        server, server_seconds = timed(f"{own_stack.base_url}/api/v1/server")
        metrics, metrics_seconds = timed(f"{own_stack.base_url}/metrics")
    finally:
        os.kill(process.pid, signal.SIGCONT)

    assert max(ready_seconds, server_seconds, metrics_seconds) < 2 * REDIS_ASKING_SECONDS
    assert (ready.status_code, ready.headers["content-type"]) == (503, "application/json")
    assert ready.json()["database"] == "ok"
    assert "does not answer" in ready.json()["redis"]
    assert server.json()["missing"] == ["redis", "worker"]
    assert 'colloquy_up{part="redis"} 0.0' in metrics.text
    own_stack.wait_ready()


def test_metrics_count_unfinished_turns_and_workers(stack: Stack) -> None:
    turn = stack.submit(script({"text": "word " * 200, "delay": 0.05}))
    wait_for_event(stack, turn["session_id"], "text_delta")
    stack.submit("waiting", turn["session_id"])

    samples = scrape(stack)

    assert samples['colloquy_turns{status="running"}'] >= 1
    assert samples['colloquy_turns{status="queued"}'] >= 1
    assert samples["colloquy_workers"] == 1
    assert samples['colloquy_up{part="database"}'] == 1
    stack.client.delete(f"/sessions/{turn['session_id']}")


def test_metrics_tell_what_became_of_the_last_hour(own_stack: Stack) -> None:
    stack = own_stack
    stack.client.get(f"/sessions/{uuid4()}")
    stack.chat("well")
    failed = stack.submit(script({"status": 401, "text": "no such key"}))
    stack.finished(failed["turn_id"])
    stopped = stack.submit(script({"text": "word " * 400, "delay": 0.05}))
    wait_for_event(stack, stopped["session_id"], "text_delta")
    stop(stack, stopped["turn_id"])
    stack.finished(stopped["turn_id"])
    lost = stack.submit(script({"text": "word " * 80, "delay": 0.05}))
    wait_for_event(stack, lost["session_id"], "text_delta")
    stack.kill_workers()
    silent = scrape(stack)
    stack.start_worker()
    stack.finished(lost["turn_id"])
    stack.wait_ready()

    samples = scrape(stack)

    assert silent["colloquy_longest_silence_seconds"] > 0
    ended = {status: samples[f'colloquy_hour_turns{{status="{status}"}}'] for status in ENDED}
    assert ended == {"succeeded": 2, "failed": 1, "stopped": 1}
    assert samples['colloquy_hour_failures{reason="Model unavailable"}'] == 1
    assert samples["colloquy_hour_lost_workers"] == 1
    assert samples["colloquy_hour_attempts"] == 5
    assert samples['colloquy_hour_recovery_seconds{quantile="0.5"}'] > 0
    assert samples['colloquy_hour_stop_seconds{quantile="1"}'] > 0
    assert samples['colloquy_problems_total{status="404"}'] == 1
    assert samples["colloquy_overdue_leases"] == samples["colloquy_hour_unknown_outcomes"] == 0
    for process in ("api", "worker"):
        assert samples[f'colloquy_events_dropped_total{{process="{process}"}}'] == 0


def test_series_do_not_grow_with_restarts(own_stack: Stack) -> None:
    def series() -> set[str]:
        # Of each route that is asked.
        return {name for name in scrape(own_stack) if not name.startswith("colloquy_http_")}

    own_stack.chat("well")
    before = series()
    for _ in range(2):
        own_stack.restart_worker()
        own_stack.chat("well")

    assert series() == before


def test_every_figure_that_operators_are_told_of_is_there(stack: Stack) -> None:
    of_api, _, _ = OPERATIONS.read_text().partition("**Figures of each worker.**")
    told = re.findall(r"`(colloquy_\w+)[{`]", of_api)

    stack.chat(script({"text": "Counted."}))
    figures = {name.partition("{")[0] for name in scrape(stack)}
    own = {name for name in figures if name.startswith("colloquy_")}
    names = {re.sub("seconds_(bucket|count|sum|created)$", "seconds", name) for name in own}

    # Without a failure of the last hour there is no reason to name, nor a problem to count.
    absent = {"colloquy_hour_failures", "colloquy_problems_total"}
    assert set(told) - absent <= names
    assert names - set(told) - absent == set()


def test_server_says_who_asks_and_what_answers(stack: Stack) -> None:
    server = stack.client.get("/server").json()

    assert (server["version"], server["user"]) == (VERSION, "local")
    assert server["ready"] is True
    assert (server["model"], server["is_demo_model"], server["workers"]) == ("scripted", False, 1)


def test_every_route_of_the_contract_is_documented(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()

    documented = {
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    }
    session, turn, domain = "{session_id}", "{turn_id}", "{domain_id}"
    routes = {
        ("POST", "/chat"), ("GET", "/sessions"), ("POST", "/sessions"),
        ("GET", f"/sessions/{session}"), ("PATCH", f"/sessions/{session}"),
        ("DELETE", f"/sessions/{session}"), ("POST", f"/sessions/{session}/chat"),
        ("GET", f"/sessions/{session}/messages"), ("GET", f"/sessions/{session}/state"),
        ("GET", f"/sessions/{session}/image"), ("GET", f"/sessions/{session}/events"),
        ("POST", f"/sessions/{session}/stop"), ("GET", f"/turns/{turn}"),
        ("POST", f"/turns/{turn}/stop"), ("POST", f"/turns/{turn}/retry"),
        ("GET", "/domains"), ("POST", "/domains"), ("GET", f"/domains/{domain}"),
        ("PATCH", f"/domains/{domain}"), ("DELETE", f"/domains/{domain}"),
    }  # fmt: skip
    assert {(method, f"/api/v1{path}") for method, path in routes} <= documented
    assert {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics")} <= documented


def test_documented_are_the_bounds_of_integers_in_terms_of_json_schema(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()

    def bounds(path: str, name: str) -> dict[str, int]:
        parameters = document["paths"][f"/api/v1{path}"]["get"]["parameters"]
        (schema,) = (each["schema"] for each in parameters if each["name"] == name)
        (integer,) = (s for s in (schema, *schema.get("anyOf", ())) if s.get("type") == "integer")
        return {key: value for key, value in integer.items() if type(value) is int}

    version = "/domains/{domain_id}/versions/{version}"
    assert bounds("/agents", "limit") == {"minimum": 1, "maximum": 200, "default": 50}
    assert bounds("/domains/{domain_id}/versions", "before")["exclusiveMaximum"] == 2**31
    assert bounds(version, "version") == {"minimum": 1, "exclusiveMaximum": 2**31}


def test_documented_is_what_a_change_of_a_domain_may_unset(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()
    fields = document["components"]["schemas"]["DomainChange"]["properties"]
    domain = f"/domains/{make_domain(stack)['id']}"

    may_be_null = {
        name for name, field in fields.items() if {"type": "null"} in field.get("anyOf", ())
    }

    taken = {name for name in fields if stack.client.patch(domain, json={name: None}).is_success}
    assert may_be_null == taken == {"model", "tools", "manager", "retention_days", "version"}
    assert not any("default" in field for field in fields.values())


def test_documented_are_the_bounds_of_texts_entries_and_waits(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()
    schemas = document["components"]["schemas"]
    for path in ("/chat", "/turns/{turn_id}/retry", "/sessions/{session_id}/continue"):
        parameters = document["paths"][f"/api/v1{path}"]["post"]["parameters"]
        headers = {each["name"]: each for each in parameters}
        key = headers["idempotency-key"]["schema"]["anyOf"][0]
        assert key == {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS}
        assert path != "/chat" or "600" in headers["prefer"]["description"]
    assert schemas["SessionChange"]["properties"]["title"]["maxLength"] == MAX_TITLE_CHARS
    message = schemas["ChatRequest"]["properties"]["message"]
    assert (message["minLength"], message["maxLength"]) == (1, MAX_MESSAGE_CHARS)
    servers = schemas["DomainTemplate"]["properties"]["mcp_servers"]
    assert (servers["maxProperties"], "maxItems" in servers) == (MOST_ENTRIES, False)
    assert schemas["DomainTemplate"]["properties"]["models"]["maxItems"] == MOST_ENTRIES


def test_documented_is_nothing_that_openapi_3_1_does_not_know(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()
    operations = [each for path in document["paths"].values() for each in path.values()]
    answers = [answer for each in operations for answer in each["responses"].values()]
    bodies = [each["requestBody"] for each in operations if "requestBody" in each]

    used = {
        name
        for part in (*answers, *bodies)
        for kind in part.get("content", {}).values()
        for name in kind
    }

    assert document["openapi"] == "3.1.0"
    assert {name for name in used if not name.startswith("x-")} <= {
        "schema", "example", "examples", "encoding",
    }  # fmt: skip


def test_documented_are_the_kinds_of_answers_that_are_given(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()
    unknown = f"/api/v1/sessions/{uuid4()}"

    def kinds(path: str, status: int) -> set[str]:
        return set(document["paths"][path]["get"]["responses"][str(status)]["content"])

    def given(path: str) -> str:
        return httpx.get(f"{stack.base_url}{path}").headers["content-type"].partition(";")[0]

    assert kinds("/metrics", 200) == {given("/metrics")} == {"text/plain"}
    assert kinds("/readyz", 200) == kinds("/readyz", 503) == {given("/readyz")}
    readiness = document["components"]["schemas"]["Readiness"]["properties"]
    assert set(readiness) == set(httpx.get(f"{stack.base_url}/readyz").json())
    results = kinds("/api/v1/sessions/{session_id}/results/{result_id}", 200)
    assert results >= {"application/json", "text/csv", "application/octet-stream", "image/png"}
    artifact = document["paths"]["/api/v1/artifacts/{artifact_id}/versions/{version}/download"]
    assert artifact["get"]["responses"]["200"]["content"]["application/json"]["schema"] == {}
    of_session = document["paths"]["/api/v1/sessions/{session_id}"]["get"]["responses"]
    assert (
        set(of_session["4XX"]["content"]) == set(of_session["503"]["content"]) == {given(unknown)}
    )


def test_times_usage_and_this_process_are_measured(stack: Stack) -> None:
    tokens = 'colloquy_tokens_total{kind="output",model="scripted"}'
    calls = 'colloquy_model_calls_total{model="scripted"}'
    stack.chat(script({"text": "Counted."}))
    before = scrape(stack)
    stack.chat(script({"text": "Counted once more."}))
    stack.client.get("/sessions/nowhere")
    httpx.get(f"{stack.base_url}/{uuid4().hex}")

    after = stack.wait_for(
        lambda: (now := scrape(stack))[calls] > before[calls] and now, "the turn is not counted"
    )

    assert after[tokens] > before[tokens]
    route = 'method="POST",route="/chat",status="2xx"'
    counted = f"colloquy_http_seconds_count{{{route}}}"
    assert after[counted] == before[counted] + 1
    assert after['colloquy_http_seconds_count{method="unknown",route="unknown",status="4xx"}']
    assert after['colloquy_database_connections{state="kept"}'] > 0
    assert after["colloquy_disk_free_bytes"] > 0
    assert after["process_resident_memory_bytes"] > 0
    assert after[f'colloquy_build_info{{version="{VERSION}"}}'] == 1

"""The server about itself: alive, ready, measured, documented."""

import httpx

from tests.fakes import script
from tests.integration.scenes import wait_for_event
from tests.stack import Stack


def test_alive_and_ready_at_the_root(stack: Stack) -> None:
    alive = httpx.get(f"{stack.base_url}/healthz")
    ready = httpx.get(f"{stack.base_url}/readyz")

    assert alive.status_code == ready.status_code == 200
    assert ready.json() == {"database": "ok", "redis": "ok", "worker": "ok"}
    assert stack.client.get("/healthz").status_code == 404


def test_metrics_count_unfinished_turns_and_workers(stack: Stack) -> None:
    turn = stack.submit(script({"text": "word " * 200, "delay": 0.05}))
    wait_for_event(stack, turn["session_id"], "text_delta")
    stack.submit("waiting", turn["session_id"])

    answer = httpx.get(f"{stack.base_url}/metrics")

    assert answer.headers["content-type"].startswith("text/plain"), answer.text
    samples = dict(
        line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
    )
    assert float(samples['colloquy_turns{status="running"}']) >= 1
    assert float(samples['colloquy_turns{status="queued"}']) >= 1
    assert float(samples["colloquy_workers"]) == 1
    assert float(samples['colloquy_up{part="database"}']) == 1
    stack.client.delete(f"/sessions/{turn['session_id']}")


def test_server_says_who_asks_and_what_answers(stack: Stack) -> None:
    server = stack.client.get("/server").json()

    assert server["user"] == "local"
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

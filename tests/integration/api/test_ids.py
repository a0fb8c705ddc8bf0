"""Ids behind prefixes, and a session's calls by the id of its image."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from backend.types import JSON
from tests.fakes import ENDLESS, script
from tests.integration.scenes import check_problem, make_domain
from tests.stack import Stack, read_events


@pytest.fixture
def talk(stack: Stack) -> Iterator[JSON]:
    """A session of a domain of its own, with an answer in it."""
    name = make_domain(stack)["name"]
    turn = stack.chat(script({"text": "Here."}), domain=name)
    yield stack.client.get(f"/sessions/{turn['session_id']}").json()


def test_either_form_of_an_id_is_accepted_wherever_one_is_named(stack: Stack, talk: JSON) -> None:
    ids = talk["prefixed_ids"]
    assert ids == {
        "session": f"sess_{talk['id']}",
        "image": f"img_{talk['image_id']}",
        "domain": f"domain_{talk['domain_id']}",
    }
    named = {"session_id": ids["session"]}
    get = stack.client.get

    for suffix in ("", "/messages", "/state", "/branches", "/image", "/usage", "/drift"):
        bare, prefixed = (get(f"/sessions/{one}{suffix}") for one in (talk["id"], ids["session"]))
        assert (bare.status_code, bare.json()) == (prefixed.status_code, prefixed.json()), suffix
        assert bare.status_code == 200
    assert get("/files", params=named).status_code == 200
    assert get("/search", params={"q": "Here", **named}).status_code == 200
    listed = get("/sessions", params={"domain": ids["domain"]}).json()["items"]
    assert [one["id"] for one in listed] == [talk["id"]]
    domain = get(f"/domains/{ids['domain']}").json()
    assert (domain["id"], domain["prefixed_id"]) == (talk["domain_id"], ids["domain"])
    again = {"message": script({"text": "Again."}), **named, "domain": ids["domain"]}
    assert stack.client.post("/chat", json=again).json()["session_id"] == talk["id"]
    made = stack.client.post("/sessions", json={"domain": ids["domain"]}).json()
    assert made["domain_id"] == talk["domain_id"]
    granted = {"resource_type": "domain", "resource_id": ids["domain"]}
    assert get("/grants", params=granted).json()["is_everyones"] is True
    sent = {"file": ("a.csv", b"a\n1\n")}
    assert stack.client.post("/files", files=sent, data=named).status_code == 201


def test_an_id_of_something_else_is_refused_with_a_sentence(stack: Stack, talk: JSON) -> None:
    ids = talk["prefixed_ids"]

    for path, said in (
        (f"/sessions/{ids['image']}", "this is the id of an image"),
        (f"/domains/{ids['session']}", "this is the id of a session; give that of a domain"),
        (f"/images/{ids['domain']}", "give that of an image"),
    ):
        detail = check_problem(stack.client.get(path), 422)["detail"]
        assert said in detail
    body = {"message": "Hello", "session_id": ids["image"]}
    check_problem(stack.client.post("/chat", json=body), 422)
    check_problem(stack.client.get("/sessions/sess_7"), 422)
    wrong = {"resource_type": "domain", "resource_id": ids["session"]}
    check_problem(stack.client.get("/grants", params=wrong), 422)
    check_problem(stack.client.get(f"/sessions/sess_{uuid4()}"), 404)


def test_a_session_is_used_by_its_image(stack: Stack, talk: JSON) -> None:
    for image in (talk["image_id"], talk["prefixed_ids"]["image"]):
        path = f"/images/{image}"

        answer = stack.client.post(f"{path}/chat", json={"message": script({"text": "And so."})})
        assert answer.json()["response"] == "And so."
        assert answer.json()["session_id"] == talk["id"]
        page = stack.client.get(f"{path}/messages", params={"limit": 2}).json()
        of_session = f"/sessions/{talk['id']}/messages"
        assert page == stack.client.get(of_session, params={"limit": 2}).json()
        shown = stack.client.get(path).json()
        assert (shown["id"], shown["session_id"]) == (talk["image_id"], talk["id"])
        assert shown["prefixed_ids"] == talk["prefixed_ids"]
        whole = stack.client.get(f"/sessions/{talk['id']}/image").json()
        assert shown["configuration"] == whole


def test_a_turn_is_followed_and_stopped_by_its_image(stack: Stack, talk: JSON) -> None:
    path = f"/images/{talk['prefixed_ids']['image']}"
    headers = {"Prefer": "respond-async", "Idempotency-Key": uuid4().hex}
    sent = {"json": {"message": script(ENDLESS)}, "headers": headers}
    turn = stack.client.post(f"{path}/chat", **sent).json()
    assert stack.client.post(f"{path}/chat", **sent).json()["turn_id"] == turn["turn_id"]

    with stack.client.stream("GET", f"{path}/events", timeout=30) as response:
        events = read_events(response.iter_lines())
        delta = next(one for one in events if one["event"] == "text_delta")
    stopped = stack.client.post(f"{path}/stop")

    context = delta["data"]["context"]
    assert (context["image_id"], context["turn_id"]) == (talk["image_id"], turn["turn_id"])
    assert stopped.json()["id"] == turn["turn_id"]
    assert stack.finished(turn["turn_id"])["status"] == "stopped"


def test_an_image_of_no_session_is_not_found(stack: Stack) -> None:
    for suffix in ("", "/messages", "/events"):
        check_problem(stack.client.get(f"/images/img_{uuid4()}{suffix}"), 404)
    check_problem(stack.client.post(f"/images/{uuid4()}/chat", json={"message": "Hello"}), 404)
    check_problem(stack.client.post(f"/images/{uuid4()}/stop"), 404)

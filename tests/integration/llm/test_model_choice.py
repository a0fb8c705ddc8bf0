"""A person chooses the model where the domain offers several; the turn keeps to it."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, make_domain
from tests.stack import Stack

OFFERED = ["swift", "thorough"]


@pytest.fixture
def domain(stack: Stack, model: ScriptedModel) -> str:
    model.steps = [{"text": "Done."}]
    return str(make_domain(stack, model="usual", models=OFFERED)["name"])


def asked(model: ScriptedModel) -> str:
    return str(model.requests[-1]["model"])


def figures(stack: Stack, answer: JSON) -> JSON:
    path = f"/sessions/{answer['session_id']}/usage/turns"
    (found,) = stack.client.get(path, params={"ids": answer["turn_id"]}).json()["items"]
    return found


def test_the_chosen_model_answers_and_stays_the_choice_of_its_session(
    stack: Stack, model: ScriptedModel, domain: str
) -> None:
    first = stack.chat("one", domain=domain)
    chosen = stack.chat("two", first["session_id"], model="swift")
    was_asked = asked(model)
    after = stack.chat("three", first["session_id"])

    session = stack.client.get(f"/sessions/{first['session_id']}").json()
    assert (was_asked, asked(model)) == ("swift", "swift")
    assert [stack.turn(one["turn_id"])["model"] for one in (first, chosen, after)] == [
        None,
        "swift",
        "swift",
    ]
    assert [figures(stack, one)["model"] for one in (first, chosen)] == ["usual", "swift"]
    assert (session["model"], session["models"], session["default_model"]) == (
        "swift",
        OFFERED,
        "usual",
    )

    stack.chat("four", first["session_id"], model="usual")

    assert asked(model) == "usual"
    assert stack.client.get(f"/sessions/{first['session_id']}").json()["model"] is None


def test_a_retry_keeps_to_its_turns_model_and_an_edit_to_the_last_choice_or_another(
    stack: Stack, model: ScriptedModel, domain: str
) -> None:
    first = stack.chat("one", domain=domain, model="thorough")
    stack.chat("two", first["session_id"], model="swift")

    again = stack.client.post(f"/turns/{first['turn_id']}/retry").json()
    retried = stack.finished(again["id"])
    body = {"message": "one more"}
    edited = stack.client.post(f"/turns/{again['id']}/edit", json=body).json()
    stack.finished(edited["id"])
    body = {"message": "yet one", "model": "usual"}
    other = stack.client.post(f"/turns/{edited['id']}/edit", json=body).json()
    stack.finished(other["id"])

    assert (retried["model"], edited["model"]) == ("thorough", "swift")
    assert [request["model"] for request in model.requests] == [
        *("thorough", "swift"),
        *("thorough", "swift", "usual"),
    ]


def test_a_model_that_is_not_offered_is_refused_with_those_that_are(
    stack: Stack, domain: str
) -> None:
    before = stack.query("SELECT count(*) AS turns FROM turns")

    body = {"message": "one", "domain": domain, "model": "gpt-4o"}
    refused = check_problem(stack.client.post("/chat", json=body), 422)

    assert "usual, swift, thorough" in refused["detail"]
    assert stack.query("SELECT count(*) AS turns FROM turns") == before


def test_a_domain_without_a_choice_has_its_one_model(stack: Stack, model: ScriptedModel) -> None:
    model.steps = [{"text": "Done."}]
    domain = make_domain(stack)["name"]

    plain = stack.chat("one", domain=domain)
    named = stack.chat("two", plain["session_id"], model="scripted")
    body = {"message": "three", "model": "swift"}
    refused = stack.client.post(f"/sessions/{plain['session_id']}/chat", json=body)

    assert "The models are scripted." in check_problem(refused, 422)["detail"]
    assert [stack.turn(one["turn_id"])["model"] for one in (plain, named)] == [None, None]
    assert {request["model"] for request in model.requests} == {"scripted"}


def test_the_same_key_with_another_model_is_another_body(stack: Stack, domain: str) -> None:
    headers = {"Idempotency-Key": f"choice-{domain}"}
    body = {"message": "one", "domain": domain, "model": "swift"}

    first = stack.client.post("/chat", json=body, headers=headers)
    same = stack.client.post("/chat", json=body, headers=headers)
    other = stack.client.post("/chat", json={**body, "model": "usual"}, headers=headers)

    assert first.json()["turn_id"] == same.json()["turn_id"]
    check_problem(other, 422)


def test_models_without_a_name_are_refused(stack: Stack) -> None:
    body = {"name": "nameless", "models": ["a", " "]}

    assert "models.1" in str(check_problem(stack.client.post("/domains", json=body), 422))

"""What tests of branches do with a session, and what people and the model then read."""

import httpx

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session, texts
from tests.stack import Stack


def talk(stack: Stack, *messages: str, **domain: object) -> tuple[str, list[str]]:
    """A session in which these were asked and answered; its id, and its turns."""
    session_id = make_session(stack, make_domain(stack, **{"middleware": [], **domain})["name"])
    return session_id, [stack.chat(message, session_id)["turn_id"] for message in messages]


def edit(stack: Stack, turn_id: str, message: str, **headers: str) -> httpx.Response:
    return stack.client.post(f"/turns/{turn_id}/edit", json={"message": message}, headers=headers)


def edited(stack: Stack, turn_id: str, message: str) -> str:
    """Edit a message and wait for the answer; give the new turn."""
    answer = edit(stack, turn_id, message)
    assert answer.status_code == 202, answer.text
    turn = stack.finished(answer.json()["id"])
    assert turn["status"] == "succeeded"
    return turn["id"]


def switch(stack: Stack, session_id: str, turn_id: str) -> httpx.Response:
    return stack.client.post(f"/sessions/{session_id}/branch", json={"turn_id": turn_id})


def shown(stack: Stack, session_id: str, **place: int) -> list[JSON]:
    params = {"branch": "active", "limit": 200, **place}
    return stack.client.get(f"/sessions/{session_id}/messages", params=params).json()["items"]


def asked(stack: Stack, session_id: str) -> list[str]:
    """What the person has said on the branch that is shown."""
    return texts(shown(stack, session_id), "user")


def read(stack: Stack, session_id: str) -> list[tuple[str, str]]:
    """What the model reads next."""
    return [(m["role"], m["content"]) for m in stack.state(session_id)["messages"]]


def sent(model: ScriptedModel) -> list[str]:
    """What the model was last sent of a person."""
    return [m["content"] for m in model.messages[-1] if m["role"] == "user"]


def versions(stack: Stack, session_id: str) -> list[tuple[list[str], list[str]]]:
    """The turns of each forked message, and those of them that are shown."""
    answer = stack.client.get(f"/sessions/{session_id}/branches").json()
    return [
        (
            [one["turn_id"] for one in item["versions"]],
            [one["turn_id"] for one in item["versions"] if one["is_active"]],
        )
        for item in answer["items"]
    ]

"""A monkey clicks and types over all pages while turns run: no error, no ghost, no lost effect.

MONKEY_MINUTES says how long (1), MONKEY_SEED which clicks (1).
"""

import os
import re
import time
from collections import Counter
from itertools import count

import pytest
from playwright.sync_api import expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.e2e.monkey.monkey import Monkey
from tests.fakes import ScriptedModel
from tests.stack import Stack

MINUTES = float(os.environ.get("MONKEY_MINUTES", "1"))
SEED = int(os.environ.get("MONKEY_SEED", "1"))
PARTS = 30
GHOST_SECONDS = 8  # two places may show a text while one takes over from the other
BROKEN = "could not be shown|Connection error"
pytestmark = [pytest.mark.monkey, pytest.mark.timeout(int(MINUTES * 60) + 600)]


def talkative(model: ScriptedModel) -> None:
    """Let each answer be one of its own, some with a step first: said twice, it is a ghost."""
    numbers = count(1)

    def answer(messages: list[JSON], body: JSON) -> JSON:
        number = next(numbers)
        if number % 3 == 0 and messages[-1]["role"] != "tool" and body.get("tools"):
            return {"tools": [{"name": "missing_tool", "args": {"number": number}}]}
        parts = [f"Part {part} of answer {number}." for part in range(PARTS)]
        return {"text": "\n\n".join(parts), "delay": 0.02}

    model.steps = answer


def doubled(desk: Desk) -> list[str]:
    """What is said twice on the chat page at this moment."""
    if re.search(r":\d+/(\?|$)", desk.page.url) is None:
        return []
    said = Counter(re.findall(r"Part \d+ of answer \d+\.", desk.main.inner_text()))
    return [text for text, times in said.items() if times > 1]


def check_page(desk: Desk) -> None:
    """No part that could not be shown, no lost connection, and nothing that stays doubled."""
    broken = desk.page.get_by_text(re.compile(BROKEN))
    assert broken.count() == 0, broken.first.inner_text()
    since = time.monotonic()
    while ghosts := doubled(desk):
        assert time.monotonic() - since < GHOST_SECONDS, ghosts
        desk.page.wait_for_timeout(200)


def kept_texts(stack: Stack, mark: str) -> set[str]:
    """What was said in all sessions and on all their branches, or taken back before it was."""
    rows = stack.query(
        "SELECT content ->> 'text' FROM display_messages WHERE message_type = 'user'"
        " UNION SELECT message FROM turns WHERE status = 'stopped'"
    )
    return {text for row in rows for text in re.findall(rf"{mark} message \d+\.", row[0] or "")}


def is_there(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 200


def said_twice(stack: Stack, session_id: str, mark: str) -> list[str]:
    """What stands twice on the branch of a session that is shown."""
    said = Counter(
        row["content"]["text"]
        for row in stack.messages(session_id, branch="active")
        if row["message_type"] == "user" and mark in row["content"]["text"]
    )
    return [text for text, times in said.items() if times > 1]


def is_all_done(stack: Stack) -> bool:
    return not stack.query("SELECT 1 FROM turns WHERE status IN ('queued', 'running')")


def test_a_monkey_breaks_nothing(own_desk: Desk, stack: Stack, model: ScriptedModel) -> None:
    talkative(model)
    desk = own_desk
    desk.open()
    monkey = Monkey(desk, SEED)
    end = time.monotonic() + MINUTES * 60
    try:
        while time.monotonic() < end:
            monkey.act()
            check_page(desk)
            assert monkey.complaints == []
        monkey.settle()
        stack.wait_for(lambda: is_all_done(stack), "a turn does not end")
        for session_id in monkey.deleted:
            stack.wait_for(lambda one=session_id: not is_there(stack, one), "it is not deleted")
        kept = kept_texts(stack, monkey.mark)
        asked = {text for text, one in monkey.accepted.items() if one not in monkey.deleted}
        assert asked <= kept
        check_sessions(desk, stack, monkey)
    finally:
        print("\n".join(monkey.did))
        messages = f"{len(monkey.accepted)} of {monkey.written} messages"
        print(f"seed {SEED}: {len(monkey.did)} acts, {messages}")


def check_sessions(desk: Desk, stack: Stack, monkey: Monkey) -> None:
    """Each session that was not deleted is there; its page shows what is stored, once."""
    left = [session_id for session_id in monkey.sessions if session_id not in monkey.deleted]
    for session_id in left:
        assert is_there(stack, session_id)
        assert said_twice(stack, session_id, monkey.mark) == []
    for session_id in left[:5]:
        desk.page.goto(f"{desk.url}/?session={session_id}")
        desk.is_at_rest()
        expect(desk.messages.first).to_be_visible()
        check_page(desk)

"""A monkey clicks and types over all pages while turns run: no error, ghost, lost message.

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


def kept_texts(stack: Stack) -> set[str]:
    """What people said in all sessions and on all their branches."""
    rows = stack.query(
        "SELECT content ->> 'text' FROM display_messages WHERE message_type = 'user'"
    )
    return {row[0] for row in rows}


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
        assert monkey.accepted <= kept_texts(stack)
        check_sessions(desk, stack, monkey)
    finally:
        print("\n".join(monkey.did))
        messages = f"{len(monkey.accepted)} of {monkey.written} messages"
        print(f"seed {SEED}: {len(monkey.did)} acts, {messages}")


def check_sessions(desk: Desk, stack: Stack, monkey: Monkey) -> None:
    """Each session's page shows at its end what is stored, once."""
    for session_id in monkey.sessions:
        assert said_twice(stack, session_id, monkey.mark) == []
    for session_id in monkey.sessions[:5]:
        desk.page.goto(f"{desk.url}/?session={session_id}")
        expect(desk.main.locator(".colloquy-live")).to_have_count(1)
        desk.is_at_rest()
        check_page(desk)

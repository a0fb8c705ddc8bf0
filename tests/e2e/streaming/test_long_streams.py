"""What streams and is long: a block drawn in parts stays what it is, and nothing is lost."""

import re
from collections.abc import Callable
from threading import Event

from playwright.sync_api import expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel

PIECE = "That is all of it."
CODE = [f"row_{number} = load({number})  # as it was read" for number in range(900)]
THOUGHTS = [f"Thought {number}: is it so?" for number in range(400)]


def held(**said: str) -> tuple[Event, Callable[[list[JSON], JSON], JSON]]:
    """Return a model that says this and goes on only when the event is set."""
    may_end = Event()
    return may_end, lambda messages, body: {**said, "until": may_end}


def test_a_long_code_block_stays_code_and_the_prose_after_it_prose(
    desk: Desk, model: ScriptedModel
) -> None:
    code = [*CODE[:450], "", 'print("```")  # not its end: ```', "", "# not a heading", *CODE[450:]]
    assert len("\n".join(code)) > 30_000
    text = "\n".join(["See:", "", "```python", *code, "```", "", PIECE, "", "- one of a list"])
    may_end, model.steps = held(text=text)

    desk.ask("Tell me")

    desk.sees(PIECE, "one of a list")
    expect(desk.streamed.get_by_role("paragraph")).to_have_text(["See:", PIECE])
    expect(desk.streamed.get_by_role("listitem")).to_have_text(["one of a list"])
    lines = [
        line
        for line in "\n".join(desk.streamed.locator("pre").all_text_contents()).split("\n")
        if line
    ]
    assert lines == [line for line in code if line]
    may_end.set()
    desk.is_idle()


def test_a_long_table_keeps_its_head_and_its_numbers_stand_right_also_when_it_is_stored(
    desk: Desk, model: ScriptedModel
) -> None:
    long = "a long name " * 3
    rows = [f"| CC-{number} | {long}{number} | {number}.5 |" for number in range(700)]
    text = "\n".join(["| Cost centre | Name | Amount |", "|---|---|--:|", *rows, "", PIECE])
    assert len(text) > 30_000
    may_end, model.steps = held(text=text)

    desk.ask("Tell me")

    desk.sees(PIECE)
    expect(desk.streamed.get_by_role("paragraph")).to_have_text([PIECE])
    tables = desk.streamed.get_by_role("table").count()
    cells = desk.streamed.get_by_role("cell", name=re.compile("^CC-")).all_text_contents()
    assert cells == [f"CC-{number}" for number in range(700)]
    heads = desk.streamed.get_by_role("columnheader", name="Cost centre")
    expect(heads).to_have_count(tables)
    amount = desk.main.get_by_role("cell", name="699.5", exact=True)
    expect(amount).to_have_css("text-align", "right")
    may_end.set()
    desk.is_idle()
    expect(amount).to_have_css("text-align", "right")


def test_thinking_that_was_read_stays_in_a_box_that_follows_until_it_is_scrolled_up(
    desk: Desk, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"think": "\n".join(THOUGHTS), "delay": 0.01}

    desk.ask("Tell me")

    box = desk.thoughts
    expect(box).to_contain_text("Thought 60:")
    expect(box).to_contain_text("Thought 0:")
    at_end = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 5"
    assert box.evaluate("box => box.clientHeight < box.scrollHeight / 2")
    assert box.evaluate(at_end)
    box.evaluate("box => (box.scrollTop = 40)")
    expect(box).to_contain_text("Thought 120:")
    assert box.evaluate("box => box.scrollTop") == 40
    desk.main.get_by_text("Thinking", exact=True).click()
    expect(box).to_be_hidden()
    desk.main.get_by_text("Thinking", exact=True).click()
    expect(box).to_be_visible()
    assert box.evaluate("box => box.scrollTop") == 40
    box.evaluate("box => (box.scrollTop = box.scrollHeight)")
    expect(box).to_contain_text("Thought 200:")
    assert box.evaluate(at_end)
    desk.press("Stop")
    desk.is_idle()


def test_text_becomes_thinking_when_only_its_closing_tag_arrives(
    desk: Desk, model: ScriptedModel
) -> None:
    may_end, model.steps = held(text=f"{THOUGHTS[0]}\n</think>\n\n{PIECE}")

    desk.ask("Tell me")

    desk.sees(PIECE)
    expect(desk.streamed.get_by_role("paragraph")).to_have_text([PIECE])
    expect(desk.thoughts).to_contain_text(THOUGHTS[0])
    desk.sees_not("requested again")
    may_end.set()
    desk.is_idle()
    desk.sees_once(PIECE)
    expect(desk.main.get_by_text("</think>")).to_have_count(0)

"""Each control does what it says at every click while an answer streams beside it."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.e2e.streaming.answers import CALL, ENDLESS
from tests.fakes import ScriptedModel
from tests.stack import Stack

MANY, SOME = 50, 6
COPY = re.compile("^(Copy this answer as Markdown|Copied)$")
COPIED = "async (text) => (await navigator.clipboard.readText()) === text"
TOGETHER = """() => {
  window.colloquyLive.set("changed", Date.now());
  document.querySelector(".st-key-new-chat button").click();
}"""
Step = Callable[[bool], None]


def answer(messages: list[JSON], body: JSON) -> JSON:
    """A table, then its words; to the second question an answer that goes on and on."""
    if sum(message["role"] == "user" for message in messages) > 1:
        return ENDLESS
    return {"text": "Two rows."} if messages[-1]["role"] == "tool" else {"tools": [CALL]}


@pytest.fixture
def streaming(desk: Desk, stack: Stack, model: ScriptedModel) -> Desk:
    """A chat with a table in an open card, in which another answer streams."""
    model.steps = answer
    session_id = stack.chat("Show the rows")["session_id"]
    desk.open(f"?session={session_id}")
    desk.sends_by_itself()
    desk.unfold_steps()
    desk.step("query_source").click()
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")
    expect(desk.page.get_by_role("button", name="Stop")).to_be_visible()  # the turn is drawn
    desk.is_at_rest()
    return desk


def is_whole(desk: Desk) -> None:
    """Stop the answer, and make sure that nothing of it is missing or repeated."""
    desk.press("Stop")
    desk.is_idle()
    desk.sees("Stopped here")
    said = re.findall(r"Paragraph (\d+) of", desk.main.inner_text())
    assert said == [str(number) for number in range(len(said))]


def fold(desk: Desk, is_odd: bool) -> None:
    desk.step("query_source").click()
    table = desk.main.get_by_text("2 rows", exact=True)
    expect(table).to_be_visible() if is_odd else expect(table).to_be_hidden()


def switch(desk: Desk, is_odd: bool) -> None:
    desk.main.get_by_role("radio", name="Table" if is_odd else "Chart").filter(visible=True).click()
    shown: Locator = desk.main.get_by_test_id("stDataFrame" if is_odd else "stVegaLiteChart")
    expect(shown.filter(visible=True)).to_have_count(1)


def search(desk: Desk, is_odd: bool) -> None:
    desk.sidebar.get_by_role("searchbox").fill("" if is_odd else "nothing has this title")
    expect(desk.row(desk.session_id)).to_have_count(1 if is_odd else 0)


def copy(desk: Desk, is_odd: bool) -> None:
    desk.page.evaluate("navigator.clipboard.writeText('')")
    desk.main.get_by_role("button", name=COPY).first.click()
    desk.page.wait_for_function(COPIED, arg="Two rows.")


def queue(desk: Desk, is_odd: bool) -> None:
    if is_odd:
        desk.press("Take back")
        desk.sees_not("Waiting: 1 turn before it")
    else:
        desk.ask("And then?")
        desk.sees("Waiting: 1 turn before it")


def leave(desk: Desk, is_odd: bool, session_id: str) -> None:
    if is_odd:
        desk.row(session_id).click()
        desk.sees("Paragraph 1 of")
    else:
        desk.new_chat()
        desk.sees_not("Paragraph 1 of")


def test_every_click_on_a_control_has_its_effect(streaming: Desk) -> None:
    desk = streaming
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    steps: list[tuple[Step, int]] = [
        (partial(switch, desk), MANY),
        (partial(fold, desk), SOME),
        (partial(search, desk), SOME),
        (partial(copy, desk), SOME),
        (partial(queue, desk), SOME),
        (partial(leave, desk, session_id=desk.session_id), SOME),
    ]

    for step, times in steps:
        for number in range(times):
            step(bool(number % 2))

    is_whole(desk)


def test_a_click_in_the_moment_in_which_the_answer_asks_to_be_drawn_has_its_effect(
    streaming: Desk,
) -> None:
    streaming.page.evaluate(TOGETHER)

    streaming.sees("What would you like to know?")

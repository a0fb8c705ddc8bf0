"""Each control does what it says at every click while an answer streams beside it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, WebSocket, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.e2e.streaming.answers import CALL, ENDLESS
from tests.fakes import ScriptedModel
from tests.stack import Stack

MANY = 50
COPY = re.compile("^(Copy this answer as Markdown|Copied)$")
COPIED = "async (text) => (await navigator.clipboard.readText()) === text"
MOVE_DOWN = "node => { node.style.position = 'relative'; node.style.top = '60px'; }"
MOVE_BACK = "node => node.removeAttribute('style')"
Step = Callable[[Desk, bool], None]


def answer(messages: list[JSON], body: JSON) -> JSON:
    """A table, then its words; to the second question an answer that goes on and on."""
    if sum(message["role"] == "user" for message in messages) > 1:
        return ENDLESS
    return {"text": "Two rows."} if messages[-1]["role"] == "tool" else {"tools": [CALL]}


@pytest.fixture
def asked() -> list[str | bytes]:
    """What the browser asks of the page's script."""
    return []


@pytest.fixture
def streaming(desk: Desk, stack: Stack, model: ScriptedModel, asked: list[str | bytes]) -> Desk:
    """A chat with a table in an open card, in which another answer streams."""

    def note(socket: WebSocket) -> None:
        if "_stcore" in socket.url:
            socket.on("framesent", lambda frame: asked.append(frame))

    model.steps = answer
    session_id = stack.chat("Show the rows")["session_id"]
    desk.page.on("websocket", note)
    desk.page.goto(f"{desk.url}/?session={session_id}")
    desk.unfold_steps()
    desk.step("query_source").click()
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")
    expect(desk.page.get_by_role("button", name="Stop")).to_be_visible()  # the turn is drawn
    desk.is_at_rest()
    assert asked
    asked.clear()
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
    is_folded(desk, is_so=not is_odd)


def is_folded(desk: Desk, *, is_so: bool) -> None:
    table = desk.main.get_by_text("2 rows", exact=True)
    expect(table).to_be_hidden() if is_so else expect(table).to_be_visible()


def switch(desk: Desk, is_odd: bool) -> None:
    shown_as(desk, "Table" if is_odd else "Chart").click()
    expect(desk.tables if is_odd else desk.charts).to_have_count(1)


def shown_as(desk: Desk, name: str) -> Locator:
    return desk.main.get_by_role("group", name="Show as").get_by_role("button", name=name)


def search(desk: Desk, is_odd: bool) -> None:
    desk.search_titles.fill("" if is_odd else "nothing has this title")
    expect(desk.row(desk.session_id)).to_have_count(1 if is_odd else 0)


def archive(desk: Desk, is_odd: bool) -> None:
    desk.press("Back to sessions" if is_odd else "Archived")
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


def leave(desk: Desk, is_odd: bool) -> None:
    if is_odd:
        return  # these are two clicks
    session_id = desk.session_id
    desk.new_chat()
    desk.sees_not("Paragraph 1 of")
    desk.row(session_id).click()
    desk.sees("Paragraph 1 of")


def click_while_it_moves(desk: Desk, control: Locator, drift: int = 0) -> None:
    """Press a control, let it move away from under the pointer, as text above it may, and release.

    Where the pointer has moved too, the press is taken back.
    """
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    desk.page.mouse.move(x, y)
    desk.page.mouse.down()
    control.evaluate(MOVE_DOWN)
    desk.page.mouse.move(x, y + drift)
    desk.page.mouse.up()
    desk.page.evaluate("() => new Promise((done) => setTimeout(done))")
    control.evaluate(MOVE_BACK)


IN_THE_HISTORY: list[Step] = [switch, fold, copy]
BESIDE_IT: list[Step] = [search, archive, queue, leave]


@pytest.mark.parametrize("steps", [IN_THE_HISTORY, BESIDE_IT], ids=["history", "beside"])
def test_every_click_on_a_control_has_its_effect_and_runs_no_script(
    streaming: Desk, asked: list[str | bytes], steps: list[Step]
) -> None:
    streaming.context.grant_permissions(["clipboard-read", "clipboard-write"])

    for step in steps:
        for number in range(MANY):
            step(streaming, bool(number % 2))

    assert asked == []
    is_whole(streaming)


def test_a_control_that_moves_under_the_pointer_is_pressed(streaming: Desk) -> None:
    desk = streaming
    desk.main.hover()
    desk.page.mouse.wheel(0, -100_000)
    is_folded(desk, is_so=False)
    card = desk.main.locator("summary").filter(has_text="query_source")

    click_while_it_moves(desk, shown_as(desk, "Chart"))
    expect(desk.charts).to_be_visible()
    click_while_it_moves(desk, shown_as(desk, "Table"))
    expect(desk.tables).to_be_visible()
    click_while_it_moves(desk, card, drift=-30)
    is_folded(desk, is_so=False)
    click_while_it_moves(desk, card)
    is_folded(desk, is_so=True)

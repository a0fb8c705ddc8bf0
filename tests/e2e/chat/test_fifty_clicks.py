"""Fifty clicks while an answer streams: fifty effects, or one of what is done once; no script."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, WebSocket, expect

from tests.e2e.desk import Desk, slowly
from tests.e2e.twice import count
from tests.fakes import ScriptedModel
from tests.stack import Stack

TIMES = 50
ENDLESS = "".join(f"Paragraph {number} of the answer.\n\n" for number in range(9_000))
PRESSES = f"button => {{ for (let n = 0; n < {TIMES}; n += 1) button.click(); }}"
ENTERS = f"""area => {{
  const key = {{ key: "Enter", bubbles: true, cancelable: true }};
  for (let n = 0; n < {TIMES}; n += 1) area.dispatchEvent(new KeyboardEvent("keydown", key));
}}"""


@pytest.fixture
def asked(desk: Desk, stack: Stack, model: ScriptedModel) -> list[str | bytes]:
    """What the browser asks of the page's script while a second answer streams in a session."""
    asked: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        if "_stcore/stream" in socket.url:
            socket.on("framesent", lambda frame: asked.append(frame))

    model.steps = [{"text": "A first answer."}]
    session_id = stack.chat("First")["session_id"]
    model.steps = slowly(ENDLESS, delay=0.02)
    desk.page.on("websocket", listen)
    desk.page.goto(f"{desk.url}/?session={session_id}")
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")
    desk.is_at_rest()
    assert asked
    asked.clear()
    return asked


def button(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("button", name=name, exact=True)


def test_fifty_clicks_on_a_control_are_fifty_effects(
    desk: Desk, stack: Stack, asked: list[str | bytes]
) -> None:
    session_id = desk.session_id
    thumb = desk.main.get_by_role("radio", name="Thumbs up")
    comment = desk.main.get_by_role("textbox", name="What was good?")
    menu = desk.page.get_by_role("menuitem", name="Rename")

    def rate(is_odd: bool) -> None:
        thumb.click()
        expect(thumb).to_be_checked(checked=not is_odd)

    def write(is_odd: bool) -> None:
        button(desk, "Add a comment").click()
        expect(comment).to_have_count(0 if is_odd else 1)

    def export(is_odd: bool) -> None:
        button(desk, "Export").click()
        expect(desk.opened("Export")).to_have_count(0 if is_odd else 1)

    def open_menu(is_odd: bool) -> None:
        desk.page.keyboard.press("Escape") if is_odd else desk.open_menu(session_id)
        expect(menu).to_have_count(0 if is_odd else 1)

    def pin(is_odd: bool) -> None:
        desk.choose(session_id, "Unpin" if is_odd else "Pin")
        expect(desk.sidebar.get_by_text("Pinned")).to_have_count(0 if is_odd else 1)

    repeat(rate)
    thumb.click()
    repeat(write)
    for step in (export, open_menu, pin):
        repeat(step)

    assert asked == []
    stack.client.post(f"/sessions/{session_id}/stop")
    desk.is_idle()


def repeat(step: Callable[[bool], None]) -> None:
    for number in range(TIMES):
        step(bool(number % 2))


def test_fifty_presses_of_what_is_done_once_do_it_once(
    desk: Desk, stack: Stack, model: ScriptedModel, asked: list[str | bytes]
) -> None:
    turns = f"turns WHERE conversation_id = '{desk.session_id}'"

    desk.composer.fill("And then?")
    desk.composer.evaluate(ENTERS)
    desk.sees("Waiting: 1 turn before it")
    assert count(stack, turns) == 3
    button(desk, "Take back").evaluate(PRESSES)
    desk.sees_not("Waiting: 1 turn before it")
    expect(desk.composer).to_have_value("And then?")

    desk.requests.clear()
    button(desk, "Stop").evaluate(PRESSES)
    desk.is_idle()
    desk.sees("Stopped here")
    assert len([url for url in desk.requests if url.endswith("/stop")]) == 1
    model.steps = lambda messages, body: {"text": "Here it is."}
    button(desk, "Retry").evaluate(PRESSES)
    desk.sees("Here it is.")
    desk.is_idle()
    assert count(stack, turns) == 4
    button(desk, "Another answer").last.evaluate(PRESSES)
    desk.sees("3/3", "Here it is.")
    desk.is_idle()

    assert count(stack, turns) == 5
    assert asked == []

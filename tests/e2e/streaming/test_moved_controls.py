"""A control that moves between the two halves of a click, as text above it may move it."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.e2e.streaming.answers import CALL
from tests.fakes import ScriptedModel
from tests.stack import Stack

MOVE_DOWN = "node => { node.style.position = 'relative'; node.style.top = '60px'; }"


@pytest.fixture
def moving(desk: Desk, stack: Stack, model: ScriptedModel) -> Desk:
    """A chat with a table in an open card."""
    model.steps = [{"tools": [CALL]}, {"text": "Two rows."}]
    desk.open(f"?session={stack.chat('Show the rows')['session_id']}")
    desk.unfold_steps()
    desk.step("query_source").click()
    desk.is_at_rest()
    desk.page.set_viewport_size({"width": 1280, "height": 1600})  # nothing scrolls
    return desk


def click_while_it_moves(desk: Desk, control: Locator, drift: int = 0) -> None:
    """Press a control, let it move away from under the pointer, and release."""
    desk.lies_still()
    box = control.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    desk.page.mouse.move(x, y)
    desk.page.mouse.down()
    control.evaluate(MOVE_DOWN)
    desk.page.mouse.move(x, y + drift)
    desk.page.mouse.up()


def test_a_switch_that_moves_is_switched(moving: Desk) -> None:
    click_while_it_moves(moving, moving.main.get_by_role("radio", name="Chart"))

    expect(moving.charts).to_be_visible()


def test_a_list_that_opens_from_a_moving_button_stays_open(moving: Desk) -> None:
    click_while_it_moves(moving, moving.main.get_by_role("button", name="Usage"))

    expect(moving.opened("Usage")).to_be_visible()


@pytest.mark.parametrize(("drift", "is_folded"), [(0, True), (-30, False)])
def test_a_pointer_that_was_moved_away_takes_its_press_back(
    moving: Desk, drift: int, is_folded: bool
) -> None:
    card = moving.step("query_source")
    click_while_it_moves(moving, card, drift)
    moving.page.evaluate("() => new Promise((done) => setTimeout(done))")

    table = moving.main.get_by_text("2 rows", exact=True)
    expect(table).to_be_hidden() if is_folded else expect(table).to_be_visible()

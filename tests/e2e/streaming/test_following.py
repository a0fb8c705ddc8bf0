"""Where a page stands while an answer streams: at its end, or where the reader has scrolled to."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.streaming.answers import CALL, ENDLESS
from tests.e2e.streaming.places import FIRST_SEEN, STANDS, TOPS, UNMOVED
from tests.fakes import ScriptedModel
from tests.stack import Stack

LINES = 20
TURNS = 8


@pytest.fixture
def streaming(desk: Desk, model: ScriptedModel) -> Desk:
    """A chat with an answer that streams, longer than the window, and a message behind it."""
    model.steps = [ENDLESS]
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")
    desk.is_at_rest()
    desk.ask("And then?")
    desk.sees("Waiting: 1 turn before it")
    desk.sees(f"Paragraph {LINES} of")
    return desk


@pytest.mark.journey
def test_a_reader_is_kept_at_the_end_left_further_up_and_kept_at_the_end_again(
    streaming: Desk,
) -> None:
    take_back = streaming.main.get_by_role("button", name="Take back")
    tops = take_back.evaluate(TOPS, LINES)
    assert len(tops) > LINES
    assert max(tops) - min(tops) <= 1
    expect(take_back).to_be_in_viewport()

    streaming.main.hover()
    streaming.page.mouse.wheel(0, -600)
    streaming.page.evaluate(STANDS)
    last = re.findall(r"Paragraph (\d+) of", streaming.main.inner_text())[-1]
    seen = streaming.main.get_by_text(f"Paragraph {int(last) - LINES} of")
    place = seen.bounding_box()
    streaming.sees(f"Paragraph {int(last) + LINES} of")
    assert seen.bounding_box() == place
    expect(take_back).not_to_be_in_viewport()

    streaming.page.mouse.wheel(0, 100_000)
    expect(take_back).to_be_in_viewport()
    tops = take_back.evaluate(TOPS, LINES)
    assert max(tops) - min(tops) <= 1

    streaming.page.mouse.wheel(0, -600)
    expect(take_back).not_to_be_in_viewport()
    streaming.ask("And after that?")  # what one has written oneself is seen
    streaming.sees("Waiting: 2 turns before it")
    expect(take_back.last).to_be_in_viewport()


def test_a_reader_who_followed_a_link_stays_at_its_message(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "An answer of one line.\n\n" * 30}]
    session_id = stack.chat("The first question")["session_id"]
    model.steps = [ENDLESS]
    desk.open(f"?session={session_id}&at=1")
    desk.sees("An answer of one line.")
    desk.is_at_rest()
    desk.holds_no_place()
    desk.lies_still()
    seen = desk.main.get_by_text("The first question").last
    place = seen.bounding_box()

    stack.submit("Tell me", session_id)

    desk.sees(f"Paragraph {LINES} of")
    assert seen.bounding_box() == place


def test_a_page_and_another_session_are_opened_at_their_end(
    own_desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "An answer of one line.\n\n" * 60 + "That is all."}]
    first, other = (stack.chat(f"Question {number}")["session_id"] for number in (1, 2))
    for number in range(3, TURNS):
        stack.chat(f"Question {number}", other)
    model.steps = [{"text": "This is the last of all."}]
    stack.chat(f"Question {TURNS}", other)
    own_desk.context.add_init_script(f"window.look = {FIRST_SEEN}; window.look('That is all.')")

    own_desk.open(f"?session={first}")
    own_desk.sees("That is all.")
    own_desk.is_at_rest()
    assert own_desk.page.evaluate("window.firstSeen") is True

    own_desk.main.hover()
    own_desk.page.mouse.wheel(0, -400)
    expect(own_desk.main.get_by_text("That is all.")).not_to_be_in_viewport()
    own_desk.page.evaluate("window.look('This is the last of all.')")
    own_desk.row(other).click()
    own_desk.sees("This is the last of all.")
    assert own_desk.page.evaluate(UNMOVED, "This is the last of all.") <= 1
    assert own_desk.page.evaluate("window.firstSeen") is True
    expect(own_desk.main.get_by_text("This is the last of all.")).to_be_in_viewport()


def test_a_card_opens_downwards_and_its_table_becomes_a_chart_downwards(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "An answer of one line.\n\n" * 30}]
    session_id = stack.chat("The first question")["session_id"]
    model.steps = [{"tools": [CALL]}, {"text": "Two rows."}]
    stack.chat("Show the rows", session_id)
    desk.open(f"?session={session_id}")
    desk.page.set_viewport_size({"width": 1280, "height": 600})
    desk.unfold_steps()
    desk.is_at_rest()
    desk.lies_still()
    card = desk.step("query_source")
    expect(card).to_be_in_viewport()
    place = card.bounding_box()

    card.click()

    desk.sees("2 rows")
    desk.lies_still()
    assert card.bounding_box() == place
    desk.page.set_viewport_size({"width": 1280, "height": 1000})
    desk.main.hover()
    desk.page.mouse.wheel(0, 100_000)
    desk.page.evaluate(STANDS)
    chart = desk.main.get_by_role("group", name="Show as").get_by_role("button", name="Chart")
    expect(chart).to_be_in_viewport()
    place = chart.bounding_box()

    chart.click()

    expect(desk.charts).to_be_visible()
    desk.lies_still()
    after = chart.bounding_box()
    assert place and after and abs(after["y"] - place["y"]) <= 1


def test_a_new_chat_is_opened_at_its_top_also_in_a_low_window(
    own_desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "An answer of one line.\n\n" * 60 + "That is all."}]
    session_id = stack.chat("Tell me")["session_id"]
    own_desk.open(f"?session={session_id}")
    own_desk.page.set_viewport_size({"width": 640, "height": 420})
    expect(own_desk.main.get_by_text("That is all.")).to_be_in_viewport()
    title = own_desk.main.get_by_role("heading", name="What would you like to know?")

    own_desk.page.keyboard.press("Control+Shift+O")
    expect(title).to_be_visible()
    own_desk.is_at_rest()
    own_desk.lies_still()
    expect(title).to_be_in_viewport()
    own_desk.page.reload()
    expect(title).to_be_visible()
    own_desk.is_at_rest()
    own_desk.lies_still()
    expect(title).to_be_in_viewport()

    own_desk.ask("Tell me")
    expect(own_desk.main.get_by_text("That is all.")).to_be_in_viewport()

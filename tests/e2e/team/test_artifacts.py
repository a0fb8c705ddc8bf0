"""A person follows numbers of an answer to their cells, beside the chat, which stays as it is."""

import re
from threading import Event
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.artifacts import scenes
from tests.stack import Stack

ROWS = [{"account": f"A{number}", "amount_eur": 100.25 * number} for number in range(1, 41)]


@pytest.fixture
def session(stack: Stack) -> str:
    return scenes.desk(stack)


@pytest.fixture
def table(stack: Stack, session: str) -> str:
    """A table of two versions, made by an agent."""
    named = scenes.make(stack, session, "table", "Differences", content=ROWS)
    artifact_id = str(named["artifact_id"])
    revised = {"artifact_id": artifact_id, "content": ROWS[:39]}
    scenes.call(stack, session, "revise_artifact", **revised)
    return artifact_id


def answers(model: ScriptedModel, text: str, until: Event | None = None) -> None:
    """Let the model say this; `until` something, if that is given."""
    said = {"text": text, **({"until": until} if until else {})}
    model.steps = lambda messages, body: said


@pytest.mark.journey
def test_a_number_leads_to_its_cell_and_the_chat_stays_as_it_is(
    desk: Desk, model: ScriptedModel, session: str, table: str
) -> None:
    link = f"[301](artifact:{table}@1#row=3&column=amount_eur)"
    table_of_one = f"| a | b |\n|---|---|\n| 1 | {link} |"
    answers(model, "A line.\n\n" * 60 + f"It is {link}.\n\n{table_of_one}")
    desk.open(f"?session={session}")
    desk.ask("Compare")
    number = desk.main.get_by_role("link", name="301†").first
    expect(number).to_be_visible()
    desk.is_idle()
    desk.is_at_rest()
    desk.main.get_by_text("Sort, filter or keep this table").click()
    expect(desk.main.get_by_text("1 row", exact=True)).to_be_visible()
    number.scroll_into_view_if_needed()

    number.click()

    beside = desk.panel
    expect(beside.get_by_text("Row 3 · amount_eur")).to_be_visible()
    expect(beside.get_by_text("A newer version exists: 2.")).to_be_visible()
    expect(beside).to_be_focused()
    expect(number).to_be_in_viewport()
    expect(desk.main.get_by_text("1 row", exact=True)).to_be_visible()

    beside.get_by_role("button", name="Close the panel").click()
    expect(beside).to_have_count(0)
    expect(number).to_be_focused()


def test_a_number_of_an_answer_that_streams_leads_there_at_once(
    desk: Desk, model: ScriptedModel, session: str, table: str
) -> None:
    over = Event()
    links = f"[301](artifact:{table}@2#row=3&column=amount_eur) and [x](evil:{table})"
    said = {"text": f"It is {links}. " + "And so on. " * 150, "delay": 0.02, "until": over}
    model.steps = lambda messages, body: said
    desk.open(f"?session={session}")
    desk.ask("Compare")

    # A hand holds the button for a while, and the paragraph grows meanwhile.
    desk.drafts.get_by_role("link", name="301").click(delay=500)

    expect(desk.panel.get_by_text("Row 3 · amount_eur")).to_be_visible()
    expect(desk.drafts.locator("a[href*=evil]")).to_have_count(0)
    over.set()
    desk.is_idle()
    expect(desk.panel.get_by_text("Row 3 · amount_eur")).to_be_visible()


def test_what_is_not_there_is_said_and_a_long_title_leaves_the_buttons_where_they_are(
    desk: Desk, stack: Stack, session: str, table: str
) -> None:
    desk.open(f"?session={session}&artifact={uuid4()}@1")
    expect(desk.panel.get_by_text(re.compile("This artifact does not exist"))).to_be_visible()
    desk.panel.get_by_role("button", name="Differences").click()
    expect(desk.panel.get_by_text("Version 2 of 2")).to_be_visible()

    for title in ("Differences by cost centre and month " * 3, "Differences" * 9):
        named = scenes.make(stack, session, "table", title.strip(), content=ROWS)
        desk.open(f"?session={session}&artifact={named['artifact_id']}@1")
        _buttons_stay(desk)


def _buttons_stay(desk: Desk) -> None:
    """Make sure that the panel's title pushes nothing out of it."""
    beside = desk.panel
    close = beside.get_by_role("button", name="Close the panel")
    expect(close).to_be_visible()
    desk.is_at_rest()
    edges, box = close.bounding_box(), beside.bounding_box()
    assert edges is not None and box is not None
    assert box["x"] + box["width"] - edges["x"] - edges["width"] < 40
    assert edges["y"] - box["y"] < 40
    assert not beside.evaluate("panel => panel.scrollWidth > panel.clientWidth")


def test_in_a_narrow_window_the_panel_covers_the_page_until_escape(
    own_desk: Desk, session: str, table: str
) -> None:
    desk = own_desk
    page = desk.context.new_page()
    page.set_viewport_size({"width": 420, "height": 800})
    page.goto(f"{desk.url}/?session={session}&artifact={table}@2")
    dialog = page.get_by_role("dialog", name="Artifacts")
    expect(dialog.get_by_text("Version 2 of 2")).to_be_visible()
    assert dialog.bounding_box() == {"x": 0, "y": 0, "width": 420, "height": 800}

    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)

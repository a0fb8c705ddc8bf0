"""Search in a browser: found, opened where it was said, marked, and on from there both ways."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session, texts
from tests.stack import Stack

TURNS = 100


def long_session(stack: Stack) -> str:
    """A session of three hundred messages; one of them tells of a pelican."""
    session_id = make_session(stack, title="A long talk")
    rows = []
    for turn in range(TURNS):
        told = " It is the pelican's." if turn == 40 else ""
        rows += [
            ("user", "text", {"text": f"Question {turn}."}),
            ("assistant", "thinking", {"text": "A pelican?"}),
            ("assistant", "text", {"text": f"Answer {turn}." + " More of it." * 60 + told}),
        ]
    stack.query_and_commit(
        """INSERT INTO display_messages
             (conversation_id, position, message_type, content_type, status, agent, content)
           SELECT CAST(:id AS uuid), n, one->>0, one->>1, 'completed',
             CASE one->>0 WHEN 'user' THEN NULL ELSE 'assistant' END, one->2
           FROM jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS given (one, n)""",
        id=session_id, rows=json.dumps(rows),
    )  # fmt: skip
    stack.query_and_commit(
        "UPDATE conversations SET message_count = :count WHERE id = CAST(:id AS uuid)",
        id=session_id, count=len(rows),
    )  # fmt: skip
    return session_id


def top_of(desk: Desk, text: str) -> float:
    """How far from the top of the screen a text stands, once nothing moves any more."""
    desk.is_at_rest()
    desk.lies_still()
    box = said(desk, text).bounding_box()
    assert box is not None
    return box["y"]


def said(desk: Desk, text: str) -> Locator:
    return desk.main.get_by_text(re.compile(rf"^{text}\.")).filter(visible=True).first


@pytest.mark.journey
def test_a_message_is_found_and_read_in_its_place(desk: Desk, stack: Stack) -> None:
    session_id = long_session(stack)
    desk.open(f"?session={session_id}")
    desk.sees("Answer 99.")
    desk.is_at_rest()

    desk.page.keyboard.press("ControlOrMeta+k")
    field = desk.main.get_by_placeholder("phrase in quotes")
    field.fill("the pelican")
    field.press("Enter")
    hit = desk.hits
    expect(hit).to_have_count(1)
    expect(hit).to_contain_text("It is the pelican's.")
    expect(desk.page).to_have_url(re.compile(r"search\?q=the(\+|%20)pelican"))
    desk.page.reload()
    expect(field).to_have_value("the pelican")
    hit.click(position={"x": 200, "y": 50})

    expect(desk.page).to_have_url(re.compile(rf"session={session_id}&at=123"))
    desk.holds_no_place()
    expect(desk.marked).to_contain_text("Answer 40.")
    top_of(desk, "Answer 40")
    expect(desk.marked).to_be_in_viewport()
    desk.sees_not("Answer 99.")

    for button, place in (
        ("Show earlier messages", 0),
        ("Show later messages", -1),
        ("Show later messages", -1),
    ):
        desk.page.get_by_role("button", name=button).scroll_into_view_if_needed()
        read = answers(desk)[place]
        before = top_of(desk, read)
        desk.press(button)
        is_another = partial(begins_otherwise, desk, place, read)
        stack.wait_for(is_another, "no more came")
        assert abs(top_of(desk, read) - before) < 30  # not a line
    desk.sees_not("Answer 99.")

    desk.press("Jump to the latest")
    expect(said(desk, "Answer 99")).to_be_in_viewport()


def test_both_ends_of_a_long_session_are_one_click_away_and_a_search_one_key(
    desk: Desk, stack: Stack
) -> None:
    desk.open(f"?session={long_session(stack)}")
    expect(said(desk, "Answer 99")).to_be_in_viewport()
    desk.is_at_rest()
    desk.lies_still()

    desk.press("Jump to the first")

    expect(said(desk, "Question 0")).to_be_in_viewport()
    desk.sees_not("Answer 99.")
    for button in ("Jump to the first", "Show earlier messages"):
        expect(desk.page.get_by_role("button", name=button)).to_have_count(0)
    top_of(desk, "Question 0")
    expect(said(desk, "Question 0")).to_be_in_viewport()
    desk.press("Jump to the latest")
    expect(said(desk, "Answer 99")).to_be_in_viewport()
    desk.sees_not("Question 0.")
    desk.is_at_rest()

    # What is written there is found without another key.
    desk.page.keyboard.press("ControlOrMeta+k")
    expect(desk.main.get_by_placeholder("phrase in quotes")).to_be_focused()
    length = desk.page.evaluate("history.length")
    desk.page.keyboard.type("the peli", delay=400)
    expect(desk.hits.first).to_contain_text("the pelican's.")
    expect(desk.page).to_have_url(re.compile(r"search\?q=the(\+|%20)peli"))
    assert desk.page.evaluate("history.length") == length  # Back leads to the chat


def test_a_message_that_is_written_at_a_place_found_goes_to_its_session(
    desk: Desk, model: ScriptedModel, stack: Stack
) -> None:
    model.steps = lambda messages, body: {"text": "It is hers."}
    desk.ask("Something else")
    desk.sees("It is hers.")
    desk.is_idle()
    session_id = long_session(stack)
    desk.page.keyboard.press("ControlOrMeta+k")
    field = desk.main.get_by_placeholder("phrase in quotes")
    field.fill("the pelican's")
    field.press("Enter")
    desk.hits.first.click(position={"x": 200, "y": 50})
    desk.sees("Answer 40")
    desk.is_at_rest()

    desk.ask("And whose is the stork?")

    desk.sees("And whose is the stork?", "It is hers.")
    rows = stack.messages(session_id)
    assert "And whose is the stork?" in texts(rows, "user")


def begins_otherwise(desk: Desk, place: int, read: str) -> bool:
    """Whether another answer is first on the page, or last; none is there while it is drawn."""
    now = answers(desk)
    return bool(now) and now[place] != read


def answers(desk: Desk) -> list[str]:
    """The answers on the page, in order."""
    return re.findall(r"Answer \d+", "\n".join(desk.main.all_inner_texts()))


def test_each_page_is_reached_from_a_search_which_stays_where_its_own_is_asked_for(
    desk: Desk,
) -> None:
    desk.open("search?q=anything")
    desk.is_at_rest()
    desk.page.keyboard.press("ControlOrMeta+k")
    desk.is_at_rest()
    expect(desk.main.get_by_placeholder("phrase in quotes")).to_have_value("anything")
    expect(desk.page).to_have_url(f"{desk.url}/search?q=anything")

    for page in ("inbox", "tasks", "agents", "data"):
        desk.open("search?q=anything")
        desk.is_at_rest()
        desk.link(page.capitalize()).click()
        expect(desk.page).to_have_url(f"{desk.url}/{page}")
        desk.is_at_rest()
        expect(desk.main.get_by_role("alert")).to_have_count(0)

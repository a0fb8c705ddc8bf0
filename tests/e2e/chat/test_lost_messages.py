"""A message that is lost between the browser and the pages comes back to where it was written."""

import re
from threading import Event

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session, texts
from tests.stack import Stack

LOST = "What did the north spend in March?"
LEFT = "What did the south spend in May?"
NEXT = "What did the west spend in June?"


@pytest.mark.journey
def test_messages_that_are_lost_on_their_way_come_back_above_what_was_written_meanwhile(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.on_sending(lambda route: route.abort(), times=1)

    desk.ask(LOST)

    expect(desk.main.get_by_role("alert")).to_contain_text("was not sent")
    expect(desk.composer).to_have_value(LOST)
    expect(desk.sent).to_have_count(0)
    desk.composer.press("Enter")
    desk.sees("An answer.")
    expect(desk.main.get_by_role("alert")).to_have_count(0)
    desk.is_idle()
    assert texts(stack.messages(desk.session_id), "user") == [LOST]

    refused: list[Route] = []
    desk.on_sending(lambda route: refused.append(route))
    desk.ask("Second")
    desk.ask("Third")
    desk.composer.fill("Not sent yet")
    for number in (1, 2):
        while len(refused) < number:
            desk.page.wait_for_timeout(50)
        refused[-1].abort()
    desk.sees("The service does not answer")
    expect(desk.composer).to_have_value("Second\n\nThird\n\nNot sent yet")


def test_a_message_whose_answer_is_lost_is_sent_again_as_the_same_unless_it_is_written_anew(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    answers = desk.main.get_by_text("An answer.")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    desk.on_sending(lose_the_answer, times=1)
    desk.ask(LOST)
    expect(desk.composer).to_have_value(LOST)
    desk.composer.press("Enter")
    desk.sees("An answer.")
    desk.is_idle()
    session_id = desk.session_id
    assert texts(stack.messages(session_id), "user") == [LOST]
    assert len(model.requests) == 1

    desk.on_sending(lose_the_answer, times=1)
    desk.ask("Continue.")
    expect(desk.composer).to_have_value("Continue.")
    expect(answers).to_have_count(2)
    desk.is_idle()
    desk.composer.fill("")
    desk.ask("Continue.")
    expect(answers).to_have_count(3)
    desk.is_idle()
    assert texts(stack.messages(session_id), "user") == [LOST, "Continue.", "Continue."]

    other = make_session(stack)  # where the same words are another message too
    desk.on_sending(lose_the_answer, times=1)
    desk.ask("Yes, do that")
    desk.sees("The service does not answer")
    desk.row(other).click()
    expect(desk.page).to_have_url(re.compile(other))
    desk.is_at_rest()
    desk.ask("Yes, do that")
    desk.sees("An answer.")
    desk.is_idle()
    assert texts(stack.messages(other), "user") == ["Yes, do that"]


def test_own_words_stand_at_once_and_a_click_that_crosses_them_loses_nothing(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.composer.fill("First")
    desk.page.keyboard.down("Enter")
    desk.sees("An answer.")
    session_id = desk.session_id
    desk.new_chat()
    desk.row(session_id).click()
    desk.sees("An answer.")
    desk.page.keyboard.up("Enter")  # late: what has arrived does not come back
    expect(desk.composer).to_have_value("")
    may_pass = Event()

    def hold(route: Route) -> None:
        while not may_pass.is_set():
            desk.page.wait_for_timeout(50)
        route.continue_()

    desk.on_sending(hold, times=1)
    desk.ask(LOST)
    expect(desk.sent).to_have_text(LOST)  # only the browser knows them

    desk.new_chat()
    desk.sees_not(LOST)
    may_pass.set()
    desk.row(session_id).click()
    desk.sees(LOST)
    desk.is_idle()
    desk.sees_once(LOST)

    # A new chat that is left at once is in the list, and does not come back by itself.
    may_pass.clear()
    desk.new_chat()
    desk.on_sending(hold, times=1)
    desk.ask(LEFT)
    desk.row(session_id).click()
    desk.sees("First")
    may_pass.set()
    expect(desk.sidebar.get_by_text(LEFT)).to_be_visible()
    desk.new_chat()
    desk.is_at_rest()
    expect(desk.sent).to_have_count(0)
    desk.sees("What would you like to know?")
    desk.sidebar.get_by_text(LEFT).click()
    desk.sees("An answer.", LEFT)
    assert texts(stack.messages(session_id), "user") == ["First", LOST]

    # Another new chat is there as soon as the first message of this one is accepted.
    may_pass.clear()
    desk.new_chat()
    desk.on_sending(hold, times=1)
    desk.ask(NEXT)
    expect(desk.sent).to_have_text(NEXT)
    desk.link("New Chat").click()
    may_pass.set()
    expect(desk.sidebar.get_by_text(NEXT)).to_be_visible()
    desk.sees_not(NEXT)
    desk.sees("What would you like to know?")


def test_what_is_written_while_a_session_opens_is_said_there(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.ask("First")
    desk.sees("An answer.")
    desk.is_idle()
    first = desk.session_id
    desk.new_chat()
    desk.ask("Second")
    desk.is_idle()
    waiting: list[Route] = []
    may_pass = Event()
    history = re.compile(rf"/sessions/{first}(/messages.*)?$")
    desk.page.route(
        history, lambda route: route.continue_() if may_pass.is_set() else waiting.append(route)
    )

    desk.row(first).click()
    desk.composer.focus()
    desk.page.keyboard.type("Said at once")
    desk.page.keyboard.press("Enter")
    said = ["First", "Said at once"]
    stack.wait_for(lambda: texts(stack.messages(first), "user") == said, "it was said elsewhere")

    may_pass.set()
    for route in waiting:
        route.continue_()
    desk.sees_once("Said at once")
    desk.is_idle()
    expect(desk.composer).to_be_focused()

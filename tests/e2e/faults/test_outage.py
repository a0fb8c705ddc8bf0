"""What a person sees while a part is away: why, what to do, and nothing lost."""

import os
import signal

from playwright.sync_api import BrowserContext, Locator, expect

from tests.e2e.desk import Desk, slowly
from tests.fakes import ScriptedModel
from tests.processes import stop_process
from tests.stack import Stack

IS_ON_TOP = """one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return one === document.elementFromPoint(x + width / 2, y + height - 1);
}"""
LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60)) + "\n\nThe end."


def ask_for_long(context: BrowserContext, stack: Stack, model: ScriptedModel) -> Desk:
    """Ask for an answer that takes some seconds, and wait for its beginning."""
    model.steps = slowly(LONG)
    desk = Desk(context, stack.start_ui())
    desk.ask("Tell me")
    desk.sees("Paragraph 3 of")
    return desk


def away(desk: Desk) -> Locator:
    """What the page says while the service is away, wherever it says so."""
    return desk.page.get_by_text("The service does not answer").filter(visible=True)


def sees_each_word_once(desk: Desk) -> None:
    for number in (0, 3, 30, 59):
        desk.sees_once(f"Paragraph {number} of the answer.")


def test_a_new_chat_says_that_the_service_is_away_and_a_message_is_in_the_composer_again(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "Answered."}
    desk = Desk(context, own_stack.start_ui())
    desk.sees("What would you like to know?")
    stop_process(own_stack.api)
    desk.press("Archived")
    expect(away(desk)).to_have_count(1)
    expect(away(desk)).to_be_in_viewport()
    expect(desk.foot).to_contain_text("The service does not answer")

    desk.page.set_viewport_size({"width": 420, "height": 500})  # lower than a new chat
    desk.ask("Do not lose me")
    refusal = desk.main.get_by_text("back in the composer")
    expect(refusal).to_be_in_viewport(ratio=1)
    assert refusal.evaluate(IS_ON_TOP)

    own_stack.start_api()

    expect(desk.composer).to_have_value("Do not lose me")
    desk.composer.press("Enter")
    desk.sees("Answered.")


def test_an_api_that_restarts_in_the_middle_costs_no_word(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    desk = ask_for_long(context, own_stack, model)

    stop_process(own_stack.api)
    own_stack.start_api()

    desk.sees("The end.")
    desk.is_idle()
    sees_each_word_once(desk)


def test_an_api_that_stands_still_in_the_middle_is_noticed_and_costs_no_word(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    desk = ask_for_long(context, own_stack, model)
    assert own_stack.api

    os.kill(own_stack.api.pid, signal.SIGSTOP)
    try:
        expect(away(desk).first).to_be_in_viewport()
    finally:
        os.kill(own_stack.api.pid, signal.SIGCONT)

    desk.sees("The end.")
    desk.is_idle()
    expect(away(desk)).to_have_count(0)
    sees_each_word_once(desk)


def test_an_api_that_stands_still_is_noticed_on_an_idle_page_and_costs_no_word(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "Answered at last."}
    desk = Desk(context, own_stack.start_ui())
    desk.sees("What would you like to know?")
    assert own_stack.api

    os.kill(own_stack.api.pid, signal.SIGSTOP)
    try:
        desk.ask("Do not lose me")
        expect(away(desk)).to_be_in_viewport()
        expect(desk.composer).to_have_value("")  # it is on its way still
    finally:
        os.kill(own_stack.api.pid, signal.SIGCONT)

    desk.sees("Answered at last.")
    expect(away(desk)).to_have_count(0)


def test_a_connection_that_is_lost_in_silence_is_noticed_and_costs_no_word(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    desk = ask_for_long(context, own_stack, model)
    is_said = desk.page.get_by_role("alert").filter(has_text="The connection is interrupted")

    context.set_offline(True)  # no WebSocket is closed
    expect(is_said).to_be_in_viewport()
    expect(desk.main.get_by_text("Writing…")).to_be_hidden()
    context.set_offline(False)

    expect(is_said).to_have_count(0)
    desk.sees("The end.")
    desk.is_idle()
    sees_each_word_once(desk)


def test_the_conversation_stays_on_the_page_while_the_service_is_away(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "Answered before."}
    desk = Desk(context, own_stack.start_ui())
    desk.ask("Tell me")
    desk.sees("Answered before.")
    desk.is_idle()

    stop_process(own_stack.api)
    expect(away(desk)).to_have_count(1)
    expect(away(desk)).to_be_in_viewport()  # though nobody has touched the page
    desk.ask("And now?")
    desk.sees("back in the composer")
    desk.press("Archived")
    expect(desk.page.get_by_text("The page shows the last known state")).to_have_count(1)
    desk.sees("Answered before.")
    own_stack.start_api()

    expect(away(desk)).to_have_count(0)
    desk.sees("Answered before.")
    expect(desk.composer).to_have_value("And now?")


def test_without_a_worker_the_page_says_so_and_the_message_is_answered_later(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "Answered late."}
    for worker in own_stack.workers:
        stop_process(worker)
    desk = Desk(context, own_stack.start_ui())
    desk.sees("No worker is running")
    desk.ask("Tell me later")
    desk.sees("Waiting for a worker")

    own_stack.start_worker()

    desk.sees("Answered late.")

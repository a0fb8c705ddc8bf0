"""A message that is sent while an answer streams: its place, its turn, taken back."""

from threading import Event

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.desk import Desk, without_end
from tests.fakes import ScriptedModel


@pytest.mark.journey
def test_a_message_sent_meanwhile_waits_and_is_answered_next(desk: Desk, model: ScriptedModel):
    may_end = Event()
    model.steps = lambda messages, body: {
        "text": f"Answer to {messages[-1]['content']}.",
        "until": may_end,
    }
    desk.ask("one")
    desk.sees("Answer to one.")

    desk.ask("two")
    desk.sees("Waiting: 1 turn before it")
    may_end.set()

    desk.sees("Answer to two.")
    desk.is_idle()
    text = desk.main.inner_text()
    assert text.index("Answer to one.") < text.index("two") < text.index("Answer to two.")
    desk.sees_once("Answer to two.")


def test_a_message_sent_meanwhile_is_below_the_answer_at_once_and_taken_back_into_the_composer(
    desk: Desk, model: ScriptedModel
):
    model.steps = without_end("Paragraph 1 of many.")
    desk.ask("one")
    desk.sees("Paragraph 1 of")
    held: list[Route] = []
    desk.on_sending(lambda route: held.append(route), times=1)

    desk.ask("never mind")
    expect(desk.sent_below_the_answer).to_have_text("never mind")
    held[0].continue_()
    desk.sees("Waiting: 1 turn before it")

    desk.is_at_rest()
    desk.composer.fill("Something newer")
    desk.press("Take back")
    desk.sees_not("Waiting: 1 turn before it")
    expect(desk.composer).to_have_value("never mind\n\nSomething newer")
    desk.press("Stop")
    desk.is_idle()
    desk.sees_not("never mind")  # it is in the composer only
    expect(desk.composer).to_have_value("never mind\n\nSomething newer")

"""The live part: it survives reload, a second tab, a click; it stops and retries."""

from threading import Event

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk, slowly
from tests.e2e.twice import held, is_waited
from tests.fakes import ScriptedModel
from tests.integration.scenes import Gate, make_session, tool_domain
from tests.stack import Stack

LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60)) + "\n\nThe end."


@pytest.mark.journey
def test_a_reload_in_the_middle_goes_on_without_gap_or_repeat(desk: Desk, model: ScriptedModel):
    model.steps = slowly(LONG)
    desk.ask("Tell me")
    desk.sees("Paragraph 3 of")

    desk.page.reload()

    desk.sees("Paragraph 3 of", "The end.")
    desk.is_idle()
    for number in (0, 1, 5, 30, 59):
        desk.sees_once(f"Paragraph {number} of the answer.")


def test_a_second_tab_follows_the_same_turn_and_notices_the_next_one(
    desk: Desk, model: ScriptedModel
):
    model.steps = slowly(LONG)
    desk.ask("Tell me")
    desk.sees("Paragraph 3 of")
    first = desk.page

    second = desk.open(desk.query)

    desk.sees("Paragraph 5 of", "The end.")
    desk.sees_once("Paragraph 5 of the answer.")
    desk.is_idle()
    desk.page = first
    desk.is_idle()
    model.steps = lambda messages, body: {"text": "Short answer."}
    desk.ask("Second")
    desk.page = second
    desk.sees("Second", "Short answer.")


@pytest.mark.journey
def test_a_failed_turn_says_why_is_marked_in_the_list_and_retry_answers_it(
    desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"status": 401, "text": "no such key"}
    desk.ask("Tell me")
    retry = desk.page.get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    expect(desk.main.get_by_role("alert")).to_be_visible()
    desk.is_marked(desk.session_id, "failed")
    model.steps = lambda messages, body: {"text": "Here it is."}

    retry.click()

    desk.sees("Here it is.")
    desk.is_idle()
    expect(retry).to_have_count(0)


def test_clicks_elsewhere_disturb_neither_the_turn_nor_the_draft_which_does_not_travel(
    desk: Desk, model: ScriptedModel
):
    model.steps = slowly(LONG)
    desk.ask("Tell me")
    desk.sees("Paragraph 2 of")
    session = desk.session_id
    desk.composer.fill("my next question")

    desk.new_chat()
    expect(desk.composer).to_have_value("")
    desk.row(session).click()

    desk.sees("Paragraph 2 of", "The end.")
    desk.sees_once("Paragraph 2 of the answer.")
    desk.is_idle()
    expect(desk.composer).to_have_value("my next question")
    desk.composer.press("Enter")
    desk.sees_once("my next question")
    desk.new_chat()
    expect(desk.composer).to_have_value("")
    desk.row(session).click()
    desk.sees("my next question")
    expect(desk.composer).to_have_value("")


def test_a_card_that_was_opened_while_its_tool_runs_stays_open_when_it_has_run_and_its_turn_ends(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    gate, may_end = Gate(), Event()
    with tool_domain(stack, gate.answer, "slow") as (domain, _):
        call = {"name": "slow", "args": {"cost_centre": "CC-1001"}}
        model.steps = [{"tools": [call]}, {"text": "Done.", "until": may_end}]
        desk.open(f"?session={make_session(stack, domain['name'])}")
        desk.sees(domain["name"])
        desk.ask("Tell me")
        desk.sees("running")
        desk.is_at_rest()
        desk.step("slow").click()
        desk.sees('"cost_centre"')

        gate.is_open = True
        desk.sees("Done.", '"cost_centre"', "slow is done")
        desk.is_at_rest()
        desk.sees('"cost_centre"', "slow is done")
        may_end.set()
        desk.is_idle()
        desk.is_at_rest()

        desk.sees('"cost_centre"', "slow is done")


def test_a_long_answer_is_shown_whole_while_it_streams(desk: Desk, model: ScriptedModel):
    may_end = Event()
    long = "\n\n".join(f"Paragraph {number} of the answer." for number in range(1_500))
    model.steps = lambda messages, body: {"text": f"{long}\n\nThe last.", "until": may_end}

    desk.ask("Tell me")

    desk.sees("Paragraph 0 of", "Paragraph 1499 of", "The last.")
    may_end.set()
    desk.is_idle()


@pytest.mark.journey
def test_two_clicks_on_an_example_are_one_session_and_two_enters_one_turn(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "Once."}
    example = desk.main.get_by_role("button", name="What data do you have?")
    with held(stack, "conversations"):
        example.dblclick()
        stack.wait_for(lambda: is_waited(stack), "the click does not arrive")
        expect(example).to_have_count(0)  # it is not offered again
    desk.sees("Once.")
    desk.is_in_a_session()
    desk.is_idle()
    desk.has_no_complaint()
    assert len(model.requests) == 1

    model.steps = lambda messages, body: {"text": "And once more."}
    desk.composer.press("Enter")  # nothing is written yet
    desk.composer.fill("Tell me")
    desk.composer.press("Enter")
    desk.composer.press("Enter")

    desk.sees("And once more.")
    desk.is_idle()
    assert len(model.requests) == 2
    for text in ("Once.", "And once more."):
        desk.sees_once(text)

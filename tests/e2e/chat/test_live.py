"""The live part: it survives reload, a second tab, a click; it stops and retries."""

import re
from threading import Event

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk, slowly, without_end
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


def test_a_second_tab_follows_the_same_turn(desk: Desk, model: ScriptedModel):
    model.steps = slowly(LONG)
    desk.ask("Tell me")
    desk.sees("Paragraph 3 of")

    desk.open(desk.query)

    desk.sees("Paragraph 5 of", "The end.")
    desk.sees_once("Paragraph 5 of the answer.")


def test_an_idle_second_tab_notices_a_turn_that_another_began(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "Short answer."}
    desk.ask("First")
    desk.sees("Short answer.")
    desk.is_idle()
    first = desk.page
    second = desk.open(desk.query)
    desk.sees("Short answer.")
    desk.page = first

    desk.ask("Second")

    desk.page = second
    desk.sees("Second")


@pytest.mark.journey
def test_stop_stops_and_keeps_what_was_said(desk: Desk, model: ScriptedModel):
    model.steps = without_end("What was said so far.")
    desk.ask("Tell me")
    desk.sees("What was said so far.")

    desk.press("Stop")

    desk.is_idle()
    desk.sees("What was said so far.", "Stopped here")
    expect(desk.page.get_by_role("button", name="Retry")).to_be_visible()


@pytest.mark.journey
def test_a_failed_turn_says_why_and_retry_answers_it(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"status": 401, "text": "no such key"}
    desk.ask("Tell me")
    retry = desk.page.get_by_role("button", name="Retry")
    expect(retry).to_be_visible()
    expect(desk.main.get_by_role("alert")).to_be_visible()
    model.steps = lambda messages, body: {"text": "Here it is."}

    retry.click()

    desk.sees("Here it is.")
    desk.is_idle()
    expect(retry).to_have_count(0)


def test_clicks_elsewhere_do_not_disturb_the_turn(desk: Desk, model: ScriptedModel):
    model.steps = slowly(LONG)
    desk.ask("Tell me")
    desk.sees("Paragraph 2 of")
    session = desk.session_id

    desk.new_chat()
    desk.row(session).click()

    desk.sees("Paragraph 2 of", "The end.")
    desk.sees_once("Paragraph 2 of the answer.")


def test_a_draft_stays_while_the_answer_comes_and_does_not_travel(desk: Desk, model: ScriptedModel):
    model.steps = slowly(LONG, delay=0.01)
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")

    desk.composer.fill("my next question")
    desk.sees("The end.")
    desk.is_idle()
    expect(desk.composer).to_have_value("my next question")
    session = desk.session_id
    desk.new_chat()
    expect(desk.composer).to_have_value("")
    desk.row(session).click()

    expect(desk.composer).to_have_value("my next question")
    desk.composer.press("Enter")
    desk.sees_once("my next question")
    desk.new_chat()
    desk.row(session).click()
    desk.sees("my next question")
    expect(desk.composer).to_have_value("")


def test_fifty_clicks_while_an_answer_streams_are_fifty_effects(desk: Desk, model: ScriptedModel):
    pieces = [f"Paragraph {number} of the answer.\n\n" for number in range(3_000)]
    model.steps = slowly("".join(pieces), delay=0.02)
    desk.ask("Tell me")
    desk.sees("Paragraph 1 of")

    for clicks in range(50):
        desk.press("Back to sessions" if clicks % 2 else "Archived")
        shown = "Archived" if clicks % 2 else "Back to sessions"
        expect(desk.page.get_by_role("button", name=shown, exact=True)).to_be_visible()

    desk.press("Stop")
    desk.is_idle()
    desk.sees("Stopped here")
    expect(desk.main.locator(".colloquy-text")).to_have_count(0)
    said = re.findall(r"Paragraph (\d+) of", desk.main.inner_text())
    assert said == [str(number) for number in range(len(said))]


def test_a_card_that_was_opened_stays_open_when_the_turn_ends(desk: Desk, model: ScriptedModel):
    may_end = Event()
    model.steps = lambda messages, body: (
        {"text": "Done.", "until": may_end}
        if messages[-1]["role"] == "tool"
        else {"tools": [{"name": "missing_tool", "args": {"cost_centre": "CC-1001"}}]}
    )
    desk.ask("Tell me")
    desk.sees("Done.", "failed")
    desk.step("missing_tool").click()
    desk.sees('"cost_centre"')

    may_end.set()
    desk.is_idle()
    desk.is_at_rest()

    desk.sees('"cost_centre"')


def test_a_card_that_was_opened_while_its_tool_runs_stays_open_when_it_has_run(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    gate = Gate()
    with tool_domain(stack, gate.answer, "slow") as (domain, _):
        call = {"name": "slow", "args": {"cost_centre": "CC-1001"}}
        model.steps = [{"tools": [call]}, {"text": "Done."}]
        desk.open(f"?session={make_session(stack, domain['name'])}")
        desk.sees(domain["name"])
        desk.ask("Tell me")
        desk.sees("running")
        desk.is_at_rest()
        desk.step("slow").click()
        desk.sees('"cost_centre"')

        gate.is_open = True
        desk.sees("Done.", "slow is done")
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


def test_an_answer_can_be_copied(desk: Desk, model: ScriptedModel):
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    model.steps = lambda messages, body: {"text": "The budget is **much**."}
    desk.ask("Tell me")
    desk.sees("The budget is")
    desk.is_idle()

    desk.main.get_by_role("button", name="Copy", exact=False).click()
    expect(desk.main.get_by_role("button", name="Copied")).to_be_visible()

    assert desk.page.evaluate("navigator.clipboard.readText()") == "The budget is **much**."


def test_a_failed_session_is_marked_in_the_list(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"status": 401, "text": "no such key"}
    desk.ask("Fail")
    expect(desk.page.get_by_role("button", name="Retry")).to_be_visible()

    desk.is_marked(desk.session_id, "failed")


@pytest.mark.journey
def test_two_enters_are_one_turn(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "Once."}
    desk.composer.fill("Tell me")
    desk.composer.press("Enter")
    desk.composer.press("Enter")

    desk.sees("Once.")
    desk.is_idle()
    assert len(re.findall("Once", desk.main.inner_text())) == 1


def test_two_clicks_on_an_example_are_one_session(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "Once."}
    desk.main.get_by_role("button", name="What data do you have?").dblclick()

    desk.sees("Once.")
    desk.is_idle()

    assert len(model.requests) == 1

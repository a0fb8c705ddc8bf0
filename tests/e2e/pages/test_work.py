"""The administrators' page of the present work, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk, slowly
from tests.fakes import ScriptedModel
from tests.stack import Stack

LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(400))


@pytest.mark.journey
def test_a_failed_turn_is_retried_and_a_running_one_is_seen_opened_to_read_and_stopped(
    desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"status": 401, "text": "no such key"}
    desk.ask("Fail for once")
    expect(desk.page.get_by_role("button", name="Retry")).to_be_visible()
    query = desk.query
    desk.administer("Work")
    expect(desk.main.get_by_role("link", name="Fail for once").first).to_be_visible()
    model.steps = lambda messages, body: {"text": "Here it is."}
    desk.press("Retry")
    desk.open(query)
    desk.sees("Here it is.")

    desk.new_chat()
    model.steps = slowly(LONG, delay=0.05)
    desk.ask("Work for long")
    desk.sees("Paragraph 1 of", "step 1")
    session = desk.session_id
    desk.administer("Work")
    link = desk.main.get_by_role("link", name="Work for long").first
    expect(link).to_have_attribute("href", re.compile(f"session={session}&view=read"))
    # In its row: another test's turn may wait on the same page.
    row = link.locator("xpath=ancestor::*[.//button[contains(., 'Stop')]][1]")
    row.get_by_role("button", name="Stop", exact=True).click()
    desk.press("Stop this turn")

    expect(link).to_have_count(0)


def test_the_question_before_draining_outlasts_new_rows(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = slowly(LONG, delay=0.05)
    desk.administer("Work")
    desk.press("Drain")
    ask = desk.page.get_by_role("button", name="Drain this worker")
    expect(ask).to_be_visible()

    headers = {"Prefer": "respond-async"}
    turn = stack.client.post("/chat", json={"message": "Meanwhile"}, headers=headers).json()

    expect(desk.main.get_by_role("link", name="Meanwhile").first).to_be_visible()
    expect(ask).to_be_visible()
    stack.client.post(f"/turns/{turn['turn_id']}/stop")

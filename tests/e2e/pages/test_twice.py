"""On other pages too, what is clicked again, while the first click is worked on, is done once."""

import re
from uuid import uuid4

from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.pages.test_domains import field, open_domains
from tests.e2e.twice import ALL, button, click_twice, count
from tests.fakes import ScriptedModel
from tests.stack import Stack

ON_TWO_PAGES = 61


def test_one_session_goes_on(desk: Desk, stack: Stack, model: ScriptedModel):
    model.steps = [{"text": "Good evening."}]
    old = stack.chat("Good morning.")["session_id"]
    before = count(stack, "conversations")
    desk.open(f"configuration?session={old}")

    click_twice(stack, button(desk, "Continue in a new session"), "conversations")

    desk.sees("Good evening.", "Continued from the session")
    expect(desk.page).not_to_have_url(re.compile(old))
    assert count(stack, "conversations") == before + 1
    desk.open(f"configuration?session={old}")
    desk.press("Continue in a new session")
    desk.sees("Continued from the session")
    assert count(stack, "conversations") == before + 2


def test_one_domain_is_made_saved_and_restored_once(desk: Desk, stack: Stack):
    open_domains(desk)
    desk.press("New domain")
    name = f"desk-{uuid4().hex[:6]}"
    field(desk, "Name").fill(name)
    field(desk, "Name").press("Tab")
    desk.sees("Not saved yet")

    click_twice(stack, button(desk, "Create"), "domains")
    desk.is_told("Saved as version 1")
    expect(button(desk, "Save")).to_be_visible()  # the form of the new domain is drawn
    desk.is_at_rest()
    desk.has_no_complaint()
    field(desk, "Description").fill("In a hurry.")
    field(desk, "Description").press("Tab")
    desk.sees("Not saved yet")
    click_twice(stack, button(desk, "Save"), "domains")

    desk.is_told("Saved as version 2")
    desk.has_no_complaint()
    expect(field(desk, "Name")).to_have_value(name)
    expect(field(desk, "Description")).to_have_value("In a hurry.")

    desk.main.get_by_text("Versions", exact=True).click()
    desk.sees("This is the current version.")
    desk.is_at_rest()
    desk.lies_still()
    desk.main.get_by_role("combobox").last.click()
    desk.page.get_by_role("option").nth(1).click()
    desk.press("Restore version 1")
    click_twice(stack, button(desk, "Restore it"), "domains")

    desk.is_told("Restored: version 3")
    desk.has_no_complaint()
    (made,) = [one for one in stack.client.get("/domains").json()["items"] if one["name"] == name]
    assert stack.client.get(f"/domains/{made['id']}").json()["version"] == 3
    desk.press("All domains")
    desk.press("New domain")
    expect(field(desk, "Name")).to_have_value("")


def test_the_next_page_is_one_page_away(desk: Desk, stack: Stack):
    for _ in range(ON_TWO_PAGES):
        stack.client.post("/sessions", json={"title": "One of many"})
    desk.administer("All sessions")

    click_twice(stack, button(desk, "Older"), "conversations", ALL)
    expect(button(desk, "Newer")).to_be_visible()
    desk.press("Newer")

    expect(button(desk, "Newer")).to_have_count(0)
    desk.has_no_complaint()

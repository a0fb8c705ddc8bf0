"""Domains and configurations in a browser: edited by an admin, drifted from, gone on with."""

import re
from uuid import uuid4

import httpx
from playwright.sync_api import Locator, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

SIGHTS = {
    "Edit": "Built-in tools",
    "Preview": "What a new session keeps as its image",
    "Versions": "This is what the domain is today.",
}


def make_domain(stack: Stack, **template: object) -> JSON:
    answer = stack.client.post("/domains", json={"name": f"desk-{uuid4().hex[:6]}", **template})
    assert answer.status_code == httpx.codes.CREATED, answer.text
    return answer.json()


def field(desk: Desk, label: str) -> Locator:
    return desk.main.get_by_label(label, exact=True)


def open_domains(desk: Desk) -> None:
    desk.administer("Domains")
    desk.sees("What new sessions are made from.")


def test_a_domain_is_edited_and_a_fault_stands_at_its_field(desk: Desk, stack: Stack):
    domain = make_domain(stack, system_prompt="Be brief.")
    open_domains(desk)
    desk.press(domain["name"])
    expect(field(desk, "System prompt")).to_have_value("Be brief.")

    field(desk, "Middleware").fill("- no_such_policy")
    field(desk, "System prompt").fill("Be thorough.")
    desk.press("Save")
    desk.sees("There is no middleware 'no_such_policy'")
    assert stack.client.get(f"/domains/{domain['id']}").json()["version"] == 1
    field(desk, "Middleware").fill("- recent_messages:\n    keep: 10")
    desk.press("Save")

    desk.sees("Saved as version 2")
    saved = stack.client.get(f"/domains/{domain['id']}").json()
    assert saved["system_prompt"] == "Be thorough."
    assert saved["middleware"] == [{"recent_messages": {"keep": 10}}]
    desk.main.get_by_text("Versions", exact=True).click()
    desk.sees("This is what the domain is today.")


def test_a_form_keeps_what_it_holds_from_view_to_view(desk: Desk, stack: Stack):
    middleware = [{"recent_messages": {"keep": 10}}]
    domain = make_domain(stack, system_prompt="Be brief.", middleware=middleware)
    desk.open(f"domains?domain={domain['id']}")
    expect(field(desk, "System prompt")).to_have_value("Be brief.")

    for typed in ("", "Typed and not saved."):
        if typed:
            field(desk, "Description").fill(typed)
        for view in ("Preview", "Versions", "Edit"):
            look_at(desk, view)

        expect(field(desk, "Name")).to_have_value(domain["name"])
        expect(field(desk, "System prompt")).to_have_value("Be brief.")
        expect(field(desk, "Middleware")).to_have_value("- recent_messages:\n    keep: 10\n")
        expect(field(desk, "Description")).to_have_value(typed)
    desk.press("Save")

    desk.sees("Saved as version 2")
    saved = stack.client.get(f"/domains/{domain['id']}").json()
    assert saved["system_prompt"] == "Be brief."
    assert saved["middleware"] == middleware
    assert saved["description"] == "Typed and not saved."


def look_at(desk: Desk, view: str) -> None:
    desk.main.get_by_test_id("stButtonGroup").get_by_role("radio", name=view).click()
    desk.sees(SIGHTS[view])
    desk.is_at_rest()


def test_a_domain_is_copied_archived_and_deleted_after_asking(desk: Desk, stack: Stack):
    domain = make_domain(stack)
    open_domains(desk)

    choose(desk, domain, "Duplicate")
    dialog = desk.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Duplicate").click()
    expect(field(desk, "Name")).to_have_value(f"{domain['name']} (copy)")
    desk.press("All domains")
    choose(desk, domain, "Archive")
    desk.sees(f"{domain['name']} takes no new sessions now")
    choose(desk, domain, "Delete")
    desk.page.get_by_role("button", name="Keep").click()
    expect(desk.main.get_by_role("button", name=domain["name"], exact=True)).to_be_visible()
    choose(desk, domain, "Delete")
    desk.page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    desk.sees(f"{domain['name']} was deleted.")
    assert stack.client.get(f"/domains/{domain['id']}").status_code == httpx.codes.NOT_FOUND


def choose(desk: Desk, domain: JSON, action: str) -> None:
    desk.main.locator(f".st-key-domain-{domain['id']}").get_by_role("button").click()
    desk.page.get_by_role("menuitem", name=action, exact=True).click()


def test_a_session_tells_its_drift_and_goes_on_with_todays_configuration(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    domain = make_domain(stack, system_prompt="You are kind.\nBe brief.")
    model.steps = lambda messages, body: {"text": f"Under: {messages[0]['content'][:13]}"}
    desk.main.get_by_role("combobox").click()
    desk.page.get_by_role("option", name=domain["name"]).click()
    desk.ask("Who are you?")
    desk.sees("Under: You are kind.")
    old = desk.session_id
    change = {"system_prompt": "You are strict.\nBe brief.", "tools": ["list_sources"]}
    stack.client.patch(f"/domains/{domain['id']}", json=change)

    desk.main.locator("a[href*='configuration']").first.click()
    desk.sees("has changed from version 1 to version 2", "You are strict.")
    desk.press("Continue in a new session")

    desk.sees("Who are you?", "Under: You are kind.", "Continued from the session")
    expect(desk.page).not_to_have_url(re.compile(old))
    desk.ask("And now?")
    desk.sees("Under: You are stric")
    assert len(stack.messages(old)) == 2

"""Domains and configurations in a browser: edited by an admin, drifted from, gone on with."""

import re
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Locator, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

SIGHTS = {
    "Form": "People choose it when they start a chat.",
    "YAML": "The same as the form, as text.",
    "Dry run": "What would the model be sent?",
    "Versions": "This is the current version.",
}


def make_domain(stack: Stack, **template: object) -> JSON:
    answer = stack.client.post("/domains", json={"name": f"desk-{uuid4().hex[:6]}", **template})
    assert answer.status_code == httpx.codes.CREATED, answer.text
    return answer.json()


def field(desk: Desk, label: str) -> Locator:
    return desk.main.get_by_label(label, exact=True)


def open_domains(desk: Desk) -> None:
    desk.administer("Domains")
    desk.sees("Templates for new sessions.")


def open_tab(desk: Desk, name: str) -> None:
    desk.main.get_by_role("tab", name=name, exact=True).click()
    desk.is_at_rest()


@pytest.mark.journey
def test_a_domain_is_edited_and_a_fault_stands_at_its_field(desk: Desk, stack: Stack):
    domain = make_domain(stack, system_prompt="Be brief.")
    open_domains(desk)
    desk.press(domain["name"])
    expect(field(desk, "System prompt")).to_have_value("Be brief.")

    field(desk, "System prompt").fill("Be thorough.")
    open_tab(desk, "Middleware")
    desk.press("Add middleware")
    desk.press("Recent messages")
    desk.main.get_by_text("Settings", exact=True).click()
    field(desk, "Keep").fill("300")
    desk.press("Save")
    desk.sees("Keep must not be larger than trigger.")
    assert stack.client.get(f"/domains/{domain['id']}").json()["version"] == 1
    field(desk, "Keep").fill("10")
    desk.press("Save")

    desk.is_told("Saved as version 2")
    saved = stack.client.get(f"/domains/{domain['id']}").json()
    assert saved["system_prompt"] == "Be thorough."
    assert saved["middleware"] == [{"recent_messages": {"keep": 10}}]
    desk.main.get_by_text("Versions", exact=True).click()
    desk.sees("This is the current version.")


def test_a_form_with_changes_is_not_left_without_a_question(desk: Desk, stack: Stack):
    domain = make_domain(stack)
    asked: list[str] = []
    open_domains(desk)
    desk.press(domain["name"])
    prompt = field(desk, "System prompt")
    desk.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))

    def leave() -> None:
        with desk.page.expect_event("dialog"):
            desk.page.evaluate("location.reload()")

    prompt.fill("Be thorough.")  # the field is not left yet
    expect(desk.main.get_by_text(re.compile("to apply$"))).to_be_visible()
    leave()
    prompt.blur()
    expect(desk.main.get_by_text("Not saved yet")).to_be_visible()
    leave()

    assert asked == ["beforeunload"] * 2
    expect(prompt).to_have_value("Be thorough.")
    desk.press("Save")
    desk.is_told("Saved as version 2")
    expect(desk.main.get_by_role("button", name="Discard")).to_have_count(0)
    desk.page.reload()
    assert asked == ["beforeunload"] * 2


def test_a_name_too_long_or_a_number_too_large_stays_in_its_field_and_is_refused_there(
    desk: Desk, stack: Stack
):
    domain = make_domain(stack)
    open_domains(desk)
    desk.press("New domain")
    name = "n" * 81
    field(desk, "Name").fill(name)
    field(desk, "Name").press("Tab")
    desk.press("Create")
    desk.sees("This is too long: at most 80 characters are allowed.")
    expect(field(desk, "Name")).to_have_value(name)

    desk.open(f"domains?domain={domain['id']}")
    open_tab(desk, "Limits")
    expect(field(desk, "Days without activity")).to_have_attribute("placeholder", "The default")
    field(desk, "Tokens").fill("12345678901234567890")
    field(desk, "Steps").fill("2.5")
    field(desk, "Cost").fill("0.0004")
    field(desk, "Cost").press("Tab")
    desk.press("Save")
    desk.sees("This must be at most 9,007,199,254,740,991.")
    desk.sees("Write a whole number here.")
    expect(field(desk, "Steps")).to_have_value("2.5")
    expect(field(desk, "Cost")).to_have_value("0.0004")
    field(desk, "Tokens").fill("12000")
    field(desk, "Steps").fill("7")
    field(desk, "Steps").press("Tab")
    desk.press("Save")
    desk.is_told("Saved as version 2")
    limits = stack.client.get(f"/domains/{domain['id']}").json()["limits"]
    assert (limits["tokens"], limits["steps"], limits["cost"]) == (12000, 7, 0.0004)


def test_a_domain_that_is_opened_again_shows_what_is_stored(desk: Desk, stack: Stack):
    domain = make_domain(stack, system_prompt="Be brief.", description="For tests.")
    open_domains(desk)
    for _ in range(3):
        desk.main.get_by_role("button", name=domain["name"], exact=True).dblclick()
        expect(field(desk, "System prompt")).to_be_visible()
        desk.is_at_rest()

        expect(field(desk, "System prompt")).to_have_value("Be brief.")
        expect(field(desk, "Description")).to_have_value("For tests.")
        expect(field(desk, "Name")).to_have_value(domain["name"])
        desk.press("All domains")


def test_form_and_yaml_keep_what_was_typed_and_faults_have_their_line(desk: Desk, stack: Stack):
    middleware = [{"recent_messages": {"keep": 10}}]
    domain = make_domain(stack, system_prompt="Be brief.", middleware=middleware)
    desk.open(f"domains?domain={domain['id']}")
    expect(field(desk, "System prompt")).to_have_value("Be brief.")

    field(desk, "Description").fill("Typed and not saved.")
    for view in ("Versions", "Dry run", "YAML"):
        look_at(desk, view)
    yaml = desk.main.get_by_role("textbox", name="YAML")
    expect(yaml).to_have_value(re.compile("description: Typed and not saved.\n"))
    yaml.fill(yaml.input_value().replace("keep: 10", "keep: 0"))
    yaml.press("Control+Enter")
    desk.sees("Line 6", "This must be at least 1.")
    yaml.fill(yaml.input_value().replace("keep: 0", "keep: 20"))
    look_at(desk, "Form")
    expect(field(desk, "Description")).to_have_value("Typed and not saved.")
    open_tab(desk, "Middleware")
    expect(field(desk, "Keep")).to_have_value("20")
    desk.press("Save")

    desk.is_told("Saved as version 2")
    saved = stack.client.get(f"/domains/{domain['id']}").json()
    assert saved["middleware"] == [{"recent_messages": {"keep": 20}}]
    assert saved["description"] == "Typed and not saved."


def test_a_new_domain_is_tried_before_it_is_made(desk: Desk, stack: Stack, model: ScriptedModel):
    name = f"desk-{uuid4().hex[:6]}"
    with ToolServer([tool("look", description="Looks around.")], lambda *_: "seen") as server:
        open_domains(desk)
        desk.press("New domain")
        field(desk, "System prompt").fill("You are kind.")
        open_tab(desk, "Tools")
        desk.press("Add tool server")
        field(desk, "Address").fill(server.template["url"])
        desk.press("Check which tools answer")
        desk.sees("Looks around.")
        asked = len(model.requests)
        look_at(desk, "Dry run")
        desk.press("Show it")
        desk.sees("You are kind.", "What can you do?")
        tools = desk.main.get_by_test_id("stExpander").filter(has_text="look")
        expect(tools.first).to_be_visible()
        assert len(model.requests) == asked

        desk.main.get_by_role("radio", name="Form").click()
        desk.sees("Programs that offer tools")
        desk.press("Create")
        desk.sees("name: Give it a name.")
        open_tab(desk, "Basics")
        field(desk, "Name").fill(name)
        desk.press("Create")
        desk.is_told("Saved as version 1")

    found = stack.client.get("/domains?limit=200").json()["items"]
    (made,) = [each for each in found if each["name"] == name]
    assert made["middleware"] == ["summarization", "title"]
    assert list(made["mcp_servers"]) == ["server"]


def test_a_domain_deleted_meanwhile_is_told_with_the_way_back_to_the_others(
    desk: Desk, stack: Stack
):
    domain = make_domain(stack)
    desk.open(f"domains?domain={domain['id']}")
    expect(field(desk, "Name")).to_have_value(domain["name"])
    stack.client.delete(f"/domains/{domain['id']}")

    desk.page.reload()

    desk.sees("This domain does not exist, or no longer.")
    desk.press("All domains")
    desk.sees("Templates for new sessions.")


def test_a_faulty_domain_is_not_tried_and_the_fault_is_in_plain_words(desk: Desk, stack: Stack):
    server = {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp"}
    domain = make_domain(stack, mcp_servers={"s": server})
    desk.open(f"domains?domain={domain['id']}")
    open_tab(desk, "Tools")
    field(desk, "Seconds to connect").fill("0")

    desk.press("Check which tools answer")
    desk.sees("Invalid input. mcp_servers / s / connect_seconds: This must be more than 0.")
    look_at(desk, "Dry run")
    desk.press("Show it")

    desk.sees("Invalid input. mcp_servers / s / connect_seconds: This must be more than 0.")


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
    desk.is_told(f"{domain['name']} no longer accepts new sessions")
    choose(desk, domain, "Delete")
    desk.page.get_by_role("button", name="Keep").click()
    expect(desk.main.get_by_role("button", name=domain["name"], exact=True)).to_be_visible()
    choose(desk, domain, "Delete")
    desk.page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    desk.is_told(f"{domain['name']} was deleted.")
    assert stack.client.get(f"/domains/{domain['id']}").status_code == httpx.codes.NOT_FOUND


def choose(desk: Desk, domain: JSON, action: str) -> None:
    desk.main.locator(f".st-key-domain-{domain['id']}").get_by_role("button").click()
    desk.page.get_by_role("menuitem", name=action, exact=True).click()


@pytest.mark.journey
def test_a_session_tells_its_drift_and_goes_on_with_todays_configuration(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    domain = make_domain(stack, system_prompt="You are kind.\nBe brief.")
    model.steps = lambda messages, body: {"text": f"Under: {messages[0]['content'][:13]}"}
    desk.choose_domain(domain["name"])
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

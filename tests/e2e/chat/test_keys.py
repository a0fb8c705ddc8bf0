"""What keys do: Escape stops the turn that runs, and ? lists all others."""

from playwright.sync_api import expect

from tests.e2e.desk import Desk, without_end
from tests.fakes import ScriptedModel


def test_escape_stops_the_turn_but_not_while_it_closes_something(desk: Desk, model: ScriptedModel):
    model.steps = without_end("What was said so far.")
    desk.ask("Tell me")
    desk.sees("What was said so far.")
    stop = desk.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()

    desk.item(desk.session_id).locator(".more").click()
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_role("menuitem", name="Rename")).to_have_count(0)
    desk.choose(desk.session_id, "Rename")
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("?")
    expect(desk.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_role("dialog")).to_have_count(0)
    expect(stop).to_be_visible()
    desk.composer.press("Escape")

    desk.is_idle()
    desk.sees("What was said so far.", "Stopped here")


def test_the_list_of_shortcuts_opens_by_key_and_by_button_and_not_while_one_writes(desk: Desk):
    desk.composer.press_sequentially("Really?")
    expect(desk.composer).to_have_value("Really?")
    expect(desk.page.get_by_role("dialog")).to_have_count(0)

    desk.press("Keyboard shortcuts")
    listed = desk.page.get_by_role("dialog", name="Keyboard shortcuts")
    for key in ("Ctrl+K", "Ctrl+Shift+O", "Shift+Enter", "Esc", "F2"):
        expect(listed.get_by_text(key, exact=True).first).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(listed).to_have_count(0)
    desk.main.get_by_role("heading").first.click()
    desk.page.keyboard.press("?")

    expect(listed).to_be_visible()

"""The form of a domain by keyboard alone: what is pressed does not lose the focus."""

from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.pages.test_domains import make_domain, open_domains, open_tab
from tests.e2e.twice import button
from tests.stack import Stack


def test_a_row_that_is_added_moved_or_removed_by_key_keeps_the_focus(desk: Desk, stack: Stack):
    domain = make_domain(stack, agents=[{"name": "first"}, {"name": "second"}])
    open_domains(desk)
    desk.press(domain["name"])
    open_tab(desk, "Agents")

    button(desk, "Add agent").press("Enter")
    desk.sees("Agent 3")
    expect(button(desk, "Add agent")).to_be_focused()
    button(desk, "Move agent 1 down").press("Enter")
    expect(button(desk, "Move agent 2 down")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(button(desk, "Move agent 3 up")).to_be_focused()
    button(desk, "Remove agent 1").press("Enter")
    desk.sees_not("Agent 3")
    expect(button(desk, "Remove agent 1")).to_be_focused()
    desk.page.keyboard.press("Enter")
    desk.sees_not("Agent 2")
    expect(button(desk, "Remove agent 1")).to_be_focused()
    desk.page.keyboard.press("Enter")

    expect(button(desk, "Add agent")).to_be_focused()

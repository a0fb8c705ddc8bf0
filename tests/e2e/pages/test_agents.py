"""Agents in a browser: who there is, and the manager that a domain is given."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.integration.scenes import make_domain
from tests.stack import Stack


def test_the_page_says_who_does_what_with_which_tools_for_whom(desk: Desk, stack: Stack) -> None:
    domain = make_domain(
        stack,
        model="thorough",
        manager={"description": "Answers and delegates."},
        agents=[
            {"name": "Reconciler", "description": "Compares ledgers.", "tools": ["query_source"]},
            {"name": "Writer", "description": "Writes.", "roles": ["admin", "editor"]},
            {"name": "Auditor", "roles": ["auditor"]},
        ],
    )
    desk.press("Agents")

    of_domain = desk.main.locator(f".st-key-agents-of-{domain['id']}")
    expect(of_domain.get_by_role("heading", name=domain["name"])).to_be_visible()
    for words in ("Sage", "Manager", "Answers and delegates.", "Compares ledgers.", "query_source"):
        expect(of_domain.get_by_text(words, exact=words == "Sage").first).to_be_visible()
    expect(of_domain.get_by_text("For admin, editor")).to_be_visible()
    expect(of_domain.get_by_text("thorough").first).to_be_visible()
    expect(of_domain.get_by_text("Auditor")).to_have_count(0)


@pytest.mark.journey
def test_a_domain_is_given_a_manager_and_its_agents_roles(desk: Desk, stack: Stack) -> None:
    domain = make_domain(stack, agents=[{"name": "Reconciler"}])
    desk.open(f"domains?domain={domain['id']}")
    _open_tab(desk, "Manager")
    desk.main.get_by_text("This domain has a manager", exact=True).click()
    name = desk.main.get_by_label("Name", exact=True)
    name.fill("reconciler")
    desk.press("Save")
    desk.sees("The manager and an agent have the same name")
    name.fill("Sibyl")
    desk.main.get_by_label("Recent messages", exact=True).fill("30")
    desk.main.get_by_text("Approve plans", exact=True).click()
    desk.is_at_rest()
    _open_tab(desk, "Agents")
    desk.main.get_by_role("combobox", name="For whom").press_sequentially("auditor")
    desk.page.keyboard.press("Enter")
    desk.page.keyboard.press("Escape")
    desk.is_at_rest()
    desk.press("Save")
    desk.is_told("Saved as version 2")
    saved = stack.client.get(f"/domains/{domain['id']}").json()
    given = {key: saved["manager"][key] for key in ("name", "recent_messages", "approve_plans")}
    assert given == {"name": "Sibyl", "recent_messages": 30, "approve_plans": True}
    assert saved["agents"][0]["roles"] == ["auditor"]

    _open_tab(desk, "Manager")
    desk.main.get_by_text("This domain has a manager", exact=True).click()
    desk.is_at_rest()
    desk.press("Save")

    desk.is_told("Saved as version 3")
    assert stack.client.get(f"/domains/{domain['id']}").json()["manager"] is None


def _open_tab(desk: Desk, name: str) -> None:
    desk.main.get_by_role("tab", name=name, exact=True).click()
    desk.is_at_rest()

"""A person meets the end of a budget, sees what was used, and goes on; an admin reads the sum."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack


def test_a_session_at_its_budgets_end_says_so_and_leads_on(desk: Desk, stack: Stack):
    domain = make_domain(stack, limits={"conversation_tokens": 100})
    session_id = make_session(stack, domain["name"], "A short talk")
    desk.open(f"?session={session_id}")
    desk.ask(script({"think": "So it is.", "text": "word " * 400}))
    desk.sees("word word")
    desk.is_idle()

    desk.ask("And now?")

    desk.sees("Session budget used up", "of the 100 tokens", "Continue in a new session")
    expect(desk.page.get_by_role("button", name="Retry")).to_have_count(0)

    desk.press("Usage")
    used = desk.opened("Usage")
    expect(used.get_by_text("1 model call", exact=False)).to_be_visible()
    expect(used.get_by_text("This session:", exact=False)).to_be_visible()
    columns = used.get_by_role("columnheader", include_hidden=True)
    expect(columns.filter(has_text="Took")).to_have_count(1)
    expect(columns.filter(has_text="Cost")).to_have_count(0)  # the model has no price
    desk.page.keyboard.press("Escape")

    desk.main.get_by_role("link", name="Continue in a new session").click()
    desk.press("Continue in a new session")
    desk.sees("word word")
    assert desk.session_id != session_id


@pytest.mark.journey
def test_an_administrator_reads_what_was_used(desk: Desk, stack: Stack):
    domain = make_domain(stack, limits={"domain_tokens_per_month": 5000})
    stack.chat(script({"text": "word " * 40}), make_session(stack, domain["name"]))

    desk.administer("Usage")

    desk.sees("Tokens in", "Budgets this month", f"{domain['name']}:")
    expect(desk.main.get_by_test_id("stDataFrame")).to_be_visible()
    expect(desk.main.get_by_test_id("stVegaLiteChart")).to_be_visible()
    desk.main.get_by_test_id("stButtonGroup").get_by_text("Model", exact=True).click()
    with desk.page.expect_download() as download:
        desk.press("Download by model, as CSV")
    assert "scripted" in download.value.path().read_text()

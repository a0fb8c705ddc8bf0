"""An administrator invites somebody, reads their session with a reason, and switches them off."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from backend.auth import local
from backend.schemas.people.account import LinkPurpose
from db.session import Database
from tests.conftest import make_stack
from tests.e2e.conftest import open_context
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel, script
from tests.integration.people.people import PASSWORD
from tests.stack import Servers, Stack

ADMIN, PERSON, REASON = "Ada Lovelace", "Grace Hopper", "She asked for help with it"


@pytest.fixture
def accounts(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """An installation where people sign in."""
    with make_stack(servers, model, tmp_path, AUTH="local") as stack:
        yield stack


def first_admin(stack: Stack) -> str:
    """Return the token of the first administrator's sign-in."""
    with closing(Database(stack.database_url)) as database, database.transaction() as session:
        link = local.make_link(session, LinkPurpose.FIRST_ADMIN, None)
    body = {"name": ADMIN, "login": "ada", "password": PASSWORD}
    answer = stack.client.post(f"/one-time-links/{link}", json=body)
    return str(answer.raise_for_status().json()["token"])


@pytest.mark.journey
def test_a_person_is_invited_reviewed_and_disabled(accounts: Stack, browser: Browser) -> None:
    url, token = accounts.start_ui(), first_admin(accounts)
    with open_context(browser) as of_admin, open_context(browser) as of_person:
        of_admin.add_cookies([{"name": "colloquy", "value": token, "url": url}])
        admin, person = Desk(of_admin, url), Desk(of_person, url)
        follows(person, invites(admin))
        person.ask(script({"text": "The answer is 42."}))
        person.sees("The answer is 42.")

        reviews(admin)
        viewed = person.main.get_by_role("button", name="Viewed once")
        viewed.click()
        seen = person.opened("Viewed once")
        expect(seen).to_contain_text(f"Viewed by {ADMIN} on")
        expect(seen).to_contain_text(REASON)

        accounts.query_and_commit("UPDATE reviews SET ends_at = clock_timestamp()")
        admin.sees("Read somebody else's session")
        admin.sees_not("The answer is 42.")

        disables(admin)
        expect(person.page).to_have_url(re.compile("/sign-in"), timeout=10_000)


def invites(admin: Desk) -> str:
    """Invite the person; return the link that is shown once."""
    admin.administer("People")
    admin.press("Invite a person")
    dialog = admin.page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(PERSON)
    dialog.get_by_role("button", name="Invite", exact=True).click()
    expect(dialog).to_contain_text("will not be shown again")
    link = dialog.get_by_test_id("stCode").inner_text().strip()
    dialog.get_by_role("button", name="Close").click()
    return link


def follows(person: Desk, link: str) -> None:
    """Follow the link, choose a name and a password, and be in."""
    person.page = person.context.new_page()
    person.page.goto(link)
    person.page.get_by_label("Name to sign in with").fill("grace")
    for label in ("New password", "The same password again"):
        person.page.get_by_label(label).fill(PASSWORD)
    person.page.get_by_role("button", name="Save and sign in").click()
    person.sees("What would you like to know?")


def reviews(admin: Desk) -> None:
    """Open the person's session from the list of everyone's, and say why."""
    admin.administer("All sessions")
    table = admin.main.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    admin.is_at_rest()
    table.click(position={"x": 12, "y": 52})
    admin.sees("Read somebody else's session")
    admin.sees_not("The answer is 42.")
    admin.main.get_by_label("Reason").fill(REASON)
    admin.press("Read it")
    admin.sees("The answer is 42.", "In review until", f"Read only · {PERSON}")
    expect(admin.composer).to_have_count(0)


def disables(admin: Desk) -> None:
    """Choose the person in the list, and switch them off."""
    admin.administer("People")
    table = admin.main.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    admin.is_at_rest()
    table.click(position={"x": 12, "y": 87})  # by name: Ada, then Grace
    dialog = admin.page.get_by_role("dialog")
    expect(dialog).to_contain_text(PERSON)
    dialog.get_by_role("button", name="Disable…").click()
    dialog.get_by_role("button", name="Disable", exact=True).click()
    admin.is_told(f"{PERSON} is disabled")

"""An administrator connects a provider that is not ours, and somebody comes in by it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.conftest import GENTLE, make_stack
from tests.e2e.people.people import Person, printed_link, take_link
from tests.fakes import ScriptedModel
from tests.processes import free_port
from tests.servers.iam import canaille, register
from tests.stack import Servers, Stack

PASSWORD = "correct horse battery"
ADA = {
    "user_name": "ada", "password": PASSWORD, "given_name": "Ada", "family_name": "Lovelace",
    "formatted_name": "Ada Lovelace", "emails": ["ada@example.com"],
}  # fmt: skip


@pytest.fixture
def company(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack whose people sign in with passwords and providers; those may be on this machine."""
    ways = {"AUTH": "local,oidc", "OUTGOING_ALLOWED": "localhost", "UI_PORT": str(free_port())}
    with make_stack(servers, model, tmp_path, **ways, **GENTLE) as stack:
        yield stack


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[str]:
    with canaille(tmp_path, ADA) as running:
        yield running


def sign_in_at_canaille(page: Page) -> None:
    """Write name and password, and consent."""
    page.get_by_role("textbox", name=re.compile("login|email|user", re.I)).first.fill("ada")
    page.keyboard.press("Enter")
    page.locator("input[type=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Accept").click()


def test_somebody_comes_in_by_the_provider_that_an_administrator_has_connected(
    company: Stack, issuer: str, contexts: list[BrowserContext]
) -> None:
    url = company.start_ui(port=int(company.environment["UI_PORT"]))
    token = take_link(company, printed_link(company), "admin")
    contexts[0].add_cookies([{"name": "colloquy", "value": token, "url": url}])
    admin, ada = (Person(context, url) for context in contexts)
    client = register(issuer, f"{url}/sign-in/oidc/company/answer")

    admin.visit("signing-in")
    given = {
        "Id": "company",
        "Name": "Example Ltd",
        "Issuer": client["issuer"],
        "Client id": client["client_id"],
        "Client secret": client["client_secret"],
    }
    for label, value in given.items():
        field = admin.main.get_by_label(label, exact=True)
        field.fill(value)
        field.press("Tab")
    admin.sees(f"{url}/sign-in/oidc/company/answer")
    admin.press("Test")
    admin.sees(re.compile("knows this client"))
    admin.press("Add")
    admin.sees("Example Ltd was saved, for sign-ins from now on.")
    expect(admin.main.get_by_label("Client secret", exact=True)).to_have_value("")

    ada.visit("data")
    ada.page.get_by_role("link", name="Continue with Example Ltd").click()
    sign_in_at_canaille(ada.page)
    ada.is_here("Ada Lovelace")
    expect(ada.page).to_have_url(f"{url}/data")
    ada.sign_out("Ada Lovelace")
    ada.is_out()

"""What axe-core finds on the pages that are there where people sign in, in both themes."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.conftest import make_stack
from tests.e2e.accessibility import axe
from tests.e2e.desk import Desk
from tests.e2e.pages.test_people import first_admin
from tests.fakes import ScriptedModel, script
from tests.stack import Servers, Stack


@pytest.fixture(scope="module")
def accounts(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """An installation where people sign in."""
    home = tmp_path_factory.mktemp("accounts")
    with make_stack(servers, model, home, AUTH="local,oidc") as stack:
        yield stack


@pytest.fixture(scope="module")
def signed_in(accounts: Stack) -> tuple[str, str]:
    """The pages' address, and the token of an administrator, who has asked something."""
    token = first_admin(accounts)
    accounts.client.headers["Authorization"] = f"Bearer {token}"
    accounts.chat(script({"text": "An answer."}))
    for path, name in (("people", "Grace"), ("teams", "Controllers")):
        accounts.client.post(f"/{path}", json={"name": name}).raise_for_status()
    provider = {"issuer": "https://login.example.com", "client_id": "colloquy"}
    provider |= {"id": "company", "name": "Example Ltd"}
    accounts.client.post("/identity-providers", json=provider).raise_for_status()
    return accounts.start_ui(), token


@pytest.fixture
def admin(context: BrowserContext, signed_in: tuple[str, str]) -> Desk:
    url, token = signed_in
    context.add_cookies([{"name": "colloquy", "value": token, "url": url}])
    return Desk(context, url)


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize(
    "path", ["people", "teams", "grants", "audit", "sessions", "account", "signing-in"]
)
def test_no_page_of_accounts_keeps_anybody_out(admin: Desk, path: str, width: int) -> None:
    page = admin.open(path)
    page.set_viewport_size({"width": width, "height": 900})
    admin.is_at_rest()

    assert list(axe.faults(page)) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def inviting(admin: Desk) -> None:
    admin.press("Invite a person")


def choosing(admin: Desk) -> None:
    table = admin.main.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    admin.is_at_rest()
    table.click(position={"x": 12, "y": 52})


@pytest.mark.parametrize(
    ("path", "open_it"), [("people", inviting), ("people", choosing), ("teams", choosing)]
)
def test_no_dialog_of_accounts_keeps_anybody_out(
    admin: Desk, path: str, open_it: Callable[[Desk], None]
) -> None:
    page = admin.open(path)
    open_it(admin)
    expect(page.get_by_role("dialog")).to_be_visible()
    admin.is_at_rest()
    admin.lies_still()

    assert list(axe.faults(page)) == []

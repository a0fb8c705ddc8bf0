"""A desk where people sign in, with an administrator, and browsers of other people."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.conftest import GENTLE, make_stack
from tests.e2e.conftest import open_context
from tests.e2e.people.people import Office, printed_link, take_link
from tests.fakes import ScriptedModel
from tests.stack import Servers


@pytest.fixture(scope="package")
def office(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Office]:
    """Pages on which people sign in; the first administrator has."""
    home = tmp_path_factory.mktemp("office")
    with make_stack(servers, model, home, AUTH="local", **GENTLE) as stack:
        url = stack.start_ui()
        yield Office(stack, url, take_link(stack, printed_link(stack), "ada"))


@pytest.fixture
def contexts(browser: Browser) -> Iterator[list[BrowserContext]]:
    """Two people's browsers."""
    opened = [open_context(browser), open_context(browser)]
    yield opened
    for context in opened:
        context.close()

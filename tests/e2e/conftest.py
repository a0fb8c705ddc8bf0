"""What the tests in a browser share: one Chromium, a context for each test, the pages' address."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from launch.browser import find_browser, sandbox_flags
from tests.conftest import make_stack
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Servers, Stack

PATIENCE_MS = 45_000  # a loaded machine is slow; what is well takes a moment


# Not for the whole run: while Playwright is open, no other test may run an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A person's browser: its tabs share nothing with those of other tests."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900},
        timezone_id="Europe/Berlin",
        reduced_motion="reduce",  # what turns for ever is drawn for ever
    )
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture(scope="session")
def demo_url(demo_stack: Stack) -> str:
    return demo_stack.start_ui()


@pytest.fixture(scope="session")
def shared_stack(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Apart from the one of the other tests, whose sessions would be on everybody's pages."""
    with make_stack(servers, model, tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="session")
def scripted_url(shared_stack: Stack) -> str:
    return shared_stack.start_ui()


@pytest.fixture
def demo_desk(context: BrowserContext, demo_url: str) -> Desk:
    """The pages over the demo model."""
    return Desk(context, demo_url)


@pytest.fixture
def desk(context: BrowserContext, stack: Stack, scripted_url: str) -> Desk:
    """The pages over the scripted model."""
    return Desk(context, scripted_url)

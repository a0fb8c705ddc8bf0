"""What the tests in a browser share: a Chromium and a context by module, the pages' address."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, expect, sync_playwright

from launch.browser import find_browser, sandbox_flags
from tests.conftest import GENTLE, make_stack
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Servers, Stack

PATIENCE_MS = 45_000  # a loaded machine is slow; what is well takes a moment


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print what was on the pages when a test failed."""
    report = yield
    if report.when == "call" and report.failed:
        for desk in getattr(item, "funcargs", {}).values():
            if isinstance(desk, Desk):
                report.sections.append(("page", _content(desk)))
    return report


def _content(desk: Desk) -> str:
    app = desk.page.get_by_test_id("stApp")
    try:
        state = app.get_attribute("data-test-script-state", timeout=1_000)
        return f"{desk.page.url} {state}\n{desk.page.locator('body').aria_snapshot(timeout=5_000)}"
    except Error as problem:
        return str(problem)


# Not for the whole run: while Playwright is open, no other test may run an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=[
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--process-per-site",  # a page opens in the renderer that has read the scripts
                # No page lives long enough for better code to pay. What is parsed while it arrives
                # is parsed for each page. Threads that collect garbage wake for little.
                "--js-flags=--no-opt,--no-maglev,--no-script-streaming,--single-threaded-gc",
                *sandbox_flags(),
            ],
        )
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A person's browser of one's own, for tests that change it or open other addresses."""
    context = open_context(browser)
    yield context
    context.close()


@pytest.fixture(scope="module")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """The person's browser that the desks of a module share, one after the other."""
    context = open_context(browser)
    yield context
    context.close()


def open_context(browser: Browser) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": 1280, "height": 900},
        timezone_id="Europe/Berlin",
        reduced_motion="reduce",  # what turns for ever is drawn for ever
    )
    context.set_default_timeout(PATIENCE_MS)
    return context


@contextmanager
def desk_in(context: BrowserContext, url: str) -> Iterator[Desk]:
    """A desk whose tabs are closed at the end, and that leaves nothing in the browser."""
    if not context.pages:  # without a page the renderer ends, and the next one reads all again
        context.new_page().goto(f"{url}/_stcore/health")
    yield Desk(context, url)
    for page in context.pages[1:]:
        page.close()
    # Not `set_storage_state({})`: it empties the cache, and each page would read all again.
    context.clear_cookies()
    stored = {"origin": url, "storageTypes": "local_storage,indexeddb"}
    context.new_cdp_session(context.pages[0]).send("Storage.clearDataForOrigin", stored)
    context.clear_permissions()


@pytest.fixture(scope="module")
def demo_url(demo_stack: Stack) -> str:
    return demo_stack.start_ui()


@pytest.fixture(scope="package")
def shared_stack(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Apart from the one of the other tests, whose sessions would be on everybody's pages."""
    with make_stack(servers, model, tmp_path_factory.mktemp("pages"), **GENTLE) as running:
        yield running


@pytest.fixture(scope="package")
def scripted_url(shared_stack: Stack) -> str:
    return shared_stack.start_ui()


@pytest.fixture
def demo_desk(shared_context: BrowserContext, demo_url: str) -> Iterator[Desk]:
    """The pages over the demo model."""
    with desk_in(shared_context, demo_url) as desk:
        yield desk


@pytest.fixture
def desk(shared_context: BrowserContext, stack: Stack, scripted_url: str) -> Iterator[Desk]:
    """The pages over the scripted model."""
    with desk_in(shared_context, scripted_url) as desk:
        yield desk


@pytest.fixture
def own_desk(context: BrowserContext, stack: Stack, scripted_url: str) -> Desk:
    """The same in a browser of one's own, for tests that change how it works."""
    return Desk(context, scripted_url)

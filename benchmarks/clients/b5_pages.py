"""Chat pages in one browser: Colloquy's own, and peers built in other ways.

The peers: a Streamlit script that streams the model's answer itself (`peers/streamlit_chat.py`), a
fragment that draws what a thread collects (`peers/fragments_chat.py`), and Chainlit
(`peers/chainlit_chat.py`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.measures.b10_viewers import cpu_seconds
from benchmarks.peers import environments
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.processes import free_port, stop_process
from tests.stack import Stack

_Served = AbstractContextManager[tuple[str, psutil.Process]]
PEERS = Path(__file__).parent.parent / "peers"
PATIENCE = 20.0
WATCH = """
(() => {
  window.pressed = 0; window.seen = {};
  document.addEventListener('keydown', e => {
    if (e.key === 'Enter') window.pressed = performance.now();
  }, true);
  // Messages only, because the composer's text is on the page, too.
  const MESSAGES = '.cq-message, [data-testid="stChatMessage"], [data-step-type]';
  new MutationObserver(() => {
    const now = performance.now();
    for (const message of document.querySelectorAll(MESSAGES))
      for (const [words] of message.textContent.matchAll(/Token\\d+x|question \\d+/g))
        window.seen[words] ??= now;
  }).observe(document, {childList: true, subtree: true, characterData: true});
})();
"""


class PeerPage:
    """A chat page of a peer, and the process that serves it."""

    def __init__(self, page: Page, server: psutil.Process) -> None:
        self.page = page
        self._server = server

    def enter(self, run: int) -> tuple[float, float]:
        """Return the seconds from Enter to the user's own message, and to the first token."""
        self.page.bring_to_front()
        self._ask(f"question {run}")
        words, token = (self._seen(text) for text in (f"question {run}", f"Token{run}x"))
        self._settle(run)
        return words, token

    def pressed_at(self) -> float:
        """Return when Enter was last pressed, by this process's monotonic clock."""
        before = time.monotonic()
        ago = float(self.page.evaluate("performance.now() - window.pressed")) / 1e3
        return (before + time.monotonic()) / 2 - ago

    def cpu_share(self, run: int) -> float:
        """Return how much of a core the server uses while an answer streams to this page."""
        self.page.bring_to_front()
        before, started = cpu_seconds(self._server), time.monotonic()
        self._ask(f"question {run}")
        self._seen(f"Token{run}x")
        share = (cpu_seconds(self._server) - before) / (time.monotonic() - started)
        self._settle(run)
        return share

    def _ask(self, text: str) -> None:
        composer = self.page.get_by_test_id("stChatInputTextArea")
        composer.fill(text)
        composer.press("Enter")

    def _settle(self, run: int) -> None:
        is_still = '[data-testid="stApp"][data-test-script-state="notRunning"]'
        expect(self.page.get_by_text(f"Token{run}x")).to_have_count(1)
        expect(self.page.locator(is_still)).to_be_visible()

    def _seen(self, text: str) -> float:
        """Return the seconds from Enter until the text appeared."""
        waited = f"window.seen['{text}'] - window.pressed || null"
        return float(self.page.wait_for_function(waited).json_value()) / 1e3


class ChainlitPage(PeerPage):
    """A chat page of Chainlit."""

    def _ask(self, text: str) -> None:
        composer = self.page.locator("#chat-input")
        composer.fill(text)
        composer.press("Enter")

    def _settle(self, run: int) -> None:
        expect(self.page.get_by_text(f"Token{run}x")).to_have_count(1)
        expect(self.page.locator("#stop-button")).to_have_count(0)


class OwnPage(PeerPage):
    """Colloquy's page, in a session of its own."""

    def __init__(self, desk: Desk, server: psutil.Process) -> None:
        super().__init__(desk.page, server)
        self._desk = desk
        desk.ask("question 999")
        desk.sees("Token999x")
        desk.is_in_a_session()
        desk.is_idle()

    def _ask(self, text: str) -> None:
        self._desk.ask(text)

    def _settle(self, run: int) -> None:
        self._desk.sees_once(f"Token{run}x")
        self._desk.is_idle()


@contextmanager
def chat_pages(stack: Stack, model_url: str) -> Iterator[list[PeerPage]]:
    """Open Colloquy's page, the plain chat, the chat of fragments and Chainlit's.

    Each is on its own server.
    """
    expect.set_options(timeout=PATIENCE * 1e3)
    with (
        _streamlit("streamlit_chat.py", OPENAI_BASE_URL=model_url) as plain,
        _streamlit("fragments_chat.py", API_URL=str(stack.client.base_url)) as fragments,
        _chainlit(model_url) as chainlit,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        context = browser.new_context(bypass_csp=True)  # its policy forbids wait_for_function
        context.add_init_script(WATCH)
        url = stack.start_ui()
        own = OwnPage(Desk(context, url), psutil.Process(stack.others[-1].pid))
        peers = [PeerPage(_open(browser, url), process) for url, process in (plain, fragments)]
        yield [own, *peers, ChainlitPage(_open(browser, chainlit[0]), chainlit[1])]
        browser.close()


def _open(browser: Browser, url: str) -> Page:
    context = browser.new_context()
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("textbox")).to_be_visible()
    return page


def _streamlit(script: str, **environment: str) -> _Served:
    command = [sys.executable, "-m", "streamlit", "run", str(PEERS / script)]
    options = ["--server.headless=true", "--server.address=127.0.0.1", "--server.port"]
    return _served([*command, *options], "/_stcore/health", **environment)


@contextmanager
def _chainlit(model_url: str) -> Iterator[tuple[str, psutil.Process]]:
    command = [str(environments.chainlit()), "run", str(PEERS / "chainlit_chat.py")]
    options = ["--headless", "--host", "127.0.0.1", "--port"]
    with (
        TemporaryDirectory() as home,  # it writes its settings
        _served([*command, *options], "/", OPENAI_BASE_URL=model_url, CHAINLIT_APP_ROOT=home) as it,
    ):
        yield it


@contextmanager
def _served(
    command: Sequence[str], health: str, **environment: str
) -> Iterator[tuple[str, psutil.Process]]:
    """Run a peer's server on a port, which ends its command; give its URL and its process."""
    port = free_port()
    process = subprocess.Popen(
        [*command, str(port)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}{health}")
        yield url, psutil.Process(process.pid)
    finally:
        stop_process(process)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(url).is_success:
                return
        time.sleep(0.1)
    raise AssertionError(f"{url} does not answer")

"""Three chat pages in one browser: Colloquy's own, and two peers built in other ways.

The peers: a script that streams the model's answer itself (`peers/streamlit_chat.py`), and a
fragment that draws what a thread collects (`peers/fragments_chat.py`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.measures.b10_viewers import cpu_seconds
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.processes import free_port, stop_process
from tests.stack import Stack

PEERS = Path(__file__).parent.parent / "peers"
PATIENCE = 20.0
WATCH = """
(() => {
  window.pressed = 0; window.seen = {};
  document.addEventListener('keydown', e => {
    if (e.key === 'Enter') window.pressed = performance.now();
  }, true);
  // Messages only, because the composer's text is on the page, too.
  const MESSAGES = '[data-testid="stChatMessage"], .colloquy-sent, .colloquy-draft';
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
def chat_pages(stack: Stack, model_url: str) -> Iterator[tuple[OwnPage, PeerPage, PeerPage]]:
    """Open Colloquy's page, the plain chat and the chat of fragments, each on its own server."""
    expect.set_options(timeout=PATIENCE * 1e3)
    with (
        _served("streamlit_chat.py", OPENAI_BASE_URL=model_url) as plain,
        _served("fragments_chat.py", API_URL=str(stack.client.base_url)) as fragments,
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
        yield own, _peer_page(browser, *plain), _peer_page(browser, *fragments)
        browser.close()


def _peer_page(browser: Browser, url: str, process: psutil.Process) -> PeerPage:
    context = browser.new_context()
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_visible()
    return PeerPage(page, process)


@contextmanager
def _served(script: str, **environment: str) -> Iterator[tuple[str, psutil.Process]]:
    """Run a peer's script; give its URL and its process."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(PEERS / script)]
    process = subprocess.Popen(
        [*command, "--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/_stcore/health")
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

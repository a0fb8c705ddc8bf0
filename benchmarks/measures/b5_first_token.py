"""B5: how much later the first token arrives than in a direct call of the same model.

The model is scripted, over HTTP without delay; the worker is warm. Direct: OpenAI's client, from
the call to the first piece of text. API: from the submit to the first `text_delta` on an open event
stream. Page: in Chromium, from the Enter key to the user's own message, and to the first token, in
the document; against a plain Streamlit chat that calls the model itself. Both pages keep a history.
"""

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
from openai import OpenAI
from playwright.sync_api import Page, expect, sync_playwright

from backend.types import JSON
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import Ground
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.processes import free_port, stop_process
from tests.stack import Stack

WARM_RUNS = 5
API_RUNS = 50
PAGE_RUNS = 30
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


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        model = parts.enter_context(ScriptedModel(_answer))
        stack = parts.enter_context(ground.stack(model.url))
        direct = OpenAI(base_url=model.url, api_key="test", max_retries=0)
        session_id = stack.chat("question 0")["session_id"]
        listener = parts.enter_context(_Listener(stack, session_id))
        asked = [Samples(), Samples()]
        for run in range(1, WARM_RUNS + API_RUNS + 1):
            times = _call(direct, run), _submit(stack, listener, run)
            if run > WARM_RUNS:
                _note(asked, times)
        yield _figure("submit to text_delta over the API", asked, Target(50, 10, " ms"))
        yield from _on_pages(parts, stack, model, direct)


def _on_pages(
    parts: ExitStack, stack: Stack, model: ScriptedModel, direct: OpenAI
) -> Iterator[Figure]:
    desk, plain = parts.enter_context(_pages(stack, model))
    words, pages = [Samples(), Samples()], [Samples(), Samples()]
    theirs = Samples()
    for run in range(1000, 1000 + WARM_RUNS + PAGE_RUNS):
        called, ours, peer = _call(direct, run), _enter(desk, run), _enter_plain(plain, run)
        if run >= 1000 + WARM_RUNS:
            _note(words, (peer[0], ours[0]))
            _note(pages, (called, ours[1]))
            theirs.seconds.append(peer[1])
    plain_words, own_words = words
    yield Figure(
        "B5",
        "Enter to the user's own message on the page, p50",
        str(own_words),
        f"plain Streamlit chat {plain_words}",
        own_words.median,
        Target(250, 100, " ms"),
    )
    yield _figure("Enter to token on the page", pages, Target(150, 60, " ms"))
    yield Figure("B5", "the same on the plain Streamlit chat", "", str(theirs))


def _figure(what: str, samples: list[Samples], target: Target) -> Figure:
    direct, ours = samples
    extra = ours.median - direct.median
    return Figure("B5", f"{what} minus direct call, p50", str(ours), str(direct), extra, target)


def _note(samples: list[Samples], seconds: tuple[float, float]) -> None:
    for sample, value in zip(samples, seconds, strict=True):
        sample.seconds.append(value)


def _answer(messages: list[JSON], body: JSON) -> JSON:
    number = re.findall(r"question (\d+)", str(messages[-1]["content"]))[0]
    return {"text": f"Token{number}x and a few more words."}


def _call(direct: OpenAI, run: int) -> float:
    """Return the seconds of a direct call until its first text."""
    started = time.perf_counter()
    stream = direct.chat.completions.create(
        model="scripted", messages=[{"role": "user", "content": f"question {run}"}], stream=True
    )
    with stream:
        for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                took = time.perf_counter() - started
                assert chunk.choices[0].delta.content.startswith(f"Token{run}x")
                return took
    raise AssertionError("the model said nothing")


class _Listener:
    """Follows a session in a thread, as a page does; records when a turn's first token arrived."""

    def __init__(self, stack: Stack, session_id: str) -> None:
        self.session_id = session_id
        self._stack = stack
        self._told: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        self._connected = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "_Listener":
        self._thread.start()
        assert self._connected.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        """The stream ends with the API."""

    def first_token(self, run: int) -> float:
        """Return when the first token arrived, once the turn has ended."""
        came, text = self._told.get(timeout=PATIENCE)
        assert text.startswith(f"Token{run}x"), text
        while self._told.get(timeout=PATIENCE)[1] != "turn_finished":
            continue
        return came

    def _follow(self) -> None:
        url = f"/sessions/{self.session_id}/events"
        with (
            suppress(httpx.TransportError),  # the API is stopped at the end
            self._stack.client.stream("GET", url, timeout=PATIENCE) as response,
        ):
            for line in response.iter_lines():
                self._connected.set()
                self._take(time.perf_counter(), line)

    def _take(self, now: float, line: str) -> None:
        if line == "event: turn_finished":
            self._told.put((now, "turn_finished"))
        elif line.startswith("data: ") and "message_id" in line and '"text"' in line:
            text = json.loads(line[6:]).get("text")
            if text:
                self._told.put((now, text))


def _submit(stack: Stack, listener: _Listener, run: int) -> float:
    started = time.perf_counter()
    stack.submit(f"question {run}", listener.session_id)
    return listener.first_token(run) - started


@contextmanager
def _pages(stack: Stack, model: ScriptedModel) -> Iterator[tuple[Desk, Page]]:
    """Open a browser on our pages, in a session of its own, and on the peer's page."""
    expect.set_options(timeout=PATIENCE * 1e3)
    with _plain_chat(model) as peer_url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        context = browser.new_context(bypass_csp=True)  # its policy forbids wait_for_function
        context.add_init_script(WATCH)
        desk = Desk(context, stack.start_ui())
        desk.ask("question 999")
        desk.sees("Token999x")
        desk.is_in_a_session()
        desk.is_idle()
        plain = context.new_page()
        plain.goto(peer_url)
        expect(plain.get_by_test_id("stChatInputTextArea")).to_be_visible()
        yield desk, plain
        browser.close()


@contextmanager
def _plain_chat(model: ScriptedModel) -> Iterator[str]:
    port = free_port()
    script = Path(__file__).parent.parent / "peers" / "streamlit_chat.py"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true"]
    process = subprocess.Popen(
        [*command, f"--server.port={port}", "--server.address=127.0.0.1"],
        env={**os.environ, "OPENAI_BASE_URL": model.url},
        stdout=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/_stcore/health")
        yield url
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


def _enter(desk: Desk, run: int) -> tuple[float, float]:
    """Return the seconds from Enter to the user's own message, and to the first token."""
    desk.ask(f"question {run}")
    times = _seen(desk.page, run)
    desk.sees_once(f"Token{run}x")
    desk.is_idle()
    return times


def _enter_plain(page: Page, run: int) -> tuple[float, float]:
    composer = page.get_by_test_id("stChatInputTextArea")
    composer.fill(f"question {run}")
    composer.press("Enter")
    times = _seen(page, run)
    expect(
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ).to_be_visible()
    return times


def _seen(page: Page, run: int) -> tuple[float, float]:
    """Return the seconds from Enter until each of the two texts appeared."""
    words, token = (
        page.wait_for_function(f"window.seen['{text}'] - window.pressed || null").json_value()
        for text in (f"question {run}", f"Token{run}x")
    )
    return float(words) / 1e3, float(token) / 1e3

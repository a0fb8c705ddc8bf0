"""B5: how much later the first token is there than in a direct call of the same model.

The model is a scripted one over HTTP without delay, the worker is warm. Direct: OpenAI's client,
from the call to the first piece of text. API: from the submit to the first `text_delta` on an open
event stream. Page: in Chromium, from the Enter key to the first token in the document.
"""

import json
import queue
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
from openai import OpenAI
from playwright.sync_api import expect, sync_playwright

from backend.types import JSON
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import Ground
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
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
  new MutationObserver(() => {
    const now = performance.now();
    for (const [token] of (document.body?.textContent ?? '').matchAll(/Token\\d+x/g))
      window.seen[token] ??= now;
  }).observe(document, {childList: true, subtree: true, characterData: true});
})();
"""


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Give the figures of this claim."""
    with ExitStack() as parts:
        model = parts.enter_context(ScriptedModel(_answer))
        stack = parts.enter_context(ground.stack(model.url))
        direct = OpenAI(base_url=model.url, api_key="test", max_retries=0)
        session_id = stack.chat("question 0")["session_id"]
        listener = parts.enter_context(_Listener(stack, session_id))
        pages, asked = [Samples(), Samples()], [Samples(), Samples()]
        for run in range(1, WARM_RUNS + API_RUNS + 1):
            times = _call(direct, run), _submit(stack, listener, run)
            if run > WARM_RUNS:
                _note(asked, times)
        yield _figure("submit to text_delta over the API", asked, Target(50, 10, " ms"))
        desk = parts.enter_context(_desk(stack))
        for run in range(1000, 1000 + WARM_RUNS + PAGE_RUNS):
            times = _call(direct, run), _enter(desk, run)
            if run >= 1000 + WARM_RUNS:
                _note(pages, times)
        yield _figure("Enter to token on the page", pages, Target(150, 60, " ms"))


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
    """The seconds of a direct call until its first text."""
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
    """Follows a session in a thread, as a page does; notes when the first token of a turn came."""

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
        """When the token came; returns once the turn has ended."""
        came, text = self._told.get(timeout=PATIENCE)
        assert text.startswith(f"Token{run}x"), text
        while self._told.get(timeout=PATIENCE)[1] != "turn_finished":
            continue
        return came

    def _follow(self) -> None:
        url = f"/sessions/{self.session_id}/events"
        with (
            suppress(httpx.TransportError),  # the API is ended at last
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
def _desk(stack: Stack) -> Iterator[Desk]:
    """A browser on the pages, in a session of its own."""
    expect.set_options(timeout=PATIENCE * 1e3)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        context = browser.new_context()
        context.add_init_script(WATCH)
        desk = Desk(context, stack.start_ui())
        desk.ask("question 999")
        desk.sees("Token999x")
        desk.is_in_a_session()
        desk.is_idle()
        yield desk
        browser.close()


def _enter(desk: Desk, run: int) -> float:
    desk.ask(f"question {run}")
    token = f"Token{run}x"
    seen = desk.page.wait_for_function(f"window.seen['{token}'] - window.pressed || null")
    desk.sees_once(token)
    desk.is_idle()
    return float(seen.json_value()) / 1e3

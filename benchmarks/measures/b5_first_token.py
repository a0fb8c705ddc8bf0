"""B5: how much later the first token arrives than in a direct call of the same model.

The model is scripted, over HTTP without delay; the worker is warm. Direct: OpenAI's client, from
the call to the first piece of text. API: from the submit to the first `text_delta` on an open event
stream. Page: in Chromium, from the Enter key to the user's own message, and to the first token, in
the document; against a plain Streamlit chat that calls the model itself, a chat on the same API
whose fragment draws what a thread collects, and a Chainlit chat that calls the model itself. All
pages keep a history. For ours, the time is also split: until the message was accepted (on the page:
shown), until the model was asked, until the token was there. Last, how much of a core each pages'
process uses while one page follows an answer.
"""

import json
import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress

import httpx
from openai import OpenAI

from backend.types import JSON
from benchmarks.clients.b5_pages import PATIENCE, PeerPage, chat_pages
from benchmarks.figures import Figure, Samples, Target, number
from benchmarks.ground import Ground
from tests.fakes import ScriptedModel
from tests.stack import Stack

WARM_RUNS = 5
API_RUNS = 50
PAGE_RUNS = 30
API_STAGES = ("accepted", "the model is asked", "first token")
PAGE_STAGES = ("the user's own message", "the model is asked", "first token")
PEERS = ("plain Streamlit chat", "fragments", "Chainlit")
PIECES, RATE = 200, 30  # of the answer that is followed; a second


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        model = parts.enter_context(ScriptedModel(_answer))
        stack = parts.enter_context(ground.stack(model.url))
        direct = OpenAI(base_url=model.url, api_key="test", max_retries=0)
        session_id = stack.chat("question 0")["session_id"]
        listener = parts.enter_context(_Listener(stack, session_id))
        calls, stages = Samples(), [Samples() for _ in API_STAGES]
        for run in range(1, WARM_RUNS + API_RUNS + 1):
            called, times = _call(direct, run), _submit(stack, model, listener, run)
            if run > WARM_RUNS:
                _note([calls, *stages], [called, *times])
        target = Target(50, 10, " ms")
        yield _figure("submit to text_delta over the API", (calls, stages[-1]), target)
        yield _stages("submit", API_STAGES, stages)
        yield from _on_pages(parts, stack, model, direct)


def _on_pages(
    parts: ExitStack, stack: Stack, model: ScriptedModel, direct: OpenAI
) -> Iterator[Figure]:
    own, *peers = parts.enter_context(chat_pages(stack, model.url))
    calls, asked = Samples(), Samples()
    pages = [(Samples(), Samples()) for _ in (own, *peers)]
    for run in range(1000, 1000 + WARM_RUNS + PAGE_RUNS):
        called, times = _call(direct, run), [own.enter(run)]
        until_asked = model.started_at[-1] - own.pressed_at()
        times += [page.enter(run) for page in peers]
        if run >= 1000 + WARM_RUNS:
            _note([calls, asked], [called, until_asked])
            for samples, seconds in zip(pages, times, strict=True):
                _note(samples, seconds)
    (words, tokens), *others = pages
    yield Figure(
        "B5",
        "Enter to the user's own message on the page, p50",
        str(words),
        _of_peers([str(samples[0]) for samples in others]),
        words.median,
        Target(250, 100, " ms"),
    )
    yield _figure("Enter to token on the page", (calls, tokens), Target(150, 60, " ms"))
    yield _stages("Enter", PAGE_STAGES, (words, asked, tokens))
    said = _of_peers([str(samples[1]) for samples in others])
    yield Figure("B5", "the same on pages built in other ways", "", said)
    yield _cpu_shares(model, own, *peers)


def _cpu_shares(model: ScriptedModel, *pages: PeerPage) -> Figure:
    model.steps = _answer_slowly
    ours, *others = (f"{page.cpu_share(2000):.1%}" for page in pages)
    what = f"one page follows {RATE} pieces a second: processor share of its server"
    return Figure("B5", what, ours, _of_peers(others))


def _of_peers(figures: Sequence[str]) -> str:
    return ", ".join(f"{name} {figure}" for name, figure in zip(PEERS, figures, strict=True))


def _figure(what: str, samples: Sequence[Samples], target: Target) -> Figure:
    direct, ours = samples
    extra = ours.median - direct.median
    return Figure("B5", f"{what} minus direct call, p50", str(ours), str(direct), extra, target)


def _stages(start: str, names: Sequence[str], stages: Sequence[Samples]) -> Figure:
    times = " / ".join(f"{number(stage.median)}" for stage in stages)
    return Figure("B5", f"{start} until {' / '.join(names)}, p50", f"{times} ms")


def _note(samples: Sequence[Samples], seconds: Sequence[float]) -> None:
    for sample, value in zip(samples, seconds, strict=True):
        sample.seconds.append(value)


def _answer(messages: list[JSON], body: JSON) -> JSON:
    number = re.findall(r"question (\d+)", str(messages[-1]["content"]))[0]
    return {"text": f"Token{number}x and a few more words."}


def _answer_slowly(messages: list[JSON], body: JSON) -> JSON:
    text = "word " * PIECES + _answer(messages, body)["text"]
    return {"text": text, "delay": 1 / RATE}


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
                self._take(time.monotonic(), line)

    def _take(self, now: float, line: str) -> None:
        if line == "event: turn_finished":
            self._told.put((now, "turn_finished"))
        elif line.startswith("data: ") and "message_id" in line and '"text"' in line:
            text = json.loads(line[6:]).get("text")
            if text:
                self._told.put((now, text))


def _submit(
    stack: Stack, model: ScriptedModel, listener: _Listener, run: int
) -> tuple[float, float, float]:
    """Return the seconds until the message was accepted, the model asked, the token received."""
    started = time.monotonic()
    stack.submit(f"question {run}", listener.session_id)
    accepted, received = time.monotonic(), listener.first_token(run)
    return accepted - started, model.started_at[-1] - started, received - started

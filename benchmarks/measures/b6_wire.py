"""B6, the wire: bytes that a client receives ÷ bytes of the text that it sees, while it streams.

A scripted model produces about 100 tokens a second. The bytes are counted in transit: on the API's
event stream, compressed and plain, and between a browser and the pages, from Enter to the end of
the turn. The alternative is to send the whole answer again with each token, as Open WebUI does with
what it stores; its bytes are computed, and grow quadratically.
"""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from playwright.sync_api import expect, sync_playwright

from backend.types import JSON
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.texts import turn_texts
from benchmarks.wire import Proxy, Stream
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

LENGTHS = (1_000, 3_000)  # a page first shows longer ones truncated
DELAY = 0.009  # plus about a millisecond per token in the model itself
PARAGRAPH = 80
PATIENCE = 120.0


@dataclass(frozen=True)
class Counted:
    """Bytes of one answer: its text, and the bytes each way needed to show it."""

    text: int
    compressed: int
    plain: int
    page: int
    again: int


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        model = parts.enter_context(ScriptedModel(_step))
        stack = parts.enter_context(ground.stack(model.url))
        desk, proxy = parts.enter_context(_desk(stack))
        counted = [_count(stack, desk, proxy, tokens) for tokens in LENGTHS]
    for name, what, good, goal in (
        ("compressed", "event stream, gzip", 3.0, 2.5),
        ("plain", "event stream, plain", None, None),
        ("page", "page", 10.0, 2.5),
    ):
        ratios = [getattr(one, name) / one.text for one in counted]
        again = [one.again / one.text for one in counted]
        yield Figure(
            "B6",
            f"{what}: wire ÷ text bytes at {LENGTHS[0]:,} and {LENGTHS[1]:,} tokens",
            " and ".join(map(number, ratios)),
            "all again with each token: " + " and ".join(map(number, again)),
            max(ratios),
            Target(good, goal) if good and goal else None,
        )
        growth = ratios[1] / ratios[0]
        yield Figure(
            "B6",
            f"{what}: growth of that ratio, {LENGTHS[1]:,} ÷ {LENGTHS[0]:,} tokens",
            number(growth),
            number(again[1] / again[0]),
            growth,
            Target(1.5, 1.1),
        )


def answer(tokens: int) -> str:
    """Return an answer of `tokens` words, in paragraphs."""
    words = " ".join(part for said in turn_texts(tokens // 100) for part in said.parts).split()
    assert len(words) >= tokens
    paragraphs = (words[at : min(at + PARAGRAPH, tokens)] for at in range(0, tokens, PARAGRAPH))
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)


def _step(messages: list[JSON], _: JSON) -> JSON:
    tokens = re.findall(r"(\d+) tokens", str(messages[-1]["content"]))
    return {"text": answer(int(tokens[0])), "delay": DELAY} if tokens else {"text": "Ready."}


def _count(stack: Stack, desk: Desk, proxy: Proxy, tokens: int) -> Counted:
    """Count one answer as seen by a browser, a program that reads gzip, and one that does not."""
    desk.open()
    desk.ask("be ready")
    desk.is_in_a_session()
    desk.sees("Ready.")
    desk.is_idle()
    session_id = desk.session_id
    with (
        Stream(stack.api_port, session_id, "gzip") as packed,
        Stream(stack.api_port, session_id, "identity") as plain,
    ):
        time.sleep(1)
        before = proxy.bytes_down
        desk.ask(f"say {tokens} tokens")
        text = answer(tokens)
        for stream in (packed, plain):
            assert stream.text_until_end(PATIENCE) == text
        desk.sees(text.rpartition("\n\n")[2])
        desk.is_idle()
        page = proxy.bytes_down - before
        sizes = packed.bytes, plain.bytes
    again = sum(match.end() for match in re.finditer(r"\S+\s*", text))
    return Counted(len(text), *sizes, page, again)


@contextmanager
def _desk(stack: Stack) -> Iterator[tuple[Desk, Proxy]]:
    """Open a browser that reaches the pages through a byte-counting proxy."""
    expect.set_options(timeout=PATIENCE * 1e3)
    with Proxy() as proxy, sync_playwright() as playwright:
        proxy.port = int(stack.start_ui("--public-url", proxy.url).rpartition(":")[2])
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        yield Desk(browser.new_context(), proxy.url), proxy
        browser.close()

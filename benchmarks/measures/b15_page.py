"""B15: the perceived speed of pages: switching sessions, layout shift on opening, many streams.

Switch: in Chromium, from the click on a session in the list to its last answer, among 1,000
sessions, between two of 10,000 messages. Shift: the sum of a page's layout shifts while it opens
(https://web.dev/articles/cls). Streams: 100 pages of one pages' process follow one answer; the
delay from the model's sending of a piece to its arrival at each page.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

import psutil
from playwright.sync_api import BrowserContext, expect, sync_playwright

from backend.turns.process.services import Services
from benchmarks.clients.b10_crowd import crowd
from benchmarks.clients.b15_pages import Page, follow_pages
from benchmarks.colloquy import ROWS_PER_TURN, colloquy, fill, new_session
from benchmarks.figures import Figure, Samples, Target, number
from benchmarks.ground import Ground
from benchmarks.measures.b10_viewers import cpu_seconds
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.model_answers import NOW
from tests.stack import Stack
from ui.relay.route import PATH

SESSIONS, MESSAGES = 1_000, 10_000
SWITCHES, WARM_SWITCHES, OPENINGS = 20, 4, 7
PAGES, RATE, PIECES = 100, 30, 200
PATIENCE = 30.0
WATCH = """
(() => {
  window.clicked = 0; window.seen = {}; window.shifted = 0;
  document.addEventListener('click', () => {
    window.clicked = performance.now(); window.seen = {};
  }, true);
  new MutationObserver(() => {
    const now = performance.now(), words = document.querySelector('main')?.textContent ?? '';
    for (const [token] of words.matchAll(/Token\\d+x/g)) window.seen[token] ??= now;
  }).observe(document, {childList: true, subtree: true, characterData: true});
  new PerformanceObserver(list => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
  }).observe({type: 'layout-shift', buffered: true});
})();
"""


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        services = parts.enter_context(colloquy(ground))
        model = parts.enter_context(ScriptedModel(lambda messages, body: {"text": "Answered."}))
        stack = parts.enter_context(_filled(ground, services, model))
        long = [_long_session(services, stack, model, f"Token{one}x") for one in range(2)]
        ground.analyze(services.settings.database_url)
        url = stack.start_ui()
        context = parts.enter_context(_browser())
        yield _switches(Desk(context, f"{url}"), long)
        for what, query in (("a new chat", ""), ("a long session", f"?session={long[0]}")):
            yield _shifts(context, f"{url}/{query}", what)
        pages = psutil.Process(stack.others[-1].pid)
        yield _streams(stack, model, pages, url, long[0])


@contextmanager
def _filled(ground: Ground, services: Services, model: ScriptedModel) -> Iterator[Stack]:
    """Run API and worker over a database with many sessions."""
    for _ in range(SESSIONS):
        new_session(services)
    settings = services.settings
    stack = Stack(
        settings.database_url, ground.redis_url, ground.home,
        OPENAI_BASE_URL=model.url, OPENAI_API_KEY="test", MODEL="scripted",
    )  # fmt: skip
    with stack:
        yield stack


def _long_session(services: Services, stack: Stack, model: ScriptedModel, last: str) -> str:
    """Create a session of many messages, with a unique last answer."""
    session_id = new_session(services)
    fill(services, session_id, MESSAGES // ROWS_PER_TURN, in_state=40)
    model.steps = lambda messages, body: {"text": f"{last} is the last word."}
    stack.chat("And now?", str(session_id))
    return str(session_id)


@contextmanager
def _browser() -> Iterator[BrowserContext]:
    expect.set_options(timeout=PATIENCE * 1e3)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        context = browser.new_context(bypass_csp=True)  # its policy forbids wait_for_function
        context.add_init_script(WATCH)
        yield context
        browser.close()


def _switches(desk: Desk, sessions: list[str]) -> Figure:
    """Measure from the click on a session to its last answer."""
    desk.open(f"?session={sessions[0]}")
    desk.sees("Token0x")
    desk.is_at_rest()
    times = Samples()
    for run in range(WARM_SWITCHES + SWITCHES):
        to = (run + 1) % 2
        desk.row(sessions[to]).click()
        seen = f"window.seen['Token{to}x'] - window.clicked || null"
        took = float(desk.page.wait_for_function(seen).json_value())
        desk.is_at_rest()
        if run >= WARM_SWITCHES:
            times.seconds.append(took / 1e3)
    what = f"click to the last answer, {SESSIONS:,} sessions, {MESSAGES:,} messages"
    return Figure("B15", what, str(times), "", times.median, Target(600, 300, " ms"))


def _shifts(context: BrowserContext, url: str, what: str) -> Figure:
    """Measure the sum of the layout shifts until the page is at rest."""
    sums = []
    for _ in range(OPENINGS):
        page = context.new_page()
        desk = Desk(context, url)
        desk.page = page
        page.goto(url)
        desk.is_at_rest()
        page.wait_for_timeout(500)  # late content shifts the layout, too
        sums.append(float(page.evaluate("window.shifted")))
        page.close()
    value = median(sums)
    spread = f"{number(value)} ({number(min(sums))} to {number(max(sums))})"
    return Figure("B15", f"layout shift while {what} opens", spread, "", value, Target(0.25, 0.1))


def _streams(
    stack: Stack, model: ScriptedModel, pages: psutil.Process, url: str, session_id: str
) -> Figure:
    """Measure the delay from the model's sending of a piece to its arrival at each page."""
    model.steps = lambda messages, body: {"text": f"{NOW} " * PIECES, "delay": 1 / RATE}
    route = url.replace("http", "ws") + PATH
    with crowd(follow_pages, route, session_id, PAGES) as following:
        before, started = cpu_seconds(pages), time.monotonic()
        stack.submit("Speak", session_id)
        heard: list[Page] = following.wait()  # type: ignore[assignment]
        used = (cpu_seconds(pages) - before) / (time.monotonic() - started)
    late = sorted(one for page in heard for one in page.late)
    assert len(late) > 0.99 * PAGES * PIECES
    p50, p99 = (late[int(len(late) * share)] * 1e3 for share in (0.5, 0.99))
    what = f"{PAGES} pages follow an answer of {RATE} pieces a second: delay, p99"
    said = f"p50 {number(p50)} ms, p99 {number(p99)} ms, {used:.0%} of a core"
    return Figure("B15", what, said, "", p99, Target(250, 100, " ms"))

"""A page on another site, in a real browser, against the pages and the API: it gets nowhere."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from launch.browser import find_browser, sandbox_flags
from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

# What a page can try at one server; `done` tells what it got, by name.
ATTACK = """
async ([base, paths]) => {
  const done = {};
  const within = (promise) => Promise.race([
    promise, new Promise((_, no) => setTimeout(() => no("silence"), 5000))]);
  const attempt = async (name, action) => {
    try { done[name] = await within(action()); } catch (error) { done[name] = "refused"; }
  };
  const socket = base.replace("http", "ws") + "/_stcore/stream";
  for (const path of paths) {
    await attempt("read " + path, async () => (await fetch(base + path)).status);
    await attempt("post " + path, async () => (await fetch(base + path, {
      method: "POST", body: "{}", headers: {"Content-Type": "application/json"}})).status);
    await attempt("no-cors " + path, async () => {
      await fetch(base + path, {mode: "no-cors", method: "POST", body: "{}"});
      return "sent";
    });
    await attempt("follow " + path, () => new Promise((yes, no) => {
      const events = new EventSource(base + path);
      events.onopen = () => { events.close(); yes("open"); };
      events.onerror = () => { events.close(); no(); };
    }));
    await attempt("image " + path, () => new Promise((yes, no) => {
      const image = new Image();
      image.onload = () => yes("shown");
      image.onerror = no;
      image.src = base + path;
    }));
    await attempt("script " + path, () => new Promise((yes, no) => {
      const script = document.createElement("script");
      script.onload = () => yes("run");
      script.onerror = no;
      script.src = base + path;
      document.head.append(script);
    }));
  }
  await attempt("socket", () => new Promise((yes, no) => {
    const wire = new WebSocket(socket, ["streamlit"]);
    wire.onopen = () => { wire.close(); yes("open"); };
    wire.onerror = no;
  }));
  for (const path of paths) {
    const frame = document.createElement("iframe");
    frame.name = "into" + paths.indexOf(path);
    frame.src = base + path;
    const loaded = new Promise((yes) => { frame.onload = yes; });
    document.body.append(frame);
    await loaded;
    const form = document.createElement("form");
    Object.assign(form, {method: "POST", action: base + path, target: frame.name});
    form.enctype = "text/plain";
    form.innerHTML = `<input name='{"title": "taken", "x": "' value='"}'>`;
    document.body.append(form);
    const sent = new Promise((yes) => { frame.onload = yes; });
    form.submit();
    await within(sent).catch(() => null);
  }
  return done;
}
"""
PATHS = ["/", "/api/v1/sessions", "/healthz", "/_stcore/health", "/favicon.png", "/media/x"]
EVIL = "evil.example"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """Another site on this machine: a page that says nothing, at a port of its own."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title><body></body>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def evil_context(browser) -> Iterator[BrowserContext]:
    """A browser that finds the other site's name at 127.0.0.1, as after DNS rebinding."""
    rebound = browser.browser_type.launch(
        executable_path=str(find_browser()),
        args=[
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--host-resolver-rules=MAP {EVIL} 127.0.0.1",
            *sandbox_flags(),
        ],
    )
    # A page from before its name moved here has no policy of ours, so none may help.
    context = rebound.new_context(bypass_csp=True)
    context.set_default_timeout(PATIENCE_MS)
    yield context
    rebound.close()


@pytest.fixture
def served(shared_stack: Stack, scripted_url: str) -> dict[str, str]:
    return {"api": shared_stack.base_url, "pages": scripted_url}


@pytest.mark.journey
@pytest.mark.parametrize("server", ["api", "pages"])
@pytest.mark.parametrize("origin", [f"http://{EVIL}", "http://127.0.0.1", "http://localhost"])
def test_a_page_elsewhere_reads_changes_and_opens_nothing(
    evil_context: BrowserContext,
    elsewhere: int,
    served: dict[str, str],
    shared_stack: Stack,
    origin: str,
    server: str,
):
    before = shared_stack.client.get("/sessions").json()
    page = evil_context.new_page()
    page.goto(f"{origin}:{elsewhere}/")
    frames = watch_documents(page)

    got = page.evaluate(ATTACK, [served[server], PATHS])

    # Without CORS a request is sent and nobody reads the answer: what it changes stands below.
    assert not [name for name, what in got.items() if what not in ("refused", "sent")], got
    assert frames, "no frame was tried"
    assert not [frame for frame in frames if frame[1] not in (403, 421)]
    assert shared_stack.client.get("/sessions").json() == before
    page.close()


@pytest.mark.parametrize("server", ["api", "pages"])
def test_a_name_that_leads_here_shows_nothing(
    evil_context: BrowserContext, served: dict[str, str], shared_stack: Stack, server: str
):
    """DNS rebinding: for the browser the page, its requests and its socket are of one origin."""
    before = shared_stack.client.get("/sessions").json()
    rebound = f"http://{EVIL}:{urlsplit(served[server]).port}"
    page = evil_context.new_page()

    answer = page.goto(rebound)

    assert answer is not None
    assert answer.status == 421
    got = page.evaluate(READ, [rebound, PATHS])
    assert got == {path: 421 for path in PATHS} | {"socket": "refused"}
    assert shared_stack.client.get("/sessions").json() == before
    page.close()


READ = """
async ([base, paths]) => {
  const done = {};
  for (const path of paths)
    done[path] = (await fetch(base + path, {method: "POST"})).status;
  done.socket = await new Promise((yes) => {
    const wire = new WebSocket(base.replace("http", "ws") + "/_stcore/stream", ["streamlit"]);
    wire.onopen = () => yes("open");
    wire.onerror = () => yes("refused");
  });
  return done;
}
"""


def test_a_link_from_elsewhere_opens_the_desk(
    evil_context: BrowserContext, elsewhere: int, served: dict[str, str]
):
    page = evil_context.new_page()
    page.goto(f"http://{EVIL}:{elsewhere}/")

    page.evaluate("url => { location.href = url }", served["pages"])

    expect(page.get_by_role("textbox", name="Ask anything about your data")).to_be_visible()
    page.close()


def test_the_desk_works_under_each_of_its_own_names(context: BrowserContext, served, model):
    for name in ("127.0.0.1", "localhost"):
        desk = Desk(context, served["pages"].replace("127.0.0.1", name))
        model.steps = lambda messages, body: {"text": "At home."}

        desk.ask("Where are you?")

        desk.sees("At home.")
        desk.is_idle()


def test_the_policy_stops_nothing_of_ours(own_desk: Desk, model: ScriptedModel):
    complaints: list[str] = []
    own_desk.context.on("console", lambda line: complaints.append(line.text))
    own_desk.context.on("weberror", lambda error: complaints.append(str(error.error)))
    model.steps = lambda messages, body: {"text": "Fine.\n\n| a | b |\n|---|---|\n| 1 | 2 |"}

    own_desk.ask("How are you?")
    own_desk.sees("Fine.")
    own_desk.is_idle()

    assert not [line for line in complaints if "Content Security Policy" in line]
    assert {urlsplit(url).netloc for url in own_desk.requests if url.startswith("http")} == {
        urlsplit(own_desk.url).netloc
    }


@pytest.mark.journey
def test_a_script_that_is_not_ours_does_not_run_in_the_pages(desk: Desk):
    desk.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), "
        "{textContent: 'window.ran = true'}))"
    )

    assert desk.page.evaluate("window.ran") is None


def test_the_apis_documents_draw_from_here_alone_and_can_be_tried_out(
    context: BrowserContext, served
):
    page, requests, complaints = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda line: complaints.append(line.text))

    page.goto(f"{served['api']}/api/docs")

    expect(page.get_by_role("heading", name="Colloquy")).to_be_visible()
    expect(page.locator(".opblock").first).to_be_visible()
    page.locator(".opblock-summary").filter(has_text="/healthz").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table").get_by_text("alive").first).to_be_visible()
    assert not [line for line in complaints if "Content Security Policy" in line]
    outside = [url for url in requests if not url.startswith((served["api"], "data:"))]
    assert not outside, json.dumps(outside)


def watch_documents(page: Page) -> list[tuple[str, int]]:
    """What the page's frames are answered, as it comes."""
    seen: list[tuple[str, int]] = []
    page.on(
        "response",
        lambda response: (
            seen.append((response.url, response.status))
            if response.request.resource_type == "document"
            else None
        ),
    )
    return seen

"""Two servers of the pages, two of the API, and no request of a browser that stays with any one."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.conftest import GENTLE, make_stack
from tests.e2e.desk import slowly
from tests.e2e.files import formats
from tests.e2e.people.people import Office, Person, printed_link, take_link
from tests.fakes import ScriptedModel
from tests.integration.imports.scenes import lines, openai
from tests.processes import ROOT, Process, free_port, kill_process, launch
from tests.servers.balancer import Balancer
from tests.stack import Servers

CHATS = lines(openai(("user", "Where is the Elbe?"), ("assistant", "In Hamburg."), title="Rivers"))
LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60)) + "\n\nThe end."
OF_STREAMLIT = ("/media/", "/_stcore/upload_file")


@dataclass(frozen=True)
class Fleet(Office):
    """Pages behind a balancer, and the processes by their ports."""

    balancer: Balancer
    pages: dict[int, Process]
    apis: dict[int, Process]

    def servers_of(self, beginning: str) -> set[int]:
        """Return which servers of the pages were sent requests whose path begins so."""
        return {port for path, port in self.balancer.served if path.startswith(beginning)}


def is_served(port: int) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"http://127.0.0.1:{port}/_stcore/health").is_success
    return False


@pytest.fixture
def fleet(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Fleet]:
    with make_stack(servers, model, tmp_path, AUTH="local", **GENTLE) as stack, Balancer() as front:
        assert stack.api is not None
        second = stack.start("-m", "backend.api", "--port", str(port := free_port()))
        stack.others.append(second)
        apis = {stack.api_port: stack.api, port: second}
        stack.environment["API_URL"] = ",".join(f"http://127.0.0.1:{one}" for one in apis)
        pages = {}
        for _ in range(2):
            port = urlsplit(stack.start_ui("--public-url", front.url)).port or 0
            pages[port] = stack.others[-1]
        front.ports = list(pages)
        admin = take_link(stack, printed_link(stack), "ada")
        yield Fleet(stack, front.url, admin, front, pages, apis)


@pytest.fixture
def person(context: BrowserContext, fleet: Fleet) -> Person:
    """Somebody who has just signed in, at whichever server."""
    person = Person(context, fleet.url)
    person.visit()
    person.sign_in(fleet.person())
    return person


@pytest.mark.journey
def test_each_request_may_reach_another_server(
    fleet: Fleet, person: Person, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "Two rows."}
    names = ("one", "two", "three", "four")
    paths = formats.write(tmp_path, **{f"{name}_jsonl": formats.JSON_LINES for name in names})
    (chats,) = formats.write(tmp_path, chats_jsonl=CHATS)

    person.open("data")
    person.main.locator("input[type=file]").set_input_files(paths)
    for path in paths:
        expect(person.main.get_by_role("button", name=path.name)).to_be_visible()
    person.open("import")
    person.main.locator("input[type=file]").set_input_files(chats)
    person.sees("1 conversation with 2 messages")
    person.main.get_by_role("button", name="Import", exact=True).click()
    person.sees("1 imported")
    person.open("agents")
    mark = person.main.get_by_role("presentation").or_(person.main.locator("img")).first
    expect(mark).to_be_visible()
    assert mark.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 0
    person.open()
    person.attach(paths[0])
    for number in range(4):
        person.ask(f"Question {number}")
        expect(person.main.get_by_text("Two rows.")).to_have_count(number + 1)
        person.is_idle()
    person.has_no_complaint()

    assert fleet.servers_of("/colloquy/api/files") == set(fleet.pages)
    for beginning in ("/colloquy/api/sessions", "/colloquy/assets", "/static"):
        assert fleet.servers_of(beginning) == set(fleet.pages)
    assert not [url for url in person.requests if urlsplit(url).path.startswith(OF_STREAMLIT)]


def test_a_server_of_the_pages_that_ends_costs_no_word_and_no_draft(
    fleet: Fleet, person: Person, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = slowly(LONG)
    paths = formats.write(tmp_path, a_jsonl=formats.JSON_LINES, b_jsonl=formats.JSON_LINES)
    person.ask("Tell me")
    person.sees("Paragraph 3 of")
    session, chat = person.session_id, person.page
    person.composer.fill("What I was about to write")
    data = person.open("data")
    person.is_at_rest()

    for port, process in fleet.pages.items():  # so that each socket has been cut off
        kill_process(process)
        person.is_connected()
        person.main.locator("input[type=file]").set_input_files(paths.pop())
        expect(person.main.get_by_role("button", name=".jsonl")).to_have_count(2 - len(paths))
        fleet.stack.start_ui("--public-url", fleet.url, port=port)

    assert data.url.endswith("/data")
    person.page = chat
    person.sees("The end.")
    person.is_idle()
    for number in (0, 3, 30, 59):
        person.sees_once(f"Paragraph {number} of the answer.")
    assert person.session_id == session
    expect(person.composer).to_have_value("What I was about to write")
    person.page.reload()
    expect(person.composer).to_have_value("What I was about to write")
    person.composer.press("Enter")
    expect(person.main.get_by_text("The end.")).to_have_count(2)


def test_a_page_is_of_one_version_while_the_servers_are_replaced(
    fleet: Fleet, person: Person, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "Answered."}
    code = tmp_path / "newer"
    for name in ("ui", "backend", "db"):
        copytree(ROOT / name, code / name, ignore=ignore_patterns("__pycache__"))
    for script in (code / "ui/assets/conversation").rglob("*.js"):  # parts that fit no others
        script.write_text(re.sub(r"\b(useAct|composerOf)\b", r"\1Newer", script.read_text()))
    ended, _ = fleet.pages
    kill_process(fleet.pages.pop(ended))
    environment = {**fleet.stack.environment, "PYTHONPATH": str(code)}
    arguments = ("-m", "ui", "--port", str(ended), "--public-url", fleet.url)
    newer = launch(arguments, environment, fleet.stack.log, code)
    fleet.stack.others.append(newer)
    fleet.stack.wait_for(lambda: is_served(ended), "the newer pages do not answer")
    problems: list[str] = []
    person.context.on("weberror", lambda problem: problems.append(str(problem.error)))
    person.context.new_cdp_session(person.page).send("Network.clearBrowserCache")

    versions: set[str | None] = set()
    while len(versions) < 2 or len(person.context.pages) < 6:
        page = person.open()
        versions.add(page.locator("script[src*=conversation]").first.get_attribute("src"))
        person.ask("Which version is this?")
        person.sees("Answered.")

    assert problems == []


def test_a_server_of_the_api_that_ends_is_not_missed(
    fleet: Fleet, person: Person, model: ScriptedModel
) -> None:
    model.steps = slowly(LONG)
    person.ask("Tell me")
    person.sees("Paragraph 3 of")

    *_, last = fleet.apis
    kill_process(fleet.apis[last])

    person.sees("The end.")
    person.is_idle()
    for number in (0, 3, 30, 59):
        person.sees_once(f"Paragraph {number} of the answer.")
    model.steps = lambda messages, body: {"text": "Answered."}
    for path in ("data", "agents", "import", ""):
        person.open(path)
        person.is_at_rest()
        expect(person.page.get_by_text("The service does not answer")).to_have_count(0)
    for number in range(4):
        person.ask(f"Question {number}")
        expect(person.main.get_by_text("Answered.")).to_have_count(number + 1)
        person.is_idle()
    person.has_no_complaint()

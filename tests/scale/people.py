"""An administrator in Chromium, and people who talk all the while."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import expect, sync_playwright

from backend.types import JSON
from launch.browser import find_browser, sandbox_flags
from tests.chaos.checks.effects import marker_of
from tests.chaos.staging.clients import Countdown, Person
from tests.chaos.staging.effects import Effects
from tests.chaos.staging.records import History
from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.people.people import Person as Visitor
from tests.fakes import script
from tests.scale.fleet import API, PEOPLE_GO_TO, take_link

TABLE = b"day,amount\n2026-07-01,1.50\n2026-08-02,2.25\n"
ROWS = [{"account": f"A{number}", "amount_eur": 100.25 * number} for number in range(1, 41)]
TOOLS = ["make_artifact", "read_artifact", "query_source"]
DOMAIN = "chaos"  # which the people of `Caller` ask for


class Administrator:
    """Calls the API as the first administrator."""

    def __init__(self, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=f"{API}/api/v1", headers=headers, timeout=30)
        self._tokens: dict[str, str] = {}  # by how the markers of a person's messages begin

    def make_domain(self, effects: Effects) -> None:
        """Let sessions have the tools that count their effects, and those of artifacts."""
        server = {"transport": "streamable_http", "url": effects.server.url}
        template = {"name": DOMAIN, "tools": TOOLS, "mcp_servers": {"effects": server}}
        self.call("POST", "domains", json=template)

    def people(self, count: int, history: History, left: Countdown) -> list[Person]:
        """Make people who talk until all turns are taken."""
        return [self._person(number, history, left) for number in range(count)]

    def cannot_open(self, turns: list[JSON]) -> list[str]:
        """Return the sessions of which their owners cannot read all."""
        owners = {turn["conversation_id"]: marker_of(turn["message"]) for turn in turns}
        return [one for one, marker in owners.items() if not self._opens(one, marker)]

    def call(self, method: str, path: str, **options: JSON) -> JSON:
        """Call, and raise unless that succeeds."""
        answer = self._client.request(method, path, **options)
        assert answer.is_success, answer.text
        return answer.json()

    def _person(self, number: int, history: History, left: Countdown) -> Person:
        login = f"person{number}"
        invited = self.call("POST", "people", json={"name": login})
        token = take_link(invited["link_token"], login)
        self._tokens[f"p{number}"] = token
        return Person(number, 39, f"{API}/api/v1", history, left, token)

    def _opens(self, session_id: str, marker: str) -> bool:
        token = self._tokens.get(marker.partition("-")[0])
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        paths = (f"sessions/{session_id}/{part}" for part in ("state", "messages"))
        return all(self._client.get(one, headers=headers).status_code == 200 for one in paths)


class Analyst(Visitor):
    """The administrator's tab, which stays open whatever happens to the hosts."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._asked = 0
        self.scripted: set[str] = set()  # sessions whose answers the model of the run did not give

    def goes_on(self) -> None:
        """Ask in the open tab, and read the answer."""
        self._asked += 1
        marker = f"ada-{self._asked}"
        answer = self.main.get_by_text(re.compile(f"end of {marker}"))
        refusal = self.foot.get_by_role("alert").filter(has_text="Try again")
        self.ask(f"turn {marker} please")
        expect(answer.or_(refusal).first).to_be_visible()
        while not answer.count() and refusal.count():  # what was written is still there
            self.page.wait_for_timeout(1_000)
            self.composer.press("Enter")
        expect(answer).to_be_visible()
        self.is_idle()
        self.has_no_complaint()

    def begins(self) -> None:
        """Open a chat in the domain of the run, and ask."""
        self.new_chat()
        self.choose_domain(DOMAIN)
        self.goes_on()
        self.is_in_a_session()

    def uploads(self, folder: Path) -> None:
        """Hand a file to the page Data."""
        (path := folder / "all.csv").write_bytes(TABLE)
        self.link("Data").click()
        place = self.main.get_by_role("region", name="Upload files for all your sessions")
        with self.page.expect_file_chooser() as asked:
            place.get_by_role("button").first.click()
        asked.value.set_files(path)
        self.sees("all.csv: uploaded.")
        expect(self.main.get_by_role("button", name="all.csv")).to_be_visible()

    def makes_things(self, folder: Path) -> None:
        """Attach a file, have an artifact made and look at it, export the session."""
        (path := folder / "takings.csv").write_bytes(TABLE)
        self.new_chat()
        self.choose_domain(DOMAIN)
        self.attach(path)
        artifact = {"kind": "table", "title": "Differences", "content": ROWS}
        self.ask(
            script({"tools": [{"name": "make_artifact", "args": artifact}]}, {"text": "Made."})
        )
        self.sees("Made.")
        self.is_in_a_session()
        self.scripted.add(self.session_id)
        self.is_idle()
        self.main.get_by_role("link", name="Differences").click()
        expect(self.panel.get_by_text("40 rows")).to_be_visible()
        self.is_at_rest()
        self.press("Export")
        with self.page.expect_download() as report:
            self.opened("Export").get_by_role("button", name="Web page").click()
        exported = report.value.path().read_text()
        assert "Made." in exported
        assert "takings.csv" in exported


@contextmanager
def chromium() -> Iterator[Analyst]:
    """A browser, which does not know who has signed the certificate."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=["--disable-gpu", "--disable-dev-shm-usage", *sandbox_flags()],
        )
        context = browser.new_context(ignore_https_errors=True, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_MS)
        analyst = Analyst(context, PEOPLE_GO_TO)
        try:
            yield analyst
        except BaseException:
            print(analyst.page.url, analyst.page.locator("body").aria_snapshot())
            raise
        browser.close()

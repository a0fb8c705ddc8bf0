"""People of a desk where they sign in, and what they do there in a browser."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

from playwright.sync_api import BrowserContext, Page, WebSocket, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.integration.people.people import PASSWORD
from tests.stack import Stack

STORED = """async () => {
  const stored = [JSON.stringify(sessionStorage), JSON.stringify(localStorage), window.name];
  for (const name of await caches.keys()) stored.push(name);
  for (const { name } of await indexedDB.databases()) stored.push(name);
  return stored.join("\\n");
}"""


@dataclass(frozen=True)
class Office:
    """A desk with accounts, and its first administrator's token."""

    stack: Stack
    url: str
    admin: str

    def person(self) -> str:
        """Make a person with a password; return what they sign in with, which is their name."""
        login = f"person-{uuid4().hex[:8]}"
        invited = self.call("POST", "people", json={"name": login})
        take_link(self.stack, invited["link_token"], login)
        return login

    def disable(self, login: str) -> None:
        """Switch a person off, as an administrator does."""
        [(user_id,)] = self.stack.query("SELECT id FROM users WHERE login = :l", l=login)
        self.call("PATCH", f"people/{user_id}", json={"disabled": True})

    def call(self, method: str, path: str, **options: JSON) -> JSON:
        """Call the API as the administrator."""
        headers = {"Authorization": f"Bearer {self.admin}"}
        answer = self.stack.client.request(method, path, headers=headers, **options)
        assert answer.is_success, answer.text
        return answer.json()


def printed_link(stack: Stack) -> str:
    """Return the token of the link that the start prints for the first administrator."""
    status, said = stack.run("-m", "backend.people.first_admin")
    assert status == 0, said
    return said.strip().rpartition("/")[2]


def take_link(stack: Stack, link: str, login: str) -> str:
    """Set a password by a one-time link; return the token of the sign-in that begins."""
    body = {"login": login, "password": PASSWORD}
    answer = stack.client.post(f"/one-time-links/{link}", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


class Person(Desk):
    """One person's browser; notes every letter that its pages are sent."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        super().__init__(context, url)
        self.frames: list[str] = []
        self.sockets: list[WebSocket] = []
        context.on("page", self._listen)

    def visit(self, path: str = "") -> Page:
        """Open a tab, wherever that leads."""
        self.page = self.context.new_page()
        self.page.goto(f"{self.url}/{path}")
        return self.page

    def sign_in(self, login: str) -> None:
        """Fill in the form that the tab shows."""
        self.page.get_by_label("Name").fill(login)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.is_here(login)

    def is_here(self, name: str) -> None:
        """Wait until the page is drawn as this person's."""
        expect(self.sidebar.get_by_role("button", name=name)).to_be_visible()
        self.is_at_rest()

    def sign_out(self, name: str, button: str = "Sign out here") -> None:
        """Sign out in the menu under one's name."""
        self.sidebar.get_by_role("button", name=name).click()
        self.page.get_by_role("dialog").get_by_role("button", name=button).click()

    def is_out(self, timeout: float | None = None) -> None:
        """Wait until the tab is where people sign in."""
        expect(self.page).to_have_url(re.compile("/sign-in([?].*)?$"), timeout=timeout)
        expect(self.page.get_by_label("Password")).to_be_visible()

    def forget_frames(self) -> None:
        """Note only what is sent from now on."""
        self.frames.clear()

    def known(self) -> str:
        """Return all that the browser knows in this tab, as text: drawn, stored, and sent."""
        page = self.page
        drawn = page.content() + page.title()
        values = page.eval_on_selector_all("input, textarea", "all => all.map((one) => one.value)")
        path = urlsplit(page.url).path
        return "\n".join((path, drawn, *values, page.evaluate(STORED), *self.frames))

    def _listen(self, page: Page) -> None:
        page.on("websocket", self._hear)

    def _hear(self, socket: WebSocket) -> None:
        self.sockets.append(socket)
        socket.on("framereceived", self._note)

    def _note(self, payload: str | bytes) -> None:
        text = payload if isinstance(payload, str) else payload.decode("utf-8", errors="replace")
        self.frames.append(text)

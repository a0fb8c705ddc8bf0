"""What a person does at the desk, in the words of a person."""

import re
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from playwright.sync_api import Locator, TimeoutError, expect

from backend.types import JSON
from tests.e2e.conversation import Conversation

TRIES, TIP_MS = 20, 2_000
TO_END = "rows => rows.scrollTo(0, rows.scrollHeight)"
SCROLLED = """total => {
  const rows = document.querySelector(".sessions .rows");
  rows.scrollTo(0, rows.scrollHeight);
  return rows.querySelectorAll("[data-session]").length >= total;
}"""
STANDSTILL = """() => new Promise((done) => {
  const page = document.querySelector('[data-testid="stMainBlockContainer"]');
  let height, still = 0;
  const moved = () => (still = 0);
  document.addEventListener("scroll", moved, true);
  const fades = (one) =>
    one.playState === "running" && Number.isFinite(one.effect.getComputedTiming().endTime);
  const look = () => {
    if (page.offsetHeight !== height || document.getAnimations().some(fades)) moved();
    height = page.offsetHeight;
    if (++still < 10) return requestAnimationFrame(look);
    document.removeEventListener("scroll", moved, true);
    done();
  };
  look();
})"""


class Desk(Conversation):
    """One person at the desk."""

    def sees(self, *texts: str) -> None:
        """Wait until all these texts are on the page."""
        for text in texts:
            expect(self.main.get_by_text(text).filter(visible=True).first).to_be_visible()

    def sees_once(self, text: str) -> None:
        """Wait until a text is on the page, and make sure that it is there once."""
        expect(self.main.get_by_text(text)).to_have_count(1)

    def sees_not(self, text: str) -> None:
        expect(self.main.get_by_text(text)).to_have_count(0)

    def is_told(self, text: str) -> None:
        """Wait until the page says in its corner what an action has done."""
        expect(self.told.filter(has_text=text).first).to_be_visible()

    @property
    def told(self) -> Locator:
        """What the page says in its corner."""
        return self.page.get_by_test_id("stToast")

    def is_connected(self) -> None:
        """Make sure that nothing says that the pages' server does not answer."""
        expect(self.page.get_by_test_id("stStatusWidget")).to_have_count(0)

    def has_no_complaint(self) -> None:
        """Make sure that nothing on the page says that anything failed."""
        self.is_connected()
        expect(self.main.get_by_test_id("stAlertContentError")).to_have_count(0)
        expect(self.main.locator(".cq-error[role=alert]")).to_have_count(0)
        expect(self.told.get_by_text("error", exact=True)).to_have_count(0)  # its icon

    def is_at_rest(self) -> None:
        """Wait until the page is drawn, as somebody has who reads before writing on."""
        at_rest = self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
        expect(at_rest).to_be_visible()
        expect(self.main.locator("section[aria-busy=true]")).to_have_count(0)

    def lies_still(self) -> None:
        """Wait until nothing scrolls, unfolds or fades: a list closes when its page moves."""
        self.page.evaluate(STANDSTILL)

    def new_chat(self) -> None:
        self.link("New Chat").click()
        self.sees("What would you like to know?")

    def choose_domain(self, name: str) -> None:
        """Choose a new chat's domain, also one that a long list does not show at first."""
        self.is_at_rest()
        self.main.get_by_role("combobox").fill(name)
        self.page.get_by_role("option", name=name).click()

    def administer(self, page: str) -> None:
        """Open an administrators' page from the sidebar."""
        self.press("Administration")
        self.opened("Administration").get_by_role("button", name=page, exact=True).click()
        expect(self.main.get_by_role("heading", name=page, exact=True)).to_be_visible()

    def tells(self, what: Locator, text: str) -> None:
        """Point at something until its tip says this: what moves away from the mouse has none."""
        tip = self.page.get_by_text(text).filter(visible=True).first
        for _ in range(TRIES):
            what.hover(force=True)
            with suppress(TimeoutError):
                tip.wait_for(timeout=TIP_MS)
                return
        expect(tip).to_be_visible()

    def is_in_a_session(self) -> None:
        """Wait until the URL names a session."""
        expect(self.page).to_have_url(re.compile("[?]session="))

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def opened(self, name: str) -> Locator:
        """What a button of this name has opened."""
        return self.page.get_by_role("dialog", name=name)

    @property
    def hits(self) -> Locator:
        """What a search in messages has found."""
        return self.main.locator('[class*="st-key-found-"]')

    # --- The list of sessions

    @property
    def sessions(self) -> Locator:
        """The rows of the list, each with all that belongs to it."""
        return self.sidebar.locator("[data-session]")

    def item(self, session_id: str) -> Locator:
        """A session's row with all that belongs to it."""
        return self.sidebar.locator(f"[data-session='{session_id}']")

    def row(self, session_id: str) -> Locator:
        """What opens a session, and selects it where several are selected."""
        item = self.item(session_id)
        opener = item.get_by_role("button", name=re.compile("^(?!Actions for )"))
        return opener.or_(item.get_by_role("checkbox"))

    @property
    def search_titles(self) -> Locator:
        """The field that finds sessions by their titles."""
        return self.sidebar.get_by_role("searchbox")

    def scroll_sessions(self) -> None:
        """Scroll the list to its end, as far as it has come."""
        self.sidebar.locator(".rows").evaluate(TO_END)

    def has_sessions(self, total: int) -> None:
        """Scroll to the end of the list, as far as it goes, until so many have come.

        Again and again: a search that is still being typed begins the list anew.
        """
        self.page.wait_for_function(SCROLLED, arg=total, polling=100)

    def is_marked(self, session_id: str, mark: str) -> None:
        """Wait until a status, or that there is something new, is said after the title."""
        said = re.compile(f", {mark}$")
        expect(self.row(session_id)).to_have_accessible_name(said)

    def open_menu(self, session_id: str) -> None:
        """Open the menu of a session's row."""
        self.item(session_id).get_by_role("button", name="Actions for ").click()

    def choose(self, session_id: str, action: str) -> None:
        """Choose an action in the menu of a session's row."""
        self.open_menu(session_id)
        self.page.get_by_role("menuitem", name=action, exact=True).click()

    def delete(self, session_id: str) -> None:
        """Delete a session in the sidebar; for some seconds it can be undone."""
        self.choose(session_id, "Delete")
        question = self.page.get_by_role("alertdialog")
        question.get_by_role("button", name="Delete", exact=True).click()


def without_end(text: str) -> Callable[[list[JSON], JSON], JSON]:
    """A scripted model that says one text and goes on without another word until it is stopped."""
    return lambda messages, body: {"text": text, "until": Event()}


def slowly(text: str, delay: float = 0.03) -> Callable[[list[JSON], JSON], JSON]:
    """A scripted model that streams one text, piece by piece."""
    return lambda messages, body: {"text": text, "delay": delay}

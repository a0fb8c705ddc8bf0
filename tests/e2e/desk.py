"""What a person does at the desk, in the words of a person."""

import re
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError, expect

from backend.types import JSON

TRIES, TIP_MS = 20, 2_000
COMPOSER_NAME = """area => [...area.closest('[class*="st-key-composer-"]').classList]
  .find((one) => one.startsWith("st-key-composer-"))"""

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


class Desk:
    """One person's browser; each tab is a page of it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context, self.url = context, url
        self.requests: list[str] = []
        self._page: Page | None = None

    @property
    def page(self) -> Page:
        """The tab that is looked at; it opens when a test first looks, so none is drawn in vain."""
        return self._page or self.open()

    @page.setter
    def page(self, page: Page) -> None:
        self._page = page

    def open(self, query: str = "") -> Page:
        """Open a tab, and make it the one that is looked at."""
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(f"{self.url}/{query}")
        new_chat = self.sidebar.locator(".st-key-new-chat").get_by_role("button")
        expect(new_chat).to_be_visible()
        return self.page

    @property
    def main(self) -> Locator:
        """The page beside the sidebar."""
        return self.page.get_by_role("main")

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def composer(self) -> Locator:
        """The one in sight: that of the session before stays, hidden, while a turn is followed.

        For a moment both can be in sight; the new one comes first.
        """
        return self.page.get_by_test_id("stChatInputTextArea").filter(visible=True).first

    @property
    def query(self) -> str:
        """The part of the URL that names the session."""
        return "?" + self.page.url.partition("?")[2]

    @property
    def session_id(self) -> str:
        return self.query.removeprefix("?session=")

    def sends_by_itself(self) -> None:
        """Wait until the script that sends knows of this composer; before, Streamlit does."""
        name = self.composer.evaluate(COMPOSER_NAME)
        expect(self.page.locator("body")).to_have_attribute("data-colloquy-sends", name)

    def ask(self, text: str) -> None:
        """Write a message and press Enter."""
        self.composer.fill(text)
        self.composer.press("Enter")

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
        told = self.page.get_by_test_id("stToast").filter(has_text=text)
        expect(told.first).to_be_visible()

    def is_idle(self) -> None:
        """Wait until no turn runs, nor is on its way to stop, and nothing streams any more."""
        streams = self.main.locator(".colloquy-sent, .colloquy-draft, .colloquy-status:visible")
        expect(streams).to_have_count(0)
        stop = self.page.get_by_role("button", name=re.compile("^(Stop|Stopping)$"))
        expect(stop).to_have_count(0)

    def is_at_rest(self) -> None:
        """Wait until the page is drawn, as somebody has who reads before writing on."""
        at_rest = self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
        expect(at_rest).to_be_visible()

    def lies_still(self) -> None:
        """Wait until nothing scrolls, unfolds or fades: a list closes when its page moves."""
        self.page.evaluate(STANDSTILL)

    def new_chat(self) -> None:
        self.sidebar.locator(".st-key-new-chat").get_by_role("button").click()
        self.sees("What would you like to know?")

    def choose_domain(self, name: str) -> None:
        """Choose a new chat's domain, also one that a long list does not show at first."""
        self.is_at_rest()
        self.main.get_by_role("combobox").fill(name)
        self.page.get_by_role("option", name=name).click()

    def administer(self, page: str) -> None:
        """Open an administrators' page from the sidebar."""
        self.press("Administration")
        self.page.get_by_test_id("stPopoverBody").get_by_role(
            "button", name=page, exact=True
        ).click()
        expect(self.main.get_by_role("heading", name=page, exact=True)).to_be_visible()

    def tells(self, what: Locator, text: str) -> None:
        """Point at something until its tip says this: what moves away from the mouse has none."""
        tip = self.page.get_by_text(text)
        for _ in range(TRIES):
            what.hover(force=True)
            with suppress(TimeoutError):
                tip.wait_for(timeout=TIP_MS)
                return
        expect(tip).to_be_visible()

    def step(self, name: str) -> Locator:
        """The card of a tool call."""
        return self.main.locator("strong").filter(has_text=name)

    def open_steps(self) -> None:
        """Open the line that the finished steps of an earlier turn are folded into."""
        self.main.get_by_text(re.compile("^Worked ")).last.click()

    def unfold_steps(self) -> None:
        """Have the steps of the latest turn in sight: folded, if it ended before it was drawn."""
        folded = self.main.get_by_text(re.compile("^Worked "))
        expect(folded.or_(self.main.locator("strong")).first).to_be_visible()
        if folded.count():
            self.open_steps()

    def is_in_a_session(self) -> None:
        """Wait until the URL names a session."""
        expect(self.page).to_have_url(re.compile("[?]session="))

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def row(self, session_id: str) -> Locator:
        """A session's row in the sidebar."""
        return self.item(session_id).locator(".open")

    def item(self, session_id: str) -> Locator:
        """A session's row with all that belongs to it."""
        return self.sidebar.locator(f"[data-session='{session_id}']")

    def is_marked(self, session_id: str, mark: str) -> None:
        """Wait until a status, or that there is something new, stands before the title."""
        expect(self.item(session_id)).to_have_attribute("data-mark", mark)

    def choose(self, session_id: str, action: str) -> None:
        """Choose an action in the menu of a session's row."""
        self.item(session_id).locator(".more").click()
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

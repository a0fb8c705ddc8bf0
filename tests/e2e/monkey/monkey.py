"""A monkey at the desk: seeded, it writes, clicks, presses keys and goes from page to page.

What deletes, drains, prints or asks for a file it leaves alone; all else that can be seen it may
press, and change what it said.
"""

import random
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, Request

from tests.e2e.desk import Desk

PAGES = (
    "", "search?q=answer", "data", "inbox", "sessions", "domains", "servers", "usage", "work",
    "retention", "webhooks",
)  # fmt: skip
OF_SESSIONS = ("?session={}", "configuration?session={}", "inspector?session={}")
KEYS = ("Escape", "Tab", "Shift+Tab", "ArrowDown", "ArrowUp", "Home", "End", "?", "Control+K")
LEFT_ALONE = re.compile(
    r"delete|drain|print|record|deploy|apply|clear cache|settings|upload|attach|browse|take back"
    r"|rebuild|discard|main menu|default|\bedit\b(?!.*st-key-actions-)",
    re.IGNORECASE | re.DOTALL,
)
PRESSABLE = (
    "button:not([disabled]), summary, [role=radio], [role=tab], [role=option], [role=menuitem],"
    " [role=checkbox], [data-testid=stPageLink-NavLink], input[type=text], input[type=search]"
)
# On a page below the root Streamlit first looks for its server there, and then at the root.
PROBE = re.compile(r":\d+/\w+/_stcore/(health|host-config)$")
SENDING_LOOKS = 150  # of 0.1 s: a new chat waits until the page is settled
PATIENCE_MS = 1_500  # for a click on what is gone again meanwhile
KNOWN = """() => {
  const { composer, session, waiting, messages, problem } = window.colloquyLive?.sending ?? {};
  const { dataset } = document.querySelector('[data-testid="stApp"]');
  const drafts = [...window.colloquyDrafts];
  const { colloquyActing } = document.body.dataset;
  return JSON.stringify({ composer, session, waiting: [...(waiting ?? [])], messages, problem,
    drafts, colloquyActing, state: dataset.testScriptState });
}"""  # what the page's scripts know of messages that are being sent
FIND = """([selector, width, height]) => {
  const found = [...document.querySelectorAll(selector)];
  document.querySelectorAll("[data-monkey]").forEach((one) => one.removeAttribute("data-monkey"));
  return found.map((one, place) => {
    const box = one.getBoundingClientRect();
    const isSeen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < height
      && box.right > 0 && box.left < width;
    if (!isSeen) return null;
    one.setAttribute("data-monkey", place);
    const name = one.getAttribute("aria-label") || one.title || one.innerText || "";
    const key = one.closest("[class*=st-key-]")?.className ?? "";
    return { place, name: `${name} ${key}`, tag: one.tagName };
  }).filter(Boolean);
}"""


class Monkey:
    """One run; `did` is what it did, in words, so that a failure can be told."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk, self.random = desk, random.Random(seed)
        self.mark = f"mk{seed}x{random.SystemRandom().randrange(10**6)}"
        self.did: list[str] = []
        self.written = 0
        self.sent: set[str] = set()  # to the pages' server
        self.accepted: set[str] = set()  # by the service
        self.complaints: list[str] = []
        self.sessions: list[str] = []
        self._watch(desk.page)

    def act(self) -> None:
        """Do one thing."""
        acts: list[tuple[Callable[[], str], int]] = [
            (self._write, 5), (self._press, 12), (self._key, 3), (self._type, 2),
            (self._go, 2), (self._open_session, 3), (self._reload, 1), (self._back, 1),
        ]  # fmt: skip
        doers, weights = zip(*acts, strict=True)
        doer = self.random.choices(doers, weights)[0]
        try:
            self.did.append(doer())
        except Error as problem:  # what it aimed at was gone, or lay under something else
            self.did.append(f"{doer.__name__} missed: {problem.message.splitlines()[0][:80]}")
        for extra in self.desk.context.pages[2:]:
            extra.close()

    def _write(self) -> str:
        composer = self.desk.composer
        if composer.count() != 1 or not self._sends():
            return self._go_to("")
        text = f"{self.mark} message {self.written}"
        before = self._composer_name()
        composer.fill(text, timeout=PATIENCE_MS)
        # A dialog over it has kept the keys for itself, or the page has gone to another session.
        if composer.input_value() != text or self._composer_name() != before:
            return "could not write"
        self.written += 1  # also where nobody knows whether the key was heard in time
        composer.press("Enter", timeout=PATIENCE_MS)
        # Whatever lies over the composer may take the key in its stead: then the text stays there.
        is_emptied = self._composer_name() == before and composer.input_value() != text
        for _ in range(SENDING_LOOKS):
            if not is_emptied or text in self.sent:
                return f"wrote {text}"
            self.desk.page.wait_for_timeout(100)
        known = self.desk.page.evaluate(KNOWN)
        self.complaints.append(f"{text} left {before} and was not sent: {known}")
        return f"lost {text}"

    def _composer_name(self) -> str:
        holder = self.desk.composer.locator("xpath=ancestor::*[contains(@class, 'st-key-')][1]")
        return holder.get_attribute("class", timeout=PATIENCE_MS) or ""

    def _sends(self) -> bool:
        return self.desk.page.locator("body[data-colloquy-sends]").count() == 1

    def _press(self) -> str:
        found = [one for one in self._find() if not LEFT_ALONE.search(one["name"])]
        if not found:
            return self._go_to("")
        one = self.random.choice(found)
        target = self.desk.page.locator(f"[data-monkey='{one['place']}']")
        target.click(timeout=PATIENCE_MS)
        return f"pressed {' '.join(one['name'].split())[:60]}"

    def _key(self) -> str:
        key = self.random.choice(KEYS)
        self.desk.page.keyboard.press(key)
        return f"key {key}"

    def _type(self) -> str:
        if self.desk.page.locator("textarea:focus, input:focus").count() == 0:
            return "typed nothing"
        self.desk.page.keyboard.type(self.random.choice(("budget", "1,5", "ä ö", "<b>", "$$x$$")))
        return "typed"

    def _go(self) -> str:
        return self._go_to(self.random.choice(PAGES))

    def _open_session(self) -> str:
        self._note_session()
        if not self.sessions:
            return self._go_to("")
        path = self.random.choice((*OF_SESSIONS, *[OF_SESSIONS[0]] * 3))
        return self._go_to(path.format(self.random.choice(self.sessions)))

    def _reload(self) -> str:
        self.settle()
        self.desk.page.reload()
        return "reload"

    def _back(self) -> str:
        self.settle()
        self.desk.page.go_back(timeout=10_000)
        return "back"

    def _go_to(self, path: str) -> str:
        self.settle()
        self.desk.page.goto(f"{self.desk.url}/{path}")
        return f"went to /{path}"

    def settle(self) -> None:
        """Wait until what was written is with the service: who leaves before takes it along."""
        self._note_session()
        sending = self.desk.page.locator(".colloquy-sent").filter(has_text=self.mark)
        if sending.count():
            sending.first.wait_for(state="detached", timeout=45_000)

    def _note_session(self) -> None:
        found = re.search(r"[?&]session=([0-9a-f-]{36})", self.desk.page.url)
        if found and found[1] not in self.sessions:
            self.sessions.append(found[1])

    def _find(self) -> list[dict[str, Any]]:
        size = self.desk.page.viewport_size or {"width": 1280, "height": 900}
        arguments = [PRESSABLE, size["width"], size["height"]]
        found: list[dict[str, Any]] = self.desk.page.evaluate(FIND, arguments)
        return found

    def _watch(self, page: Page) -> None:
        page.on(
            "pageerror", lambda error: self.complaints.append(f"{error.message}\n{error.stack}")
        )
        page.on("console", self._heard)
        page.on("request", lambda request: self._note(request, self.sent))
        page.on("requestfinished", self._note_answer)
        page.on("dialog", lambda dialog: dialog.accept())  # of a form that is left

    def _note(self, request: Request, into: set[str]) -> None:
        if request.url.endswith("/colloquy/send"):
            into.add(str((request.post_data_json or {}).get("text")))

    def _note_answer(self, request: Request) -> None:
        answer = request.response()
        if answer is not None and answer.ok:
            self._note(request, self.accepted)

    def _heard(self, said: ConsoleMessage) -> None:
        url = str(said.location.get("url", ""))
        if said.type == "error" and not PROBE.search(url):
            self.complaints.append(f"{said.text} ({url})")

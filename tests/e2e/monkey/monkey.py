"""A monkey at the desk: seeded, it writes, hands over files, deletes, clicks, presses keys and goes
from page to page.

In a conversation, in the list of sessions and in the Inbox it may press all but what prints; on
other pages it leaves alone what deletes, drains or asks for a file.
"""

import random
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, FileChooser, Page, Request, expect

from tests.e2e.conversation import SENDING
from tests.e2e.desk import Desk

PAGES = (
    "", "search?q=answer", "data", "inbox", "sessions", "domains", "servers", "usage", "work",
    "retention", "webhooks",
)  # fmt: skip
OF_SESSIONS = ("?session={}", "configuration?session={}", "inspector?session={}")
KEYS = ("Escape", "Tab", "Shift+Tab", "ArrowDown", "ArrowUp", "Home", "End", "?", "Control+K")
LEFT_ALONE = re.compile(
    r"delete|drain|print|record|deploy|apply|clear cache|settings|upload|attach|browse|take back"
    r"|rebuild|discard|main menu|default|\bedit\b",
    re.IGNORECASE,
)
OURS_LEFT_ALONE = re.compile(r"\bprint\b", re.IGNORECASE)
PRESSABLE = (
    "button:not([disabled]), summary, [role=radio], [role=tab], [role=option], [role=menuitem],"
    " [role=checkbox], [data-testid=stPageLink-NavLink], input[type=text], input[type=search]"
)
# On a page below the root Streamlit first looks for its server there, and then at the root.
PROBE = re.compile(r":\d+/\w+/_stcore/(health|host-config)$")
REFUSED = re.compile("status of 4[0-9][0-9]")  # which the page shows beside its cause
OF_SESSION = re.compile(r"/colloquy/api/sessions/([0-9a-f-]{36})(/undelete)?(\?|$)")
SENDING_LOOKS = 150  # of 0.1 s
PATIENCE_MS = 1_500  # for a click on what is gone again meanwhile
EFFECT_MS = 20_000  # in which what was done has its effect
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
    return { place, name, isOurs: one.closest(".cq-root") !== null };
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
        self.accepted: dict[str, str] = {}  # by the service, and in which session
        self.complaints: list[str] = []
        self.deleted: set[str] = set()  # sessions, as the service was asked and has accepted
        self.sessions: list[str] = []
        self._watch(desk.page)

    def act(self) -> None:
        """Do one thing."""
        acts: list[tuple[Callable[[], str], int]] = [
            (self._write, 5), (self._press, 12), (self._key, 3), (self._type, 2),
            (self._go, 2), (self._open_session, 3), (self._reload, 1), (self._back, 1),
            (self._upload, 2), (self._delete, 1),
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
        if composer.count() != 1:
            return self._go_to("")
        text = f"{self.mark} message {self.written}."
        before = self._place()
        composer.fill(text, timeout=PATIENCE_MS)
        # A dialog over it has kept the keys for itself, or the page has gone to another session.
        if composer.input_value() != text or self._place() != before:
            return "could not write"
        self.written += 1  # also where nobody knows whether the key was heard in time
        composer.press("Enter", timeout=PATIENCE_MS)
        # Whatever lies over the composer may take the key in its stead: then the text stays there.
        is_there = before in ("", self._place())
        is_emptied = is_there and composer.input_value(timeout=PATIENCE_MS) != text
        for _ in range(SENDING_LOOKS):
            if not is_emptied or text in self.sent:
                return f"wrote {text}"
            self.desk.page.wait_for_timeout(100)
        self.complaints.append(f"{text} left {before} and was not sent")
        return f"lost {text}"

    def _place(self) -> str:
        """The session that is open; "" for a new chat."""
        found = re.search(r"[?&]session=([0-9a-f-]{36})", self.desk.page.url)
        return found[1] if found else ""

    def _upload(self) -> str:
        """Hand over a file: it arrives, or the page says why it does not."""
        chooser = self.desk.foot.locator("input[type=file]")
        if chooser.count() != 1:
            return self._go_to("")
        name, before = f"{self.mark}-{len(self.did)}.csv", self._place()
        self._give(chooser.set_input_files, name)
        arrived = self.desk.foot.get_by_text(f"{name}, uploaded")
        refused = self.desk.foot.get_by_role("alert").filter(has_text=name)
        try:
            expect(arrived.or_(refused).first).to_be_visible(timeout=EFFECT_MS)
        except AssertionError:
            if self._place() == before and self.desk.foot.count():
                self.complaints.append(f"{name} was lost")
        return f"handed over {name}"

    def _give(self, set_files: Callable[..., None], name: str) -> None:
        set_files({"name": name, "mimeType": "text/csv", "buffer": b"name,amount\na,1.5\n"})

    def _choose(self, chooser: FileChooser) -> None:
        if self.desk.foot.count():
            self._give(chooser.set_files, f"{self.mark}-chosen-{len(self.did)}.csv")

    def _delete(self) -> str:
        """Delete a session in the list; sometimes undo it."""
        self.settle()
        rows = self.desk.sessions
        if not rows.count():
            return self._go_to("")
        session = str(self.random.choice(rows.all()).get_attribute("data-session"))
        actions = self.desk.item(session).get_by_role("button", name="Actions for ")
        actions.click(timeout=PATIENCE_MS)
        page = self.desk.page
        page.get_by_role("menuitem", name="Delete", exact=True).click(timeout=PATIENCE_MS)
        question = page.get_by_role("alertdialog").get_by_role("button", name="Delete", exact=True)
        question.click(timeout=PATIENCE_MS)
        self._expect(session, is_shown=False)
        if self.random.random() < 0.5:
            page.get_by_role("button", name="Undo", exact=True).click(timeout=PATIENCE_MS)
            self._expect(session, is_shown=True)
            return f"deleted {session} and took it back"
        return f"deleted {session}"

    def _expect(self, session: str, *, is_shown: bool) -> None:
        """The list shows what was done, and the service has accepted it."""
        try:
            expect(self.desk.item(session)).to_have_count(int(is_shown), timeout=EFFECT_MS)
        except AssertionError:
            self.complaints.append(f"{session} is {'not ' * is_shown}in the list")
        for _ in range(SENDING_LOOKS):
            if (session in self.deleted) != is_shown:
                return
            self.desk.page.wait_for_timeout(100)
        self.complaints.append(f"{session}: the service does not know of its deletion, or its end")

    def _press(self) -> str:
        left = {True: OURS_LEFT_ALONE, False: LEFT_ALONE}
        found = [one for one in self._find() if not left[one["isOurs"]].search(one["name"])]
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
        sending = self.desk.sent.filter(has_text=self.mark)
        if sending.count():
            sending.first.wait_for(state="detached", timeout=45_000)

    def _note_session(self) -> None:
        session = self._place()
        if session and session not in self.sessions:
            self.sessions.append(session)

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
        page.on("request", lambda request: self.sent.update(self._said(request)))
        page.on("requestfinished", self._note_answer)
        page.on("dialog", lambda dialog: dialog.accept())  # of a form that is left
        page.on("filechooser", self._choose)

    def _said(self, request: Request) -> list[str]:
        if request.method != "POST" or not SENDING.search(request.url):
            return []
        said = str((request.post_data_json or {}).get("message"))
        return re.findall(rf"{self.mark} message \d+\.", said)

    def _note_answer(self, request: Request) -> None:
        answer = request.response()
        if answer is None or not answer.ok:
            return
        if said := self._said(request):
            self.accepted |= dict.fromkeys(said, str(answer.json()["session_id"]))
        found = OF_SESSION.search(request.url)
        if found and found[2]:
            self.deleted.discard(found[1])
        elif found and request.method == "DELETE":
            self.deleted.add(found[1])

    def _heard(self, said: ConsoleMessage) -> None:
        url = str(said.location.get("url", ""))
        is_refused = "/colloquy/api/" in url and REFUSED.search(said.text)
        if said.type == "error" and not PROBE.search(url) and not is_refused:
            self.complaints.append(f"{said.text} ({url})")

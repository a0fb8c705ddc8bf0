"""The conversation of a session as a person sees it: history, stream, composer, panel.

What a screen reader would say is looked for by role and name; what it would not say, by marks of
the page, which are all named here.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import Locator, Route, expect

from tests.e2e.tabs import Tabs

COMPOSER = re.compile("^(Ask anything about your data|Keep writing: )")
SENDING = re.compile(r"/colloquy/api/(sessions/[^/]+/)?chat$")
UPLOADING = "**/colloquy/api/files"
ACTIVITY = ".cq-activity"  # what a screen reader says of a turn
BUSY = 'article[aria-busy="true"]'  # a message that is being written


class Conversation(Tabs):
    """What a tab shows of a session."""

    # --- History

    @property
    def messages(self) -> Locator:
        """Each group of blocks that one speaker said."""
        return self.main.get_by_role("article", name="Message of ")

    def message(self, text: str) -> Locator:
        return self.messages.filter(has_text=text)

    @property
    def prose(self) -> Locator:
        """The parts of the stored answers that are prose: not code, nor diagrams."""
        return self.main.locator(f"article:not({BUSY}) .colloquy-prose")

    @property
    def formulas(self) -> Locator:
        """Those that stand in a line of their own."""
        return self.main.locator("math[display=block]").filter(visible=True)

    @property
    def diagrams(self) -> Locator:
        return self.main.get_by_role("img", name="Diagram").filter(visible=True)

    @property
    def charts(self) -> Locator:
        """The drawings of the charts that are in sight."""
        return self.main.locator(".cq-chart svg.marks").filter(visible=True)

    def shown_as(self, name: str) -> Locator:
        """The buttons that show a tool's table as such, or as a chart."""
        choice = self.main.get_by_role("group", name="Show as")
        return choice.get_by_role("button", name=name).filter(visible=True)

    @property
    def tables(self) -> Locator:
        """The tables that tools gave, as far as they are in sight."""
        return self.main.locator(".cq-table table").filter(visible=True)

    @property
    def pictures(self) -> Locator:
        """The pictures that tools gave."""
        return self.main.locator("img.cq-picture")

    @property
    def code(self) -> Locator:
        """The blocks of code of stored answers."""
        return self.main.locator(".cq-code")

    @property
    def speakers(self) -> Locator:
        """The lines above the answers that say whose they are, and why."""
        return self.main.locator(".cq-speaker")

    @property
    def header_icons(self) -> Locator:
        """The row of all that a session's header leads to."""
        return self.main.locator(".cq-icons")

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

    def question(self, why: str, argument: str) -> Locator:
        """The card of a call that asks: why it does, and one of its arguments."""
        cards = self.main.get_by_role("group", name="Waits for approval: ")
        return cards.filter(has=self.page.get_by_text(why)).filter(
            has=self.page.get_by_text(argument, exact=True)
        )

    @property
    def marked(self) -> Locator:
        """The message that a link leads to."""
        return self.main.locator(".cq-hit")

    def holds_no_place(self) -> None:
        """Wait until the page has brought the reader to the message that a link leads to."""
        expect(self.marked).to_be_in_viewport()

    # --- Versions

    @property
    def editor(self) -> Locator:
        """The field in which a message is written anew."""
        return self.main.get_by_label("Edit your message")

    def edit(self, text: str, to: str) -> None:
        """Write a message anew, in its place, and press Enter."""
        self.message(text).get_by_role("button", name="Edit").click()
        expect(self.editor).to_have_value(text)
        expect(self.editor).to_be_focused()
        self.editor.fill(to)
        self.editor.press("Enter")

    def version(self, word: str) -> Locator:
        """The button that leads to the earlier or later version of a message."""
        return self.main.get_by_role("button", name=f"{word} version")

    # --- What streams

    @property
    def sent(self) -> Locator:
        """Own words that only the browser knows yet."""
        return self.main.locator('[data-id^="sent-"] .cq-verbatim')

    @property
    def sent_below_the_answer(self) -> Locator:
        """Such words, where they stand below an answer that streams."""
        return self.main.locator(f'[data-id]:has({BUSY}) ~ [data-id^="sent-"] .cq-verbatim')

    @property
    def drafts(self) -> Locator:
        """What streams, by agent: its name, its thinking, its text."""
        return self.main.locator(BUSY)

    @property
    def streamed(self) -> Locator:
        """The text that streams."""
        return self.drafts.locator(".colloquy-text")

    @property
    def thoughts(self) -> Locator:
        """The box of the thinking that streams."""
        return self.main.locator(".colloquy-thoughts")

    @property
    def status(self) -> Locator:
        """The line that says what a turn does."""
        return self.main.locator(".cq-status")

    def is_idle(self) -> None:
        """Wait until no turn runs, nor is on its way to stop, and nothing streams any more."""
        for streams in (self.sent, self.drafts, self.status):
            expect(streams).to_have_count(0)
        stop = self.page.get_by_role("button", name=re.compile("^(Stop|Stopping)$"))
        expect(stop).to_have_count(0)

    # --- The composer

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name=COMPOSER)

    @property
    def foot(self) -> Locator:
        """What stays at the end of the window: the composer, and what is said about it."""
        return self.page.get_by_role("region", name="Your message")

    def ask(self, text: str) -> None:
        """Write a message and press Enter."""
        self.composer.fill(text)
        self.composer.press("Enter")

    def on_sending(self, do: Callable[[Route], object], times: int | None = None) -> None:
        """Do this with messages that are on their way from the browser."""
        self.page.route(SENDING, do, times=times)

    def is_sending(self) -> AbstractContextManager[object]:
        """Do within what sends a message: it ends when that is on its way."""
        return self.page.expect_request(SENDING)

    # --- Files in the composer

    def choose_files(self, *paths: Path) -> None:
        """Choose files in the composer, in the dialog of the browser."""
        with self.page.expect_file_chooser() as asked:
            self.main.get_by_role("button", name="Upload files").click()
        asked.value.set_files(paths)

    def attach(self, *paths: Path) -> None:
        """Choose files in the composer, and wait until the browser has handed them over."""
        self.choose_files(*paths)
        self.has_files(*(path.name for path in paths))

    def has_files(self, *names: str) -> None:
        """Wait until the composer has these files, and none is on its way."""
        for name in names:
            expect(self.foot.get_by_text(f"{name}, uploaded")).to_be_visible()
        expect(self.arriving).to_have_count(0)

    @property
    def files(self) -> Locator:
        """The files in the composer, each as the button that takes it out."""
        return self.foot.get_by_role("button", name="Remove", exact=True)

    @property
    def arriving(self) -> Locator:
        """The marks of files that are on their way."""
        return self.foot.get_by_role("progressbar")

    @property
    def broken(self) -> Locator:
        """What is said of files that did not arrive."""
        return self.foot.get_by_role("alert").filter(has_text="was not uploaded")

    @property
    def waits(self) -> Locator:
        """The sign that a message waits for its files."""
        return self.foot.get_by_text("Sends when the file has arrived")

    def on_uploading(self, do: Callable[[Route], object]) -> None:
        """Do this with files that are on their way from the browser."""
        self.page.route(UPLOADING, do)

    # --- Beside the conversation

    @property
    def panel(self) -> Locator:
        """The artifacts beside the chat."""
        return self.page.get_by_role("complementary", name="Artifacts")

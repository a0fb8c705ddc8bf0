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

# Streamlit draws the composer, and names what is in it.
COMPOSER = re.compile("^(Ask anything about your data|Keep writing: )")
COMPOSER_NAME = """area => [...area.closest('[class*="st-key-composer-"]').classList]
  .find((one) => one.startsWith("st-key-composer-"))"""
SENDING = "**/colloquy/send"
UPLOADING = "**/_stcore/upload_file/**"
STREAMED = ".colloquy-text"  # what an agent writes, while it streams
STATUS = '.colloquy-live [role="status"]'  # what a screen reader is told of a turn
IS_FREE = "() => !colloquyPlaces.held"


class Conversation(Tabs):
    """What a tab shows of a session."""

    # --- History

    @property
    def messages(self) -> Locator:
        """Each group of blocks that one speaker said."""
        return self.main.get_by_role("group", name="Chat message from ")

    def message(self, text: str) -> Locator:
        return self.messages.filter(has_text=text)

    @property
    def prose(self) -> Locator:
        """The parts of the stored answers that are prose: not code, nor diagrams."""
        return self.main.locator(".stHtml .colloquy-prose")

    @property
    def formulas(self) -> Locator:
        """Those that stand in a line of their own."""
        return self.main.locator("math[display=block]").filter(visible=True)

    @property
    def diagrams(self) -> Locator:
        return self.main.get_by_role("img", name="Mermaid").filter(visible=True)

    @property
    def charts(self) -> Locator:
        """The drawings of the charts that are in sight."""
        return self.main.locator("svg.marks").filter(visible=True)

    @property
    def tables(self) -> Locator:
        """The tables that tools gave, as far as they are in sight."""
        return self.main.get_by_test_id("stDataFrame").filter(visible=True)

    @property
    def pictures(self) -> Locator:
        """The pictures that tools gave."""
        return self.main.get_by_test_id("stImage").locator("img")

    @property
    def code(self) -> Locator:
        """The blocks of code of stored answers."""
        return self.main.get_by_test_id("stCode")

    @property
    def speakers(self) -> Locator:
        """The lines above the answers that say whose they are, and why."""
        return self.main.get_by_test_id("stCaptionContainer")

    @property
    def header_icons(self) -> Locator:
        """The row of all that a session's header leads to."""
        return self.main.locator("[class*=st-key-icons-]").first

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
        cards = self.main.locator("[class*='st-key-call-']")
        return cards.filter(has=self.page.get_by_text(why)).filter(
            has=self.page.get_by_text(argument, exact=True)
        )

    def holds_no_place(self) -> None:
        """Wait until the page has brought the reader to the message that a link leads to."""
        self.page.wait_for_function(IS_FREE)

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
        return self.main.locator(".colloquy-sent")

    @property
    def sent_below_the_answer(self) -> Locator:
        """Such words, where they stand below an answer that streams."""
        return self.main.locator(".colloquy-answer ~ * .colloquy-sent")

    @property
    def drafts(self) -> Locator:
        """What streams, by agent: its name, its thinking, its text."""
        return self.main.locator(".colloquy-draft")

    @property
    def streamed(self) -> Locator:
        """The text that streams."""
        return self.main.locator(STREAMED)

    @property
    def thoughts(self) -> Locator:
        """The box of the thinking that streams."""
        return self.main.locator(".colloquy-thoughts")

    @property
    def status(self) -> Locator:
        """The line that says what a turn does."""
        return self.main.locator(".colloquy-status")

    def is_idle(self) -> None:
        """Wait until no turn runs, nor is on its way to stop, and nothing streams any more."""
        streams = self.main.locator(".colloquy-sent, .colloquy-draft, .colloquy-status:visible")
        expect(streams).to_have_count(0)
        stop = self.page.get_by_role("button", name=re.compile("^(Stop|Stopping)$"))
        expect(stop).to_have_count(0)

    # --- The composer

    @property
    def composer(self) -> Locator:
        """The one in sight: that of the session before stays, hidden, while a turn is followed.

        For a moment both can be in sight; the new one comes first.
        """
        return self.page.get_by_role("textbox", name=COMPOSER).filter(visible=True).first

    @property
    def composer_name(self) -> str:
        """Of which session the composer is, in the words of the page."""
        return str(self.composer.evaluate(COMPOSER_NAME))

    def sends_by_itself(self) -> None:
        """Wait until the script that sends knows of this composer; before, Streamlit does."""
        body = self.page.locator("body")
        expect(body).to_have_attribute("data-colloquy-sends", self.composer_name)

    @property
    def is_sending_known(self) -> bool:
        """Whether the script that sends knows of any composer."""
        return self.page.locator("body[data-colloquy-sends]").count() == 1

    @property
    def foot(self) -> Locator:
        """What stays at the end of the window: the composer, and what is said about it."""
        return self.page.get_by_test_id("stBottom")

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
            remove = self.main.get_by_role("button", name=f"Remove {name}", exact=True)
            expect(remove).to_be_visible()
        expect(self.arriving).to_have_count(0)

    @property
    def files(self) -> Locator:
        """The files in the composer, each as the button that takes it out."""
        return self.main.get_by_role("button", name=re.compile("^Remove "))

    @property
    def kept_files(self) -> Locator:
        """The files of a message that was not sent, each as the button that takes it out."""
        return self.main.get_by_role("button", name="Remove", exact=True)

    @property
    def arriving(self) -> Locator:
        """The marks of files that are on their way."""
        return self.page.get_by_test_id("stFileChipIconSpinner")

    @property
    def broken(self) -> Locator:
        """The marks of files that did not arrive."""
        return self.page.get_by_test_id("stFileChipIconError")

    @property
    def waits(self) -> Locator:
        """The sign that a message waits for its files."""
        return self.page.locator("[data-colloquy-waits]")

    def on_uploading(self, do: Callable[[Route], object]) -> None:
        """Do this with files that are on their way from the browser."""
        self.page.route(UPLOADING, do)

    # --- Beside the conversation

    @property
    def panel(self) -> Locator:
        """The artifacts beside the chat."""
        return self.page.get_by_role("complementary", name="Artifacts")

"""What a page shows at a glance: rows of icons, and no numbers that say nothing."""

import re
from itertools import pairwise
from threading import Event

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.desk import Desk
from tests.e2e.pages.test_link_page import link_of
from tests.e2e.pages.test_print import ANSWER
from tests.fakes import ScriptedModel
from tests.stack import Stack

PLACES = """row => [...row.querySelectorAll("button, a")]
  .map((one) => one.getBoundingClientRect())
  .filter((one) => one.width)
  .map((one) => [one.left, one.right])"""

IS_ON_TOP = """one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""

FROM_THE_EDGE = 60  # pixels, with a message's own margin
# Where the first and the last character of a text are painted.
ENDS = """one => {
  const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (texts.nextNode()) if (texts.currentNode.data.trim()) nodes.push(texts.currentNode);
  const left = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect().left;
  };
  const last = nodes.at(-1);
  return [left(nodes[0], 0), left(last, last.data.trimEnd().length - 1)];
}"""


def test_the_icons_of_a_sessions_header_stand_at_equal_distances(desk: Desk, stack: Stack) -> None:
    session_id = stack.chat("Good morning.")["session_id"]
    desk.open(f"?session={session_id}")
    row = desk.header_icons
    expect(row.get_by_role("link", name="Inspector")).to_be_visible()
    desk.is_at_rest()

    places = row.evaluate(PLACES)

    gaps = {round(after[0] - before[1]) for before, after in pairwise(places)}
    assert len(places) == 7
    assert len(gaps) == 1, places


@pytest.mark.parametrize("width", [1280, 800, 420])
def test_a_sessions_header_stays_in_sight_with_the_sidebar_open_and_closed(
    own_desk: Desk, stack: Stack, model: ScriptedModel, width: int
) -> None:
    model.steps = lambda messages, body: {"text": "One more paragraph.\n\n" * 60}
    session_id = stack.chat("Good morning.")["session_id"]
    page = own_desk.open(f"?session={session_id}")
    own_desk.sees("One more paragraph.")
    page.set_viewport_size({"width": width, "height": 900})
    share = own_desk.main.get_by_role("button", name="Share", exact=True)

    for name in ("Collapse sidebar", "Expand sidebar"):
        button = page.get_by_role("button", name=name, exact=True)
        if button.is_visible():
            button.click()
        own_desk.lies_still()
        if width > 420 or name == "Collapse sidebar":  # opened there, it covers the page
            assert share.evaluate(IS_ON_TOP), name


def test_no_field_for_free_text_counts_its_characters(desk: Desk) -> None:
    desk.composer.press_sequentially("Good morning.")
    expect(desk.page.locator("#stChatInputInstructions")).to_be_hidden()

    desk.open("search")
    desk.main.get_by_role("searchbox").press_sequentially("budget")
    desk.is_at_rest()
    expect(desk.main.get_by_text("6/1000")).to_be_hidden()

    desk.sidebar.get_by_role("searchbox").press_sequentially("budget")
    desk.is_at_rest()
    expect(desk.sidebar.get_by_text("6/200")).to_be_hidden()

    desk.open("sessions")
    desk.main.get_by_role("searchbox").press_sequentially("budget")
    desk.is_at_rest()
    expect(desk.main.get_by_text("6/200")).to_be_hidden()


def test_the_heads_of_the_workers_table_stand_only_above_columns(desk: Desk) -> None:
    desk.open("work")
    heads = desk.main.locator(".st-key-workers-head")
    expect(heads).to_be_visible()

    desk.page.set_viewport_size({"width": 420, "height": 900})

    expect(heads).to_be_hidden()
    desk.sees(re.compile(r"of \d+ turns"))  # type: ignore[arg-type]  # get_by_text takes it


def test_long_titles_leave_room_for_all_columns_of_the_sessions(desk: Desk, stack: Stack) -> None:
    title = "The reconciliation of travel costs with the budget of each cost centre " * 2
    assert stack.client.post("/sessions", json={"title": title}).is_success

    desk.open("sessions")
    desk.is_at_rest()
    desk.lies_still()

    table = desk.main.get_by_test_id("stDataFrame").locator(".dvn-scroller")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") <= 0


def test_the_sentences_of_an_empty_inbox_stand_together(demo_desk: Desk) -> None:
    demo_desk.open("inbox")
    first = demo_desk.main.get_by_text("Nothing is waiting for a decision.")
    second = demo_desk.main.get_by_text("When an agent asks for approval")
    expect(second).to_be_visible()
    demo_desk.is_at_rest()

    above, below = first.bounding_box(), second.bounding_box()

    assert above and below
    assert below["y"] - above["y"] - above["height"] < above["height"]


WIDE = """
| Cost centre | Responsible person | Budget of the year | Spent | Left |
|---|---|--:|--:|--:|
| `CC-4711-07-A` | Someone with a rather long name | 1 234 567,50 € | -1 234 567,50 € | 12,5 % |
"""
BROKEN = "| Centre | Cost |\n|---|---|\n| CC-1001<br>Berlin | 5 |\n"
IS_ON_ONE_LINE = """cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(line => line.bottom)).size === 1;
}"""


def test_numbers_and_codes_in_a_wide_table_stay_on_one_line_that_only_a_line_break_breaks(
    desk: Desk, model: ScriptedModel
) -> None:
    gate = Event()
    model.steps = [{"text": f"{WIDE}\n{BROKEN}\nThat is all.", "until": gate}]
    broken = desk.main.get_by_role("cell", name="Berlin")
    desk.page.set_viewport_size({"width": 420, "height": 900})
    desk.ask("What is left?")
    desk.sees("That is all.")
    assert broken.inner_text() == "CC-1001\nBerlin", "while it streams"
    gate.set()
    desk.is_idle()
    table = desk.main.get_by_role("table").first
    expect(table).to_be_visible()
    desk.is_at_rest()

    assert broken.inner_text() == "CC-1001\nBerlin", "stored"
    cells = [table.get_by_text(text) for text in ("CC-4711-07-A", "1 234 567,50 €", "12,5 %")]
    name = table.get_by_text("Someone with")
    assert all(cell.first.evaluate(IS_ON_ONE_LINE) for cell in cells)
    assert not name.evaluate(IS_ON_ONE_LINE)


def test_little_room_is_left_empty_above_the_sessions_and_a_narrow_page(desk: Desk) -> None:
    desk.open("data")
    new_chat = desk.link("New Chat").bounding_box()
    assert new_chat
    assert new_chat["y"] < 80

    desk.page.set_viewport_size({"width": 420, "height": 900})
    heading = desk.main.get_by_role("heading", name="Data", exact=True)
    expect(heading).to_be_in_viewport()
    desk.lies_still()

    place = heading.bounding_box()
    assert place
    assert 60 <= place["y"] < 100


def test_a_link_stands_in_line_with_the_text_above_it(desk: Desk, stack: Stack) -> None:
    session_id = stack.chat("Good morning.")["session_id"]
    desk.open(f"configuration?session={session_id}")
    link = desk.main.get_by_role("link").first
    expect(link).to_be_visible()
    desk.is_at_rest()
    desk.lies_still()

    icon = link.get_by_test_id("stIconMaterial").bounding_box()
    heading = desk.main.get_by_role("heading", name="Configuration", exact=True).bounding_box()

    assert icon and heading
    assert abs(icon["x"] - heading["x"]) < 2


def test_a_duration_has_the_readers_decimal_sign_as_the_figures_beside_it(
    browser: Browser, scripted_url: str, stack: Stack
) -> None:
    session_id = stack.chat("Good morning.")["session_id"]
    context = browser.new_context(locale="de-DE", timezone_id="Europe/Berlin")
    desk = Desk(context, scripted_url)
    desk.open(f"?session={session_id}")

    took = desk.main.get_by_text(re.compile(r"\d s .* tokens in"))
    expect(took).to_have_text(re.compile(r" \d,\d s · "))
    context.close()


HEBREW = "שלום לכולם, זה תקציב השנה"


def test_text_of_each_script_begins_at_its_own_side(
    desk: Desk, model: ScriptedModel, stack: Stack
) -> None:
    question, answer = "كم كانت التكاليف؟", "كانت تكاليف CC-1001 هي 1234."
    gate = Event()
    model.steps = [{"text": answer, "until": gate}]
    desk.ask(question)
    desk.sees(answer)
    _runs_from_right(desk, question, answer)
    gate.set()
    desk.is_idle()
    desk.is_at_rest()
    _runs_from_right(desk, question, answer)
    assert desk.composer.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"

    page = desk.open(link_of(
        stack, ("user", "text", {"text": HEBREW}, {}), ("assistant", "text", {"text": HEBREW}, {}),
        ("user", "text", {"text": "And in English."}, {}),
        ("assistant", "text", {"text": ANSWER}, {}),
    ))  # fmt: skip
    for width in (1280, 420):
        page.set_viewport_size({"width": width, "height": 900})
        desk.sees("That was all.")
        desk.lies_still()
        _runs_from_right(desk, HEBREW)
        first, last = desk.main.get_by_text("And in English.").evaluate(ENDS)
        assert first < last
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        scrolls = "one => one.scrollWidth > one.clientWidth + 1"
        assert not desk.main.locator(".cq").evaluate(scrolls)


def _runs_from_right(desk: Desk, *texts: str) -> None:
    for text in texts:
        for said in desk.main.get_by_text(text).filter(visible=True).all():
            first, last = said.evaluate(ENDS)
            right = said.evaluate("one => one.getBoundingClientRect().right")
            assert last < first, text
            assert right - first < FROM_THE_EDGE, text

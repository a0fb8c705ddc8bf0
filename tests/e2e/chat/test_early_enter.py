"""Enter before the page is drawn, or before our scripts know of it, sends what was written."""

from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import texts
from tests.stack import Stack

LEFT = "What did the south spend in May?"

# Enter in the composer of a session at the moment when it appears: its draft is not in it yet.
ENTER_AT_ONCE = """composer => {
  const seen = new MutationObserver(() => {
    const area = document.querySelector(`.${composer} textarea`);
    if (!area) return;
    seen.disconnect();
    const key = { key: "Enter", bubbles: true, cancelable: true };
    for (const kind of ["keydown", "keyup"]) area.dispatchEvent(new KeyboardEvent(kind, key));
  });
  seen.observe(document.body, { childList: true, subtree: true });
}"""
COMPOSER = """area => [...area.closest('[class*="st-key-composer-"]').classList].find(
  name => name.startsWith("st-key-composer-"))"""


def test_enter_sends_a_draft_that_is_not_back_in_its_composer_yet(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    first, second = (stack.chat(f"Number {number}")["session_id"] for number in range(2))
    desk.open(f"?session={first}")
    desk.sees("Number 0")
    desk.is_at_rest()
    desk.composer.fill(LEFT)
    composer = desk.composer.evaluate(COMPOSER)
    desk.row(second).click()
    desk.sees("Number 1")
    desk.is_at_rest()

    desk.page.evaluate(ENTER_AT_ONCE, composer)
    desk.row(first).click()

    expect(desk.main.get_by_text("An answer.")).to_have_count(2)
    desk.is_idle()
    assert texts(stack.messages(first), "user") == ["Number 0", LEFT]
    expect(desk.composer).to_have_value("")


# A busy browser tells our scripts late what the page shows, after Streamlit has called it finished.
TOLD_LATE = """() => {
  const { mount } = window.colloquyLive;
  window.colloquyLive.mount = function (component) {
    setTimeout(() => mount.call(this, component), 1500);
  };
}"""


def told_late(
    desk: Desk, model: ScriptedModel, stack: Stack, how: str = TOLD_LATE
) -> tuple[str, str]:
    """Open the second of two sessions on such a page; return both."""
    model.steps = lambda messages, body: {"text": "An answer."}
    first, second = (stack.chat(f"Number {number}")["session_id"] for number in range(2))
    desk.open(f"?session={first}")
    desk.sees("Number 0")
    desk.is_at_rest()
    desk.sends_by_itself()
    desk.page.evaluate(how)
    desk.row(second).click()
    desk.sees("Number 1")
    desk.is_at_rest()
    return first, second


def has_sent(desk: Desk, stack: Stack, session_id: str) -> None:
    """Wait until the message is answered; it stands once in its session."""
    expect(desk.main.get_by_text("An answer.")).to_have_count(2)
    desk.is_idle()
    assert texts(stack.messages(session_id), "user") == ["Number 1", LEFT]
    expect(desk.composer).to_have_value("")


def test_enter_waits_for_a_page_that_is_drawn_but_not_reported(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    _, second = told_late(own_desk, model, stack)

    with own_desk.page.expect_request("**/colloquy/send"):
        own_desk.ask(LEFT)

    has_sent(own_desk, stack, second)


def test_what_the_latest_enter_sends_is_sent_once(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    _, second = told_late(own_desk, model, stack)

    own_desk.composer.press("Enter")  # nothing is written yet
    own_desk.ask(LEFT)
    own_desk.composer.press("Enter")

    has_sent(own_desk, stack, second)


def test_enter_is_kept_where_the_composer_is_replaced_before_the_page_is_drawn(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    desk = own_desk
    first, second = told_late(desk, model, stack)

    desk.ask(LEFT)  # of a composer that is about to go
    desk.row(first).click()
    desk.sees("Number 0")
    desk.row(second).click()

    has_sent(desk, stack, second)
    assert texts(stack.messages(first), "user") == ["Number 0"]


# Our scripts are told what the page shows when the test says so.
TOLD_ON_DEMAND = """() => {
  const { mount } = window.colloquyLive;
  const held = [];
  window.colloquyLive.mount = function (component) {
    held.push(() => mount.call(this, component));
  };
  window.tellNext = async () => {
    held.shift()();
    await new Promise(resolve => setTimeout(resolve, 100)); // Enter looks every 20 ms
  };
  window.isHeld = () => held.length > 0;
  window.tellAll = () => {
    held.splice(0).forEach(tell => tell());
    window.colloquyLive.mount = mount;
  };
}"""


def test_enter_is_kept_where_its_page_is_reported_after_it_was_left(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    desk = own_desk
    first, second = told_late(desk, model, stack, TOLD_ON_DEMAND)
    desk.page.wait_for_function("window.isHeld()")

    desk.ask(LEFT)
    desk.row(first).click()
    desk.sees("Number 0")
    desk.is_at_rest()
    desk.page.evaluate("window.tellNext()")
    desk.row(second).click()
    desk.sees("Number 1")
    desk.is_at_rest()
    desk.page.evaluate("window.tellAll()")

    has_sent(desk, stack, second)
    assert texts(stack.messages(first), "user") == ["Number 0"]


def test_files_that_are_lost_where_the_composer_is_replaced_are_not_lost_in_silence(
    own_desk: Desk, model: ScriptedModel, stack: Stack, tmp_path: Path
):
    desk = own_desk
    first, second = told_late(desk, model, stack, TOLD_ON_DEMAND)
    path = tmp_path / "stock.csv"
    path.write_text("a;b\n1;2\n")
    desk.page.get_by_test_id("stChatInput").locator("input[type=file]").first.set_input_files(path)
    expect(desk.page.get_by_test_id("stFileChip")).to_be_visible()
    expect(desk.page.get_by_test_id("stFileChipIconSpinner")).to_have_count(0)

    desk.ask(LEFT)
    desk.row(first).click()
    desk.sees("Number 0")
    desk.page.evaluate("window.tellAll()")

    desk.sees("Your message was not sent", "Add them again")
    assert texts(stack.messages(second), "user") == ["Number 1"]

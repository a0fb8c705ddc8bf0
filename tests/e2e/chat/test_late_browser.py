"""A browser that hears late of where a click led does not lead the page back with what it asks."""

import re
from threading import Event
from uuid import uuid4

from playwright.sync_api import WebSocketRoute, expect

from tests.e2e.chat.test_double_clicks import ALL, held, is_waited
from tests.e2e.desk import Desk
from tests.e2e.sessions.test_session_list import make
from tests.e2e.slow_wire import SlowWire
from tests.fakes import ScriptedModel
from tests.stack import Stack

MANY, PAGE = 61, 30
TO_END = "rows => rows.scrollTo(0, rows.scrollHeight)"
LONG = "A word of a long answer. " * 1_000
# Two requests, 1.8 seconds apart; the page answers the first, and not yet the second.
TWO_REQUESTS = """async () => {
  const live = colloquyLive, { set } = live, waited = ms => new Promise(end => setTimeout(end, ms));
  let requests = 0;
  live.set = () => { requests += 1; };
  live.ask();
  live.isAsked = false;
  await waited(1800);
  live.ask();
  await waited(500);
  Object.assign(live, { set, isAsked: false });
  return requests;
}"""
# How often the page is asked for a turn's last row and its end, and whether it will be again.
ROW_AND_END = """async () => {
  const live = colloquyLive, { set } = live, waited = ms => new Promise(end => setTimeout(end, ms));
  let requests = 0;
  live.set = () => { requests += 1; };
  live.session.take({ kind: "stored", id: "a row" });
  await waited(50);
  live.session.take({ kind: "ended", turn: "a turn" });
  for (let look = 0; look < 400 && !requests; look += 1) await waited(50);
  await waited(600);
  const { isWanted } = live;
  Object.assign(live, { set, isAsked: false });
  return [requests, isWanted];
}"""


def test_a_look_of_the_page_before_it_knows_its_session_does_not_leave_it(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    session_id = stack.chat("First")["session_id"]
    wire = SlowWire(own_desk)
    own_desk.open()
    own_desk.is_at_rest()

    wire.hold_answers()
    own_desk.row(session_id).click()
    clicked = wire.asked
    stack.chat("Another")  # the list has changed, for which the page is drawn again
    # The click, and looks that know nothing of it.
    wire.wait_for(lambda: wire.asked >= clicked + 3)
    own_desk.page.wait_for_timeout(1_500)
    wire.release()

    own_desk.sees("An answer.")
    own_desk.is_at_rest()
    expect(own_desk.page).to_have_url(re.compile(session_id))
    own_desk.sees("First")


def test_a_look_before_the_browser_knows_of_its_new_session_does_not_leave_it(
    own_desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    wire = SlowWire(own_desk)
    example = own_desk.main.get_by_role("button", name="What data do you have?")
    expect(example).to_be_enabled()
    own_desk.is_at_rest()

    wire.hold_answers()
    example.click()
    wire.wait_for(lambda: len(model.requests) == 1)
    looks = _looks(own_desk)
    wire.wait_for(lambda: _looks(own_desk) >= looks + 2)
    own_desk.page.wait_for_timeout(1_500)
    wire.release()

    own_desk.sees("An answer.")
    own_desk.is_at_rest()
    own_desk.is_in_a_session()
    own_desk.sees_once("An answer.")


def test_a_turn_that_ends_before_the_page_follows_its_session_is_drawn_at_once(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    may_end = Event()
    model.steps = lambda messages, body: {"text": "A quick answer.", "until": may_end}
    following: list[WebSocketRoute] = []
    own_desk.context.route_web_socket("**/colloquy/live*", lambda at: following.append(at))
    own_desk.context.route("**/colloquy/stamp*", lambda route: route.abort())  # no regular look
    wire = SlowWire(own_desk)
    own_desk.ask("Tell me")
    wire.wait_for(lambda: bool(following))

    (turn,) = stack.client.get(f"/sessions/{own_desk.session_id}/turns").json()["items"]
    may_end.set()
    stack.finished(turn["id"])
    following[0].connect_to_server()

    own_desk.sees("A quick answer.")
    own_desk.is_idle()


def test_a_request_to_draw_is_not_repeated_because_an_earlier_one_was_made_long_ago(
    own_desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    own_desk.ask("Tell me")
    own_desk.sees("An answer.")
    own_desk.is_idle()
    own_desk.is_at_rest()

    assert own_desk.page.evaluate(TWO_REQUESTS) == 2


def test_a_turn_whose_last_row_and_end_follow_each_other_is_drawn_once(
    desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.open()
    desk.ask("A question")
    desk.sees("An answer.")
    desk.is_idle()
    desk.is_at_rest()

    assert desk.page.evaluate(ROW_AND_END) == [1, False]


def test_edit_opens_with_its_text_also_where_two_runs_are_drawn_at_once(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    session_id = stack.chat("What is the first figure?")["session_id"]
    wire = SlowWire(own_desk)
    own_desk.open(f"?session={session_id}")
    own_desk.sees("An answer.")
    own_desk.is_at_rest()

    wire.hold_answers()
    runs, parts = wire.ended, wire.parts_ended
    own_desk.main.get_by_role("button", name="Edit").click()
    wire.wait_for(lambda: wire.ended > runs or wire.parts_ended > parts)
    runs, parts = wire.ended, wire.parts_ended
    own_desk.page.evaluate("colloquyLive.set('changed', Date.now())")
    wire.wait_for(lambda: wire.ended > runs or wire.parts_ended > parts)
    wire.release()

    editor = own_desk.main.locator('[class*="st-key-edit-text-"] textarea')
    expect(editor).to_have_value("What is the first figure?")


def test_older_sessions_come_also_when_a_search_crosses_the_question_for_them(
    own_desk: Desk, stack: Stack
):
    name = uuid4().hex[:6]
    make(stack, *(f"{name} {number}" for number in range(MANY)))
    (other,) = make(stack, "The latest")
    wire = SlowWire(own_desk)
    own_desk.open()
    expect(own_desk.row(other)).to_be_visible()
    own_desk.is_at_rest()
    listed = own_desk.sidebar.locator("[data-session]")
    rows = own_desk.sidebar.locator(".rows")

    wire.hold_answers()
    ended = wire.ended
    own_desk.sidebar.get_by_placeholder("Search by title").fill(name)
    wire.wait_for(lambda: wire.ended > ended)
    with held(stack, "conversations", ALL):
        rows.evaluate(TO_END)  # of the list that the search has replaced
        wire.wait_for(lambda: is_waited(stack))
        wire.release()
        expect(listed.filter(has_not_text=name)).to_have_count(0)
        rows.evaluate(TO_END)
        expect(own_desk.sidebar.get_by_text("Loading older")).to_be_in_viewport()

    expect(listed).not_to_have_count(PAGE)


def _looks(desk: Desk) -> int:
    return sum("/colloquy/stamp" in url for url in desk.requests)


def test_what_a_part_of_the_page_before_asks_late_leaves_the_next_page_whole(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    session_id = stack.chat("First")["session_id"]
    wire = SlowWire(own_desk)
    own_desk.open(f"?session={session_id}")
    own_desk.sees("An answer.")
    own_desk.is_at_rest()

    own_desk.sends_by_itself()
    wire.hold_parts()
    own_desk.ask("Second")  # for which the latest turn is drawn again
    wire.wait_for(lambda: wire.has_late)
    own_desk.new_chat()
    own_desk.is_at_rest()
    wire.release()

    own_desk.ask("Third")
    own_desk.sees("Third", "An answer.")
    assert own_desk.session_id != session_id


def test_a_session_that_is_left_and_opened_again_before_the_browser_hears_of_it_is_drawn(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": f"To {messages[-1]['content']}: {LONG}"}
    sessions = [stack.chat(f"Number {number}")["session_id"] for number in range(3)]
    wire = SlowWire(own_desk)
    own_desk.open(f"?session={sessions[0]}")
    own_desk.sees("To Number 0: ")
    own_desk.is_at_rest()

    wire.hold_answers()
    for session_id in (*sessions[1:], *sessions[1::-1]):
        seen = wire.ended + 1
        own_desk.row(session_id).click()
        wire.wait_for(lambda seen=seen: wire.ended >= seen)
    wire.release()

    own_desk.is_at_rest()
    own_desk.sees("To Number 0: ")
    expect(own_desk.page.get_by_role("dialog")).to_have_count(0)

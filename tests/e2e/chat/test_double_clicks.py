"""A hurried person: what is clicked again, while the first click is worked on, is done once."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from playwright.sync_api import Locator, expect
from sqlalchemy import create_engine, text

from tests.e2e.desk import Desk
from tests.e2e.pages.test_domains import field, make_domain, open_domains
from tests.e2e.slow_wire import SlowWire
from tests.fakes import ScriptedModel
from tests.integration.turns.test_rebuilding import SPOILS, talk
from tests.stack import Stack

WRITING = "EXCLUSIVE"
ALL = "ACCESS EXCLUSIVE"
ON_ITS_WAY_MS = 300
ON_TWO_PAGES = 61


@contextmanager
def held(stack: Stack, table: str, mode: str = WRITING) -> Iterator[None]:
    """Let everybody wait who writes to a table, or does anything with it."""
    engine = create_engine(stack.database_url)
    with engine.begin() as connection:
        connection.execute(text(f"LOCK TABLE {table} IN {mode} MODE"))
        yield
    engine.dispose()


def is_waited(stack: Stack) -> bool:
    """Whether somebody waits for what is held."""
    (row,) = stack.query(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return bool(row.count)


def click_twice(stack: Stack, button: Locator, table: str, mode: str = WRITING) -> None:
    """Click, and click again while the first click waits for a table."""
    expect(button).to_be_enabled()
    with held(stack, table, mode):
        button.click()
        stack.wait_for(lambda: is_waited(stack), "the click does not arrive")
        button.click()
        button.page.wait_for_timeout(ON_ITS_WAY_MS)


def button(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("button", name=name, exact=True)


def test_an_example_that_is_clicked_twice_begins_one_session(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "Once."}
    wire = SlowWire(own_desk)
    example = own_desk.main.get_by_role("button", name="What data do you have?")
    expect(example).to_be_enabled()
    wire.hold_answers()

    example.click()
    wire.wait_for(lambda: len(model.requests) == 1)
    example.click()
    example.page.wait_for_timeout(ON_ITS_WAY_MS)
    wire.release()

    own_desk.sees("Once.")
    own_desk.is_idle()
    own_desk.is_at_rest()
    own_desk.is_in_a_session()
    own_desk.sees_once("Once.")
    assert len(model.requests) == 1
    own_desk.has_no_complaint()


def count(stack: Stack, of: str) -> int:
    (row,) = stack.query(f"SELECT count(*) FROM {of}")
    return int(row.count)


def test_one_session_goes_on(desk: Desk, stack: Stack, model: ScriptedModel):
    model.steps = [{"text": "Good evening."}]
    old = stack.chat("Good morning.")["session_id"]
    before = count(stack, "conversations")
    desk.open(f"configuration?session={old}")

    click_twice(stack, button(desk, "Continue in a new session"), "conversations")

    desk.sees("Good evening.", "Continued from the session")
    expect(desk.page).not_to_have_url(re.compile(old))
    assert count(stack, "conversations") == before + 1
    desk.open(f"configuration?session={old}")
    desk.press("Continue in a new session")
    desk.sees("Continued from the session")
    assert count(stack, "conversations") == before + 2


def test_one_domain_is_made_saved_and_restored_once(desk: Desk, stack: Stack):
    open_domains(desk)
    desk.press("New domain")
    name = f"desk-{uuid4().hex[:6]}"
    field(desk, "Name").fill(name)
    field(desk, "Name").press("Tab")
    desk.sees("Not saved yet")

    click_twice(stack, button(desk, "Create"), "domains")
    desk.is_told("Saved as version 1")
    expect(button(desk, "Save")).to_be_visible()  # the form of the new domain is drawn
    desk.is_at_rest()
    desk.has_no_complaint()
    field(desk, "Description").fill("In a hurry.")
    field(desk, "Description").press("Tab")
    desk.sees("Not saved yet")
    click_twice(stack, button(desk, "Save"), "domains")

    desk.is_told("Saved as version 2")
    desk.has_no_complaint()
    expect(field(desk, "Name")).to_have_value(name)
    expect(field(desk, "Description")).to_have_value("In a hurry.")

    desk.main.get_by_text("Versions", exact=True).click()
    desk.sees("This is the current version.")
    desk.is_at_rest()
    desk.lies_still()
    desk.main.get_by_role("combobox").last.click()
    desk.page.get_by_role("option").nth(1).click()
    desk.press("Restore version 1")
    click_twice(stack, button(desk, "Restore it"), "domains")

    desk.is_told("Restored: version 3")
    desk.has_no_complaint()
    (made,) = [one for one in stack.client.get("/domains").json()["items"] if one["name"] == name]
    assert stack.client.get(f"/domains/{made['id']}").json()["version"] == 3
    desk.press("All domains")
    desk.press("New domain")
    expect(field(desk, "Name")).to_have_value("")


def test_a_domain_that_is_opened_again_while_its_list_is_drawn_shows_what_is_stored(
    own_desk: Desk, stack: Stack
):
    domain = make_domain(stack, system_prompt="Be brief.", description="For tests.")
    wire = SlowWire(own_desk)
    own_desk.open(f"domains?domain={domain['id']}")
    expect(field(own_desk, "System prompt")).to_have_value("Be brief.")
    own_desk.is_at_rest()
    wire.hold_answers_after("For tests")  # a row of the list
    ended, asked = wire.ended, wire.asked

    own_desk.press("All domains")
    wire.wait_for(lambda: wire.ended > ended)
    own_desk.press(domain["name"])
    wire.wait_for(lambda: wire.asked == asked + 2)
    wire.release()

    expect(field(own_desk, "System prompt")).to_have_value("Be brief.")
    expect(field(own_desk, "Description")).to_have_value("For tests.")
    expect(field(own_desk, "Name")).to_have_value(domain["name"])


def test_what_the_agent_remembers_is_rebuilt_once(desk: Desk, stack: Stack, model: ScriptedModel):
    session_id = talk(stack, model)
    stack.query_and_commit(SPOILS["snapshot"].format(session_id))
    stack.finished(stack.submit("And now?", session_id)["turn_id"])
    desk.open(f"?session={session_id}")

    click_twice(stack, button(desk, "Rebuild what the agent remembers"), "conversations")

    desk.sees("was rebuilt from the messages above")
    desk.is_connected()
    desk.sees_once("was rebuilt from the messages above")


def test_a_failed_turn_is_tried_again_once(desk: Desk, stack: Stack, model: ScriptedModel):
    model.steps = [{"status": 400}]
    desk.ask("Is it there?")
    expect(button(desk, "Retry")).to_be_visible()
    desk.is_idle()
    model.steps = [{"text": "Here it is."}]

    click_twice(stack, button(desk, "Retry"), "conversations")

    desk.sees("Here it is.")
    desk.is_idle()
    desk.sees_not("Session busy")
    assert count(stack, f"turns WHERE conversation_id = '{desk.session_id}'") == 2


def test_a_session_that_is_chosen_twice_is_opened_once(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    model.steps = [{"text": "Good evening."}]
    session = stack.chat("Good morning.")["session_id"]
    expect(desk.row(session)).to_be_visible()
    desk.is_at_rest()

    click_twice(stack, desk.row(session), "conversations", ALL)

    desk.sees_once("Good evening.")
    desk.has_no_complaint()


def test_the_archive_is_opened_and_not_closed_again(desk: Desk, stack: Stack):
    click_twice(stack, button(desk, "Archived"), "conversations", ALL)

    expect(button(desk, "Back to sessions")).to_be_visible()


def test_the_next_page_is_one_page_away(desk: Desk, stack: Stack):
    for _ in range(ON_TWO_PAGES):
        stack.client.post("/sessions", json={"title": "One of many"})
    desk.administer("All sessions")

    click_twice(stack, button(desk, "Older"), "conversations", ALL)
    expect(button(desk, "Newer")).to_be_visible()
    desk.press("Newer")

    expect(button(desk, "Newer")).to_have_count(0)
    desk.has_no_complaint()

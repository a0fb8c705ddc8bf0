"""An owner shares a session by a link; others read it, and cannot once it is revoked."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.pages.test_search import long_session, said
from tests.stack import Stack

WRITES = ("Run your own", "Edit", "Another answer")
CHART = "Chart spend by cost centre in 2026"


@pytest.mark.journey
def test_a_link_opens_the_history_to_be_read_until_it_is_revoked(
    demo_desk: Desk, demo_stack: Stack
):
    desk = demo_desk
    session_id = demo_stack.chat(CHART)["session_id"]
    owners = desk.open(f"?session={session_id}")
    desk.sees("The total is")
    _open_query(desk)
    for act in WRITES:
        expect(desk.main.get_by_role("button", name=act, exact=True)).to_be_visible()
    desk.press("Share")
    dialog = owners.get_by_role("dialog", name="Share a read-only link")
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.locator("code").inner_text().strip()
    assert link.startswith(f"{desk.url}/shared?link=")

    readers = desk.open(link.removeprefix(f"{desk.url}/"))
    desk.sees(CHART, "The total is", "Read only")
    expect(desk.main.locator(".cq-chart svg.marks")).to_be_visible()
    _open_query(desk)
    expect(desk.composer).to_have_count(0)
    for act in WRITES:
        expect(desk.main.get_by_role("button", name=act, exact=True)).to_have_count(0)

    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.get_by_text("revoked")).to_be_visible()

    desk.page = readers
    desk.sees("Link revoked", "Ask them for another")
    desk.sees_not("The total is")


def _open_query(desk: Desk) -> None:
    desk.main.get_by_text("Query", exact=True).filter(visible=True).click()
    desk.sees("Query of fi")


def test_who_reads_by_a_link_sees_what_is_said_next(demo_desk: Desk, demo_stack: Stack) -> None:
    session_id = demo_stack.chat("What's the budget for CC-1001?")["session_id"]
    token = demo_stack.client.post(f"/sessions/{session_id}/links").json()["token"]
    demo_desk.open(f"shared?link={token}")
    demo_desk.sees("What's the budget for CC-1001?", "Read only")

    demo_stack.chat(CHART, session_id)

    demo_desk.sees(CHART, "The total is")


def test_a_long_session_opens_at_its_end_and_is_read_back_in_whole_turns(
    desk: Desk, stack: Stack
) -> None:
    session_id = long_session(stack)
    token = stack.client.post(f"/sessions/{session_id}/links").json()["token"]

    desk.open(f"shared?link={token}")

    expect(said(desk, "Answer 99")).to_be_in_viewport()
    for first in (84, 67, 50):
        desk.sees(f"Question {first}.", "Answer 99.")
        desk.sees_not(f"Answer {first - 1}.")
        desk.is_at_rest()
        desk.lies_still()
        desk.press("Show earlier messages")
    desk.sees("Show later messages")
    desk.sees_not("Answer 99.")
    desk.is_at_rest()
    latest = desk.main.get_by_role("button", name="Jump to the latest")
    latest.scroll_into_view_if_needed()
    desk.lies_still()
    latest.click(delay=1_000)  # while it is held down, nothing moves away from under it
    expect(said(desk, "Answer 99")).to_be_in_viewport()

"""The sidebar and the administrators' page, in a browser."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack


def begin(desk: Desk, model: ScriptedModel, question: str) -> str:
    """Begin a session and wait for its answer; give its id."""
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.new_chat()
    desk.ask(question)
    desk.sees("An answer.")
    desk.is_idle()
    return desk.session_id


@pytest.mark.journey
def test_a_session_is_renamed_pinned_archived_restored_and_deleted_after_it_was_asked(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    session = begin(desk, model, "Old name")
    desk.choose(session, "Rename")
    title = desk.sidebar.get_by_role("textbox", name="Title")
    title.fill("New *name*")
    title.press("Enter")
    expect(desk.row(session)).to_contain_text("New *name*")

    def is_pinned() -> bool:
        return stack.client.get(f"/sessions/{session}").json()["pinned"]

    desk.choose(session, "Pin")
    expect(desk.sidebar.get_by_text("Pinned", exact=True)).to_be_visible()
    stack.wait_for(is_pinned, "it is not pinned")
    desk.choose(session, "Unpin")
    stack.wait_for(lambda: not is_pinned(), "it stays pinned")
    desk.choose(session, "Pin")
    stack.wait_for(is_pinned, "the menu does not follow")

    desk.choose(session, "Archive")
    expect(desk.row(session)).to_have_count(0)
    desk.press("Archived")
    desk.choose(session, "Restore")
    expect(desk.row(session)).to_have_count(0)
    desk.press("Back to sessions")
    expect(desk.row(session)).to_be_visible()

    desk.choose(session, "Delete")
    desk.press("Keep")
    expect(desk.row(session)).to_be_visible()
    desk.row(session).click()
    desk.sees("An answer.")
    desk.delete(session)
    desk.sees("What would you like to know?")
    expect(desk.row(session)).to_have_count(0)
    stack.wait_for(lambda: is_gone(stack, session), "it is not deleted")
    desk.open(f"?session={session}")
    desk.sees("Session not found")


def is_gone(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 404


@pytest.mark.journey
def test_an_administrator_opens_a_session_to_read_it_and_ones_own_to_write(
    desk: Desk, model: ScriptedModel
):
    session = begin(desk, model, "To be reviewed")

    desk.open(f"?session={session}&view=read")
    desk.sees("An answer.", "Read only")
    expect(desk.composer).to_have_count(0)
    desk.main.get_by_role("link", name="Write here").click()
    expect(desk.composer).to_be_visible()

    desk.administer("All sessions")
    table = desk.main.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    desk.is_at_rest()
    table.click(position={"x": 12, "y": 52})  # the newest, in the first row
    desk.is_in_a_session()
    assert desk.session_id == session
    expect(desk.composer).to_be_visible()


def test_back_leads_from_a_page_to_the_session_that_was_left_for_it(desk: Desk, stack: Stack):
    first, second = (stack.chat(text)["session_id"] for text in ("The first", "The second"))
    desk.open(f"?session={first}")
    desk.sees("The first")

    for page in ("Data", "Inbox"):
        desk.press(page)
        expect(desk.main.get_by_role("heading", name=page, exact=True)).to_be_visible()
        desk.is_at_rest()
    desk.row(second).click()
    desk.sees("The second")
    desk.is_at_rest()

    for heading in ("Inbox", "Data"):
        desk.page.go_back()
        expect(desk.main.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        desk.is_at_rest()
        assert desk.page.url == f"{desk.url}/{heading.lower()}"
    desk.page.go_back()
    desk.sees("The first")
    assert desk.session_id == first

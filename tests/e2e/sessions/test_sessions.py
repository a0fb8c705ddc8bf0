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
def test_a_session_is_renamed(desk: Desk, model: ScriptedModel):
    session = begin(desk, model, "Old name")
    desk.choose(session, "Rename")
    title = desk.sidebar.get_by_role("textbox", name="Title")
    title.fill("New *name*")
    title.press("Enter")

    expect(desk.row(session)).to_contain_text("New *name*")


def test_a_session_is_pinned_and_unpinned(desk: Desk, model: ScriptedModel, stack: Stack):
    session = begin(desk, model, "To be pinned")

    def is_pinned() -> bool:
        return stack.client.get(f"/sessions/{session}").json()["pinned"]

    desk.choose(session, "Pin")
    expect(desk.sidebar.get_by_text("Pinned", exact=True)).to_be_visible()
    assert is_pinned()

    desk.choose(session, "Unpin")
    stack.wait_for(lambda: not is_pinned(), "it stays pinned")
    desk.choose(session, "Pin")
    stack.wait_for(is_pinned, "the menu does not follow")


def test_a_session_is_deleted_only_after_it_was_asked(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    session = begin(desk, model, "To be deleted")
    desk.choose(session, "Delete")
    desk.press("Keep")
    expect(desk.row(session)).to_be_visible()

    desk.delete(session)

    desk.sees("What would you like to know?")
    expect(desk.row(session)).to_have_count(0)
    stack.wait_for(lambda: is_gone(stack, session), "it is not deleted")
    desk.open(f"?session={session}")
    desk.sees("Session not found")


def is_gone(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 404


@pytest.mark.journey
def test_an_archived_session_can_be_restored(desk: Desk, model: ScriptedModel):
    session = begin(desk, model, "To be archived")
    desk.choose(session, "Archive")
    expect(desk.row(session)).to_have_count(0)
    desk.press("Archived")

    desk.choose(session, "Restore")
    expect(desk.row(session)).to_have_count(0)
    desk.press("Back to sessions")

    expect(desk.row(session)).to_be_visible()


def test_search_finds_by_title_while_typing(desk: Desk, model: ScriptedModel):
    found = begin(desk, model, "Quarterly forecast")
    other = begin(desk, model, "Something else")

    desk.sidebar.get_by_placeholder("Search by title").press_sequentially("quarterly")

    expect(desk.row(other)).to_have_count(0)
    expect(desk.row(found)).to_be_visible()


def test_new_chat_has_a_shortcut(desk: Desk, model: ScriptedModel):
    begin(desk, model, "Before the shortcut")

    desk.page.keyboard.press("Control+Shift+O")

    desk.sees("What would you like to know?")


@pytest.mark.journey
def test_an_administrator_opens_a_session_to_read_it(desk: Desk, model: ScriptedModel):
    session = begin(desk, model, "To be reviewed")

    desk.open(f"?session={session}&view=read")

    desk.sees("An answer.", "Read only")
    expect(desk.composer).to_have_count(0)
    desk.main.get_by_role("link", name="Write here").click()
    expect(desk.composer).to_be_visible()


def test_ones_own_session_among_all_is_opened_to_write(desk: Desk, model: ScriptedModel):
    session = begin(desk, model, "Listed for review")

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

"""The session list as one hand works with it: keys, menus, several at once, a phone, hundreds."""

from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

HOSTILE = (
    "<img src=x onerror=\"document.title='taken'\">",
    "![x](https://evil.invalid/x.png) :material/home: **b**",
    "\u202egnp.exe \u2066 left to right",
    "x" * 200,
    "' onmouseover='document.title=1",
)
MANY = 300
# A busy browser tells of several changes at once: here, of what was out of view with what is in it.
TELLS_LATE = """
  const Observer = window.IntersectionObserver;
  window.IntersectionObserver = class extends Observer {
    constructor(tell, options) {
      let held = [];
      super((entries) => {
        held.push(...entries);
        if (held.at(-1).isIntersecting) tell(held.splice(0));
      }, options);
    }
  };
"""


def make(stack: Stack, *titles: str) -> list[str]:
    return [stack.client.post("/sessions", json={"title": title}).json()["id"] for title in titles]


def three(stack: Stack) -> list[str]:
    """Make three sessions, in the order in which the list shows them."""
    name = uuid4().hex[:6]
    return make(stack, f"{name} last", f"{name} middle", f"{name} first")[::-1]


def leaves(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").json()["deletes_at"] is not None


def is_archived(stack: Stack, session_id: str) -> bool:
    return bool(stack.client.get(f"/sessions/{session_id}").json()["archived"])


def there(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 200


def has_focus(row: Locator) -> None:
    expect(row).to_be_focused()


@pytest.fixture
def rows(desk: Desk, stack: Stack) -> list[str]:
    """Three new sessions, on the page."""
    made = three(stack)
    for session_id in made:
        expect(desk.row(session_id)).to_be_visible()
    desk.is_at_rest()
    return made


@pytest.mark.journey
def test_the_keyboard_is_enough(desk: Desk, stack: Stack, rows: list[str]):
    first, middle, last = (desk.row(session_id) for session_id in rows)
    keys = desk.page.keyboard
    first.focus()
    keys.press("ArrowDown")
    has_focus(middle)
    keys.press("ArrowDown")
    has_focus(last)
    keys.press("Home")
    has_focus(first)

    keys.press("Shift+F10")
    choice = desk.page.get_by_role("menuitem", name="Rename")
    has_focus(choice)
    keys.press("ArrowUp")
    has_focus(desk.page.get_by_role("menuitem", name="Delete"))
    keys.press("Escape")
    expect(choice).to_have_count(0)
    has_focus(first)

    keys.press("F2")
    desk.page.keyboard.type("rc Written by keys")
    keys.press("Enter")
    expect(first).to_have_text("rc Written by keys")
    has_focus(first)
    stack.wait_for(
        lambda: stack.client.get(f"/sessions/{rows[0]}").json()["title"] == "rc Written by keys",
        "the title is not saved",
    )

    assert "session=" not in desk.page.url

    keys.press("ArrowDown")
    keys.press("Enter")
    expect(middle).to_have_attribute("aria-current", "page")
    desk.is_in_a_session()
    assert desk.session_id == rows[1]


@pytest.mark.journey
def test_several_are_deleted_and_it_is_undone_also_where_one_of_them_is_open(
    desk: Desk, stack: Stack, model: ScriptedModel, rows: list[str]
):
    model.steps = lambda messages, body: {"text": "Still here."}
    stack.chat("Stay", rows[0])
    desk.row(rows[0]).click()
    desk.sees("Still here.")
    desk.row(rows[0]).click(modifiers=["Control"])
    desk.row(rows[2]).click(modifiers=["Shift"])
    expect(desk.sidebar.get_by_text("3 selected")).to_be_visible()
    desk.row(rows[1]).click()  # rows are boxes now
    expect(desk.row(rows[1])).to_have_attribute("aria-checked", "false")
    selected = desk.sidebar.get_by_role("group", name="Selected sessions")

    selected.get_by_role("button", name="Delete").click()
    question = desk.page.get_by_role("alertdialog")
    expect(question).to_contain_text("Delete 2 sessions?")
    question.get_by_role("button", name="Delete").click()
    expect(desk.sidebar.get_by_text("Deleting 2 sessions …").first).to_be_visible()
    expect(desk.row(rows[0])).to_have_count(0)
    desk.sees("What would you like to know?")
    desk.press("Undo")

    desk.sees("Still here.")
    for session_id in rows:
        expect(desk.row(session_id)).to_be_visible()
        assert there(stack, session_id)


def test_several_are_put_away_and_one_is_deleted_though_its_tab_is_closed(
    desk: Desk, stack: Stack, rows: list[str]
):
    (kept,) = make(stack, "To be kept")
    desk.choose(rows[1], "Select")
    desk.row(rows[2]).click()
    desk.sidebar.get_by_role("group", name="Selected sessions").get_by_text("Archive").click()

    for session_id in rows[1:]:
        expect(desk.row(session_id)).to_have_count(0)
        stack.wait_for(lambda one=session_id: is_archived(stack, one), "it is not put away")
    desk.press("Archived")
    expect(desk.row(rows[1])).to_be_visible()
    desk.press("Back to sessions")

    desk.delete(rows[0])
    stack.wait_for(lambda: leaves(stack, rows[0]), "no deletion is planned")
    desk.page.close()
    desk.open()
    expect(desk.row(kept)).to_be_visible()
    expect(desk.row(rows[0])).to_have_count(0)
    stack.wait_for(lambda: not there(stack, rows[0]), "it is not deleted")


def test_a_session_that_is_chosen_on_a_phone_is_in_sight(desk: Desk, rows: list[str]):
    desk.page.set_viewport_size({"width": 380, "height": 720})
    desk.page.reload()
    desk.open_sidebar()
    expect(desk.row(rows[0])).to_be_in_viewport()

    desk.row(rows[0]).click()

    expect(desk.row(rows[0])).not_to_be_in_viewport()
    desk.is_in_a_session()
    assert desk.session_id == rows[0]
    desk.open_sidebar()
    expect(desk.row(rows[0])).to_be_in_viewport()
    desk.link("New Chat").click()
    expect(desk.row(rows[0])).not_to_be_in_viewport()


def test_titles_are_text_and_nothing_else(desk: Desk, stack: Stack):
    made = dict(zip(HOSTILE, make(stack, *HOSTILE), strict=True))

    for title, session_id in made.items():
        shown = title.replace("\u202e", " ").replace("\u2066", " ").strip()
        expect(desk.row(session_id)).to_have_text(shown)
        expect(desk.row(session_id)).to_have_attribute("title", shown)

    assert desk.sessions.locator("img, script").count() == 0
    assert desk.page.title() == "Colloquy"
    assert not [url for url in desk.requests if "evil" in url]
    long = desk.row(made["x" * 200]).bounding_box()
    assert long and long["height"] < 40


def test_hundreds_that_a_search_finds_while_one_types_come_as_one_scrolls_and_the_rest_stays(
    desk: Desk, stack: Stack
):
    name = uuid4().hex[:6]
    made = make(stack, *(f"Number {name} {number}" for number in range(MANY)))
    (other,) = make(stack, "Something else")
    expect(desk.row(other)).to_be_visible()
    desk.search_titles.press_sequentially(f"number {name}")
    listed = desk.sessions
    expect(listed.filter(has_text=f"{name} {MANY - 1}")).to_be_visible()
    expect(listed.filter(has_not_text=name)).to_have_count(0)  # the search is done

    desk.has_sessions(MANY)

    expect(listed).to_have_count(MANY)
    expect(desk.sidebar.get_by_role("button", name="Show older")).to_be_hidden()
    for link in ("New Chat", "Search in messages", "Inbox"):
        expect(desk.link(link)).to_be_in_viewport()
    desk.row(made[0]).scroll_into_view_if_needed()
    desk.row(made[0]).click()
    desk.is_in_a_session()
    assert desk.session_id == made[0]
    expect(listed).to_have_count(MANY)
    expect(desk.row(made[0])).to_be_in_viewport()


def test_older_sessions_come_though_the_browser_tells_late_what_is_in_view(
    own_desk: Desk, stack: Stack
):
    own_desk.context.add_init_script(TELLS_LATE)
    name = uuid4().hex[:6]
    make(stack, *(f"{name} {number}" for number in range(150)))
    own_desk.search_titles.press_sequentially(name)
    listed = own_desk.sessions
    expect(listed.filter(has_text=f"{name} 149")).to_be_visible()
    expect(listed.filter(has_not_text=name)).to_have_count(0)

    own_desk.has_sessions(150)
    expect(listed).to_have_count(150)

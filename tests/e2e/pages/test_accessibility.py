"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA); and names."""

import re
from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.stack import Stack

PAGES = (
    "", "?session={0}", "configuration?session={0}", "inspector?session={0}", "search?q=budget",
    "data", "inbox", "sessions", "domains", "domains?domain=new", "models",
    "servers", "usage", "work", "retention", "shared?link={1}",
)  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# A line of Playwright's aria snapshot: the role, and the name that a screen reader says.
SPOKEN = r'^\s*- \'?(button|link)(?: "((?:[^"\\]|\\.)*)")?'
QUESTION = "What's the budget for CC-1001?"


def test_no_page_keeps_anybody_out(demo_desk: Desk, demo_stack: Stack):
    page = demo_desk.page
    serious = []
    for path in _open_each(demo_desk, demo_stack):
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
            found = Axe().run(page, options={"runOnly": RULES})
            serious += [
                (path, theme, fault["id"], fault["nodes"][0]["html"][:200])
                for fault in found.response["violations"]
                if fault["impact"] in ("serious", "critical")
            ]
    assert serious == []


def test_every_button_and_link_says_what_it_does(demo_desk: Desk, demo_stack: Stack):
    nameless = []
    for path in _open_each(demo_desk, demo_stack):
        heard = demo_desk.page.locator("body").aria_snapshot()
        found = re.findall(SPOKEN, heard, re.MULTILINE)
        assert found, path
        nameless += [(path, *each) for each in found if not each[1] or each[1].endswith(" icon")]

    assert nameless == []


def _open_each(desk: Desk, stack: Stack) -> Iterator[str]:
    """Open one page after the other, each drawn to its end; yield what the list calls it."""
    session_id = stack.chat(QUESTION)["session_id"]
    token = stack.client.post(f"/sessions/{session_id}/links").json()["token"]
    for path in PAGES:
        desk.page.goto(f"{desk.url}/{path.format(session_id, token)}")
        expect(desk.sidebar).to_be_visible()
        desk.is_at_rest()
        yield path

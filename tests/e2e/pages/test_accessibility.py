"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA); and names."""

import re
from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.desk import Desk
from tests.stack import Stack

PAGES = (
    "", "?session={0}", "configuration?session={0}", "inspector?session={0}", "search?q=budget",
    "?session={0}&artifact=list", "data", "agents", "inbox", "tasks", "sessions", "domains",
    "domains?domain=new", "models", "servers", "usage", "work", "retention", "shared?link={1}",
)  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
# A line of Playwright's aria snapshot: the role, and the name that a screen reader says.
SPOKEN = r'^\s*- \'?(button|link)(?: "((?:[^"\\]|\\.)*)")?'
QUESTION = "What's the budget for CC-1001?"


def test_no_page_keeps_anybody_out(demo_desk: Desk, demo_stack: Stack):
    _choose(demo_desk.page, "light")
    serious, nameless = [], []
    for path in _open_each(demo_desk, demo_stack):
        heard = demo_desk.page.locator("body").aria_snapshot()
        found = re.findall(SPOKEN, heard, re.MULTILINE)
        assert found, path
        if any(not name or name.endswith(" icon") for _, name in found):
            nameless.append((path, heard))
        serious += [(path, *fault) for fault in _faults(demo_desk.page)]

    assert serious == []
    assert nameless == []


def _faults(page: Page) -> Iterator[tuple[str, str, str]]:
    """What axe-core calls serious; of the dark theme only what its colours can make worse."""
    for theme, rules in (("light", RULES), ("dark", CONTRAST)):
        _choose(page, theme)
        for fault in Axe().run(page, options={"runOnly": rules}).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                yield theme, fault["id"], fault["nodes"][0]["html"][:200]
    _choose(page, "light")  # the next page opens in it


def _choose(page: Page, theme: str) -> None:
    """Change the theme; the colours of code come a moment after it."""
    page.emulate_media(color_scheme=theme)
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 100)))")


def _open_each(desk: Desk, stack: Stack) -> Iterator[str]:
    """Open one page after the other, each drawn to its end; yield what the list calls it."""
    session_id = stack.chat(QUESTION)["session_id"]
    token = stack.client.post(f"/sessions/{session_id}/links").json()["token"]
    for path in PAGES:
        desk.page.goto(f"{desk.url}/{path.format(session_id, token)}")
        expect(desk.sidebar).to_be_visible()
        desk.is_at_rest()
        yield path

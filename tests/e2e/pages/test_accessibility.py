"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA); and names."""

import re
from collections.abc import Iterator

import pytest
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


@pytest.fixture(scope="module")
def asked(demo_stack: Stack) -> tuple[str, str]:
    """A session in which something was asked, and the token of a link to it."""
    session_id = demo_stack.chat(QUESTION)["session_id"]
    token = demo_stack.client.post(f"/sessions/{session_id}/links").json()["token"]
    return session_id, token


@pytest.mark.parametrize("path", PAGES)
def test_no_page_keeps_anybody_out(demo_desk: Desk, asked: tuple[str, str], path: str) -> None:
    page = demo_desk.open(path.format(*asked))
    _choose(page, "light")
    demo_desk.is_at_rest()

    heard = page.locator("body").aria_snapshot()
    found = re.findall(SPOKEN, heard, re.MULTILINE)
    assert found
    assert not [name for _, name in found if not name or name.endswith(" icon")], heard
    assert list(_faults(page)) == []


def _faults(page: Page) -> Iterator[tuple[str, str, str]]:
    """What axe-core calls serious; of the dark theme only what its colours can make worse."""
    for theme, rules in (("light", RULES), ("dark", CONTRAST)):
        _choose(page, theme)
        for fault in Axe().run(page, options={"runOnly": rules}).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                yield theme, fault["id"], fault["nodes"][0]["html"][:200]


def _choose(page: Page, theme: str) -> None:
    """Change the theme; the colours of code come a moment after it."""
    page.emulate_media(color_scheme=theme)
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 100)))")

"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA); and names."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.e2e.accessibility import axe
from tests.e2e.desk import Desk
from tests.stack import Stack

PAGES = (
    "", "?session={0}", "configuration?session={0}", "inspector?session={0}", "search?q=budget",
    "?session={0}&artifact=list", "data", "agents", "inbox", "tasks", "sessions", "domains",
    "domains?domain=new", "models", "servers", "usage", "work", "retention",
    "webhooks", "shared?link={1}",
)  # fmt: skip
# A line of Playwright's aria snapshot: the role, and the name that a screen reader says.
SPOKEN = r'^\s*- \'?(button|link)(?: "((?:[^"\\]|\\.)*)")?'
LINES = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getClientRects().length;
}"""
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
    axe.choose_theme(page, "light")
    demo_desk.is_at_rest()

    heard = page.locator("body").aria_snapshot()
    found = re.findall(SPOKEN, heard, re.MULTILINE)
    assert found
    assert not [name for _, name in found if not name or name.endswith(" icon")], heard
    assert list(axe.faults(page)) == []


def test_the_printable_page_is_readable_in_both_themes_and_breaks_no_word(
    demo_desk: Desk, demo_stack: Stack
) -> None:
    session_id = demo_stack.chat("Which cost centres spent the most this year?")["session_id"]
    exported = demo_stack.client.get(f"/sessions/{session_id}/export", params={"format": "html"})
    page = demo_desk.open()
    page.set_viewport_size({"width": 420, "height": 900})
    page.set_content(exported.text)

    word = page.get_by_role("cell", name="cost_centre", exact=True).first
    assert word.evaluate(LINES) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page, options={"runOnly": axe.CONTRAST}).response["violations"]
        assert [node["html"] for fault in found for node in fault["nodes"]] == [], theme

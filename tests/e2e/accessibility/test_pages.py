"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA); and names."""

import re

import pytest

from tests.e2e.accessibility import axe
from tests.e2e.desk import Desk
from tests.stack import Stack

PAGES = (
    "", "?session={0}", "configuration?session={0}", "inspector?session={0}", "search?q=budget",
    "?session={0}&artifact=list", "data", "agents", "inbox", "tasks", "sessions", "domains",
    "domains?domain=new", "models", "servers", "usage", "work", "retention", "shared?link={1}",
)  # fmt: skip
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
    axe.choose_theme(page, "light")
    demo_desk.is_at_rest()

    heard = page.locator("body").aria_snapshot()
    found = re.findall(SPOKEN, heard, re.MULTILINE)
    assert found
    assert not [name for _, name in found if not name or name.endswith(" icon")], heard
    assert list(axe.faults(page)) == []

"""What axe-core finds on each page, in both themes: nothing serious (WCAG 2.2 AA)."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.stack import Stack

PAGES = (
    "", "?session={}", "configuration?session={}", "inspector?session={}", "search?q=budget",
    "data", "inbox", "sessions", "domains", "domains?domain=new", "models",
    "servers", "usage", "work", "retention",
)  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
QUESTION = "What's the budget for CC-1001?"


def test_no_page_keeps_anybody_out(demo_desk: Desk, demo_stack: Stack):
    session_id = demo_stack.chat(QUESTION)["session_id"]
    page = demo_desk.page
    serious = []
    for path in PAGES:
        page.goto(f"{demo_desk.url}/{path.format(session_id)}")
        expect(demo_desk.sidebar).to_be_visible()
        demo_desk.is_at_rest()
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

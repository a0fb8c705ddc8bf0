"""What axe-core finds on a page as it is now, in both themes: what is serious (WCAG 2.2 AA)."""

from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CONTRAST = {"type": "rule", "values": ["color-contrast"]}


def faults(page: Page) -> Iterator[tuple[str, str, str]]:
    """What axe-core calls serious; of the dark theme only what its colours can make worse."""
    for theme, rules in (("light", RULES), ("dark", CONTRAST)):
        choose_theme(page, theme)
        for fault in Axe().run(page, options={"runOnly": rules}).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                yield theme, fault["id"], fault["nodes"][0]["html"][:200]


def choose_theme(page: Page, theme: str) -> None:
    """Change the theme; the colours of code come a moment after it."""
    page.emulate_media(color_scheme=theme)
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 100)))")

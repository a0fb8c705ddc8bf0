"""What axe-core finds on a page as it is now, in both themes: what is serious (WCAG 2.2 AA)."""

from collections.abc import Iterator
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from backend.types import JSON

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
LEAST_CONTRAST = 4.5
CONTRASTS = Path(__file__).with_name("contrast.js").read_text()


def faults(page: Page) -> Iterator[tuple[str, str, str]]:
    """What axe-core calls serious; of the dark theme only what its colours can make worse."""
    for theme, rules in (("light", RULES), ("dark", CONTRAST)):
        choose_theme(page, theme)
        found = Axe().run(page, options={"runOnly": rules}).response
        for fault in found["violations"]:
            if fault["impact"] in ("serious", "critical"):
                yield theme, fault["id"], fault["nodes"][0]["html"][:200]
        for html, contrast in _faint(page, found["incomplete"]):
            yield theme, f"contrast of {contrast:.2f}", html[:200]


def _faint(page: Page, undecided: list[JSON]) -> Iterator[tuple[str, float]]:
    """The faint ones of the texts that axe-core cannot judge: something else lies over them."""
    nodes = [
        node for fault in undecided if fault["id"] == "color-contrast" for node in fault["nodes"]
    ]
    plain = [
        node for node in nodes if len(node["target"]) == 1 and isinstance(node["target"][0], str)
    ]
    ratios = page.evaluate(CONTRASTS, [node["target"][0] for node in plain])
    for node, ratio in zip(plain, ratios, strict=True):
        if ratio is not None and ratio < LEAST_CONTRAST:
            yield node["html"], ratio


def choose_theme(page: Page, theme: str) -> None:
    """Change the theme; the colours of code come a moment after it."""
    page.emulate_media(color_scheme=theme)
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 100)))")

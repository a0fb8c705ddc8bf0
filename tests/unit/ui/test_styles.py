"""Style sheets that let a browser restyle only what has changed.

Blink invalidates by the features of a rule's last part. If that is `*`, or if `:has()` depends on
the content of the whole page, each change restyles every element, and a streaming answer makes
dozens of changes per second.
"""

import re
from pathlib import Path

import pytest

UI = Path(__file__).parent.parent.parent.parent / "ui"
SHEETS = sorted(set(UI.rglob("*.css")) - set((UI / "assets" / "vendor").rglob("*.css")))
COSTLY = (
    re.compile(r"\b(?:html|body)[^\s,{]*:has\("),
    re.compile(r"""\[class[*^$]=[^\]]*\][^,{]*[\s>+~]\*"""),
)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_no_rule_restyles_the_whole_page_at_each_change(sheet):
    written = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)

    assert [found[0] for rule in COSTLY for found in rule.finditer(written)] == []


@pytest.mark.parametrize(
    "rule",
    [
        "body:has(.a) .b {",
        "body:not(:has(.a)) .b {",
        '[class*="st-key-a-"] * {',
        '[class*="st-key-a-"] > * {',
    ],
)
def test_costly_rules_are_recognised(rule):
    assert any(costly.search(rule) for costly in COSTLY)

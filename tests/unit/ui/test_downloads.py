"""No page hands out anything through Streamlit's media files, which know no owner."""

import re
from pathlib import Path

from ui.shared.downloads import address

FOLDER = Path(__file__).parent.parent.parent.parent / "ui"
HANDS_OUT = re.compile(r"\bst\.(download_button|image|audio|video|pdf)\(")
# Drawn here as SVG, which Streamlit writes into the page.
DRAWN = {"features/agents/board.py": ["image"]}


def test_no_page_has_streamlit_keep_a_file() -> None:
    found = {
        str(path.relative_to(FOLDER)): HANDS_OUT.findall(path.read_text())
        for path in FOLDER.rglob("*.py")
    }

    assert {path: names for path, names in found.items() if names} == DRAWN


def test_an_address_has_what_is_asked_and_nothing_that_is_not() -> None:
    asked = {"format": "csv", "owner": None, "q": "a&b"}

    assert address("sessions/csv", asked) == "/colloquy/api/sessions/csv?format=csv&q=a%26b"
    assert address("export") == "/colloquy/api/export"

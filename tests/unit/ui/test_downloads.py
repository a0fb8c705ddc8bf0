"""No page hands out or takes anything through Streamlit's files, which know no owner.

They are also in the memory of one server of the pages, and a browser may reach another one.
"""

import re
from pathlib import Path

from ui.shared.downloads import address

FOLDER = Path(__file__).parent.parent.parent.parent / "ui"
KEEPS = re.compile(
    r"\bst\.(?:image|audio|video|pdf)\("
    r"|\.(?:download_button|file_uploader|camera_input|audio_input|chat_input)\("
)
# Drawn here as SVG, which Streamlit writes into the page.
DRAWN = {"features/agents/board.py": ["st.image("]}


def test_no_page_has_streamlit_keep_a_file() -> None:
    found = {
        str(path.relative_to(FOLDER)): KEEPS.findall(path.read_text())
        for path in FOLDER.rglob("*.py")
    }

    assert {path: names for path, names in found.items() if names} == DRAWN


def test_an_address_has_what_is_asked_and_nothing_that_is_not() -> None:
    asked = {"format": "csv", "owner": None, "q": "a&b"}

    assert address("sessions/csv", asked) == "/colloquy/api/sessions/csv?format=csv&q=a%26b"
    assert address("export") == "/colloquy/api/export"

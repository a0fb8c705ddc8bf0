"""The page Import in a browser: an upload, what is in it, its import, and the session."""

import json
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.files import formats
from tests.e2e.files.handing import drop
from tests.integration.imports.scenes import lines, openai

FILE = lines(
    openai(("user", "Where is the Elbe?"), ("assistant", "In Hamburg."), id="e2e", title="Rivers"),
    {"messages": "none"},
)


@pytest.mark.journey
def test_an_export_is_inspected_imported_and_read(desk: Desk, tmp_path: Path) -> None:
    again = json.loads(FILE.split(b"\n")[0])
    again["messages"].append({"role": "user", "content": "And the Alster?"})
    first, grown = formats.write(tmp_path, chats_jsonl=FILE, grown_jsonl=lines(again))
    desk.open("import")
    desk.is_at_rest()
    place = desk.main.get_by_role("region", name="Upload an export")

    drop(desk, place, first)
    desk.sees("1 conversation with 2 messages", "It has no list of messages.")
    desk.main.get_by_role("button", name="Import", exact=True).click()
    desk.sees("1 imported, 1 left out")
    desk.main.get_by_text("Report (1)").click()
    desk.sees("left out. It has no list of messages.")

    drop(desk, place, grown)
    desk.sees("1 already here")
    desk.main.get_by_role("button", name="Import", exact=True).click()
    desk.sees("1 already here, changed since")
    desk.main.get_by_text("Report (1)").first.click()
    desk.main.get_by_role("link", name="Rivers").click()
    desk.sees("In Hamburg.", "Imported from OpenAI JSON Lines.")

"""The page Import in a browser: an upload, what is in it, its import, and the session."""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.integration.imports.scenes import lines, openai

FILE = lines(
    openai(("user", "Where is the Elbe?"), ("assistant", "In Hamburg."), id="e2e", title="Rivers"),
    {"messages": "none"},
)


@pytest.mark.journey
def test_an_export_is_inspected_imported_and_read(desk: Desk) -> None:
    desk.press("Import")
    upload = {"name": "chats.jsonl", "mimeType": "application/jsonl", "buffer": FILE}
    desk.main.locator("input[type=file]").set_input_files(upload)  # type: ignore[arg-type]

    desk.sees("1 conversation with 2 messages")
    desk.sees("It has no list of messages.")
    desk.main.get_by_role("button", name="Import", exact=True).click()
    desk.sees("1 imported, 1 left out")
    desk.main.get_by_text("Report (1)").click()
    desk.sees("left out. It has no list of messages.")

    again = json.loads(FILE.split(b"\n")[0])
    again["messages"].append({"role": "user", "content": "And the Alster?"})
    grown = {**upload, "buffer": lines(again), "name": "grown.jsonl"}
    desk.main.locator("input[type=file]").set_input_files(grown)  # type: ignore[arg-type]
    desk.sees("1 already here")
    desk.main.get_by_role("button", name="Import", exact=True).click()
    desk.sees("1 already here, changed since")
    desk.main.get_by_text("Report (1)").first.click()
    desk.main.get_by_role("link", name="Rivers").click()
    expect(desk.main.get_by_text("In Hamburg.")).to_be_visible()
    desk.sees("Imported from OpenAI JSON Lines.")

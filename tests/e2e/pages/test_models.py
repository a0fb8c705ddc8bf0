"""An administrator connects a model on a page: tests it, saves it, and it answers at once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

KEY = "canary-of-the-page-7391"


@pytest.fixture
def other() -> Iterator[ScriptedModel]:
    with ScriptedModel([{"text": "The other one speaks."}], KEY, ["large", "small"]) as running:
        yield running


@pytest.fixture
def stack(shared_stack: Stack) -> Iterator[Stack]:
    yield shared_stack
    assert shared_stack.client.delete("/model-connection").status_code == 200


@pytest.mark.journey
def test_a_connection_is_tested_saved_used_and_removed(
    desk: Desk, stack: Stack, other: ScriptedModel
):
    desk.administer("Models")
    desk.sees("In use:", "Set by the environment")
    desk.main.get_by_label("Base URL", exact=True).fill(other.url)
    desk.main.get_by_label("API key", exact=True).fill("canary-wrong-55")
    desk.press("Test")
    desk.sees("refused the API key")
    desk.sees_not("canary-wrong-55")

    model = desk.main.get_by_role("combobox", name=re.compile("Default model"))
    desk.is_at_rest()
    desk.press("Clear value")
    desk.main.get_by_label("API key", exact=True).fill(KEY)
    desk.main.get_by_label("API key", exact=True).press("Tab")  # to the button beside it
    desk.press("Test")
    desk.sees("lists its models.", "The endpoint has 2 models: large, small")
    desk.is_at_rest()  # a list that is open closes when its page is drawn
    model.click()
    desk.page.get_by_role("option", name="large").click()
    desk.press("Test")
    desk.sees(re.compile("large answers: its answer began after"))
    desk.press("Save")

    desk.sees("Saved. From the next turn on: large at", "Saved here by")
    expect(desk.main.get_by_label("API key", exact=True)).to_have_value("")
    desk.new_chat()
    desk.ask("Who speaks?")
    desk.sees("The other one speaks.")

    desk.administer("Models")
    field = desk.main.get_by_label("Base URL", exact=True)
    elsewhere = {"base_url": other.url, "api_key": KEY, "default_model": "small"}
    assert stack.client.put("/model-connection", json=elsewhere).status_code == 200
    field.fill(f"{other.url}/")
    desk.press("Save")
    desk.sees("has saved another connection meanwhile", re.compile("In use:.*small"))
    expect(field).to_have_value(f"{other.url}/")
    desk.press("Save")
    desk.sees("Saved. From the next turn on: large at")

    dialog = desk.page.get_by_role("dialog")
    desk.press("Remove")
    dialog.get_by_role("button", name="Keep", exact=True).click()
    expect(dialog).to_have_count(0)
    desk.sees("Saved here by")
    desk.press("Remove")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    desk.sees("Removed, with its key.", "Set by the environment")


def test_a_refused_field_is_named_by_its_label(desk: Desk):
    desk.administer("Models")
    desk.main.get_by_label("Base URL", exact=True).fill("localhost:8080/v1")
    desk.main.get_by_label("API key", exact=True).fill("one two")
    model = desk.main.get_by_role("combobox", name=re.compile("Default model"))
    model.fill("large")
    model.press("Enter")

    for button in ("Test", "Save"):
        desk.press(button)
        desk.sees("Base URL: this must begin with", "API key: this is not an API key")
        desk.is_at_rest()

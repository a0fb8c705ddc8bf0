"""From no sign-in to accounts: who opens the printed link owns what was made before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator

from tests.conftest import make_stack
from tests.e2e.people.people import Person, printed_link
from tests.fakes import ScriptedModel
from tests.integration.people.people import PASSWORD
from tests.processes import kill_process
from tests.stack import Servers, Stack


@pytest.fixture
def laptop(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    with make_stack(servers, model, tmp_path) as stack:
        yield stack


def turn_accounts_on(stack: Stack) -> None:
    """Start all parts again, with accounts."""
    stack.environment["AUTH"] = "local"
    stack.kill_api()
    stack.start_api()
    stack.restart_worker()
    while stack.others:
        kill_process(stack.others.pop())


def press_twice(button: Locator) -> None:
    """Click two times in quick succession: each sends the form."""
    box = button.bounding_box()
    assert box
    for _ in range(2):
        button.page.mouse.click(box["x"] + 20, box["y"] + 10)


@pytest.mark.journey
def test_who_opens_the_printed_link_owns_what_was_made_before(
    laptop: Stack, model: ScriptedModel, context: BrowserContext
) -> None:
    model.steps = [{"text": "Rents went up."}]
    session_id = laptop.chat("What happened in May?")["session_id"]
    turn_accounts_on(laptop)
    person = Person(context, laptop.start_ui())

    person.visit(f"?session={session_id}")
    person.is_out()
    person.page.goto(f"{person.url}/sign-in/link/{printed_link(laptop)}")
    person.page.get_by_label("Your name").fill("Ada Lovelace")
    person.page.get_by_label("Name to sign in").fill("ada")
    person.page.get_by_label("New password").fill(PASSWORD)
    person.page.get_by_label("The same").fill(PASSWORD)
    press_twice(person.page.get_by_role("button", name="Save and sign in"))

    person.is_here("Ada Lovelace")
    person.row(session_id).click()
    person.sees("Rents went up.")
    person.sign_out("Ada Lovelace")
    person.is_out()
    person.page.go_back()
    person.is_out()
    person.sign_in("ada")

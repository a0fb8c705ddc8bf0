"""A sign-in ends: open pages, and what streams into them, end with it within seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.conftest import make_stack
from tests.e2e.desk import without_end
from tests.e2e.people.people import Office, Person, printed_link, take_link
from tests.fakes import ScriptedModel
from tests.stack import Servers

DISABLED_SECONDS, SIGNED_OUT_SECONDS = 10, 5
UNFINISHED = "SELECT id FROM turns WHERE finished_at IS NULL"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Make sure that what happens meanwhile takes no longer than this."""
    begin = time.monotonic()
    yield
    taken = time.monotonic() - begin
    assert taken <= seconds, f"{taken:.1f} s"


def test_who_is_disabled_while_an_answer_streams_loses_page_stream_and_turn(
    office: Office, model: ScriptedModel, context: BrowserContext
) -> None:
    model.steps = without_end("It begins with rents")
    login = office.person()
    person = Person(context, office.url)
    person.visit()
    person.sign_in(login)
    person.ask("What happened in May?")
    person.sees("It begins with rents")
    person.composer.fill("A draft that is theirs")

    with at_most(DISABLED_SECONDS):
        office.disable(login)
        person.is_out()
        office.stack.wait_for(lambda: not office.stack.query(UNFINISHED), "the turn goes on")

    person.sees("Your sign-in has ended")
    assert "rents" not in person.page.content()
    assert "draft" not in person.page.evaluate("JSON.stringify(sessionStorage)")
    assert all(one.is_closed() for one in person.sockets)
    person.page.get_by_label("Name").fill(login)
    person.page.get_by_label("Password").fill("four random words here")
    person.page.get_by_role("button", name="Sign in").click()
    person.sees("this account may not sign in")


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["", "served by another process"])
def test_signing_out_here_leaves_other_browsers_where_they_are_and_everywhere_ends_their_pages(
    office: Office, model: ScriptedModel, contexts: list[BrowserContext], is_elsewhere: bool
) -> None:
    model.steps = [{"text": "Here I am."}]
    login = office.person()
    url = office.stack.start_ui() if is_elsewhere else office.url
    here, there = Person(contexts[0], office.url), Person(contexts[1], url)
    for one in (here, there):
        one.visit()
        one.sign_in(login)

    here.sign_out(login)
    here.is_out()
    there.ask("Are you there?")
    there.sees("Here I am.")
    there.is_idle()

    here.sign_in(login)
    here.sign_out(login, "Sign out everywhere")
    here.is_out()
    with at_most(SIGNED_OUT_SECONDS):
        there.is_out()

    there.sees("Your sign-in has ended")


def test_a_page_whose_cookie_is_gone_goes_to_the_sign_in_and_comes_back(
    office: Office, model: ScriptedModel, context: BrowserContext
) -> None:
    model.steps = [{"text": "Rents went up."}]
    login = office.person()
    person = Person(context, office.url)
    person.visit()
    person.sign_in(login)
    person.ask("What happened in May?")
    person.sees("Rents went up.")
    person.is_idle()
    place = person.query

    context.clear_cookies(name="colloquy")
    person.is_out()  # without a click
    person.sign_in(login)

    person.sees("Rents went up.")
    assert person.query == place


def test_a_page_that_was_opened_while_the_service_was_away_ends_as_others_do(
    servers: Servers, model: ScriptedModel, contexts: list[BrowserContext], tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, AUTH="local") as stack:
        admin = take_link(stack, printed_link(stack), "ada")
        office = Office(stack, "", admin)
        stack.kill_api()
        url = stack.start_ui()
        person = Person(contexts[0], url)
        cookie = {"name": "colloquy", "value": admin, "url": url}
        contexts[0].add_cookies([{**cookie, "httpOnly": True, "sameSite": "Lax"}])
        person.visit()
        person.sees("does not answer")

        stack.start_api()
        person.is_here("ada")
        office.stack.client.delete(
            "/sign-ins", headers={"Authorization": f"Bearer {admin}"}
        ).raise_for_status()

        person.is_out(10_000)

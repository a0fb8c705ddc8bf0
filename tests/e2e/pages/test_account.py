"""A person rates an answer, and keeps their account: tokens, sign-ins, what is left of the day."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from backend.auth import local
from backend.schemas.people.account import LinkPurpose
from db.models.people.user import TeamMemberRow, TeamRow, UserRow
from db.session import Database
from tests.conftest import make_stack
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel, script
from tests.integration.people.people import PASSWORD
from tests.stack import Servers, Stack

NAME, NEW_PASSWORD = "Ada Lovelace", "five other random words"


@pytest.fixture
def accounts(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """An installation where people sign in."""
    limits = {"USER_TOKENS_PER_DAY": "4000"}
    with make_stack(servers, model, tmp_path, AUTH="local", **limits) as stack:
        yield stack


def sign_in(stack: Stack, role: str = "member") -> str:
    """Make a person of a team; return the token of their sign-in."""
    with closing(Database(stack.database_url)) as database, database.transaction() as session:
        session.add(UserRow(id="ada", name=NAME, login="ada", role=role))
        session.add(TeamRow(id="analysts", name="Analysts"))
        session.flush()
        session.add(TeamMemberRow(team_id="analysts", user_id="ada"))
        link = local.make_link(session, LinkPurpose.INVITATION, "ada")
    answer = stack.client.post(f"/one-time-links/{link}", json={"password": PASSWORD})
    return str(answer.raise_for_status().json()["token"])


def status_of(stack: Stack, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{stack.base_url}/api/v1/account", headers=headers).status_code


@pytest.mark.journey
def test_a_person_rates_an_answer_and_keeps_their_account(
    accounts: Stack, context: BrowserContext
) -> None:
    url, token = accounts.start_ui(), sign_in(accounts)
    context.add_cookies([{"name": "colloquy", "value": token, "url": url}])
    desk = Desk(context, url)
    desk.ask(script({"text": "word " * 800}))
    desk.sees("word word")
    desk.is_idle()
    rates(desk)
    made = makes_a_token(desk)
    assert status_of(accounts, made) == 200
    desk.press("Revoke")
    desk.is_told("was revoked")
    assert status_of(accounts, made) == 401
    changes_the_password(desk)
    assert status_of(accounts, token) == 401


def rates(desk: Desk) -> None:
    down = desk.main.get_by_role("radio", name="Thumbs down")
    down.focus()
    desk.page.keyboard.press("Enter")
    expect(down).to_be_checked()
    desk.press("Add a comment")
    desk.page.get_by_role("textbox", name="What was wrong?").fill("It only repeats itself.")
    desk.page.get_by_role("button", name="Save comment").click()
    desk.sees("Your comment was saved")
    desk.page.reload()
    expect(desk.main.get_by_role("radio", name="Thumbs down")).to_be_checked()


def makes_a_token(desk: Desk) -> str:
    """Make one in a hurry: the button is pressed twice."""
    desk.press(NAME)
    desk.press("Account and API tokens")
    desk.sees("Teams: Analysts", "Your usage today", "Where you are signed in")
    expect(desk.main.get_by_text(re.compile(r"You, today: .* of 4,000 tokens"))).to_be_visible()
    desk.main.get_by_label("Name").fill("nightly report")
    desk.main.get_by_role("button", name="Create token").dblclick()
    desk.sees("It will not be shown again", "not used yet")
    made = desk.main.get_by_test_id("stCode").inner_text().strip()
    desk.press("Done")
    desk.sees_not(made)
    expect(desk.main.get_by_role("button", name="Revoke")).to_have_count(1)
    return made


def changes_the_password(desk: Desk) -> None:
    desk.press("Change password")
    desk.page.get_by_label("Old password").fill(PASSWORD)
    desk.page.get_by_label("New password").fill(NEW_PASSWORD)
    desk.page.get_by_label("The same password again").fill(NEW_PASSWORD)
    desk.press("Change password")
    desk.sees("Where you are signed in")

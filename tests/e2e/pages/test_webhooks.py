"""A person has another program told: set, tested, tried again, paused, resumed, deleted."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.servers.receiver import Receiver
from tests.stack import Stack
from tests.unit.web.test_webhook_signatures import documented


@pytest.fixture
def receiver(stack: Stack) -> Iterator[Receiver]:
    with Receiver() as running:
        yield running
    stack.query_and_commit("DELETE FROM webhooks")


@pytest.mark.journey
def test_another_program_is_told(desk: Desk, stack: Stack, receiver: Receiver) -> None:
    receiver.answer = lambda one: 500 if one.event["type"] == "turn_finished" else 200
    desk.administer("Webhooks")
    desk.sees("There are no webhooks yet")
    secret = sets_one(desk, receiver)
    desk.press("Send a test")
    desk.sees("It arrived after", "Answer 200 · noted")
    assert documented()(secret, receiver.got[0].headers, receiver.got[0].body)

    stack.chat("Good morning.")
    stack.wait_for(lambda: "turn_finished" in receiver.says("/hook"), "the turn was not told")
    desk.press("Deliveries")
    desk.sees("A session was created", "Answer 500 · noted", "Failing since")
    receiver.answer = lambda _: 200
    desk.main.get_by_role("button", name="Send now").first.click()
    stack.wait_for(lambda: receiver.says("/hook")[-2:] == ["turn_finished"] * 2, "not sent again")
    stack.wait_for(
        lambda: not stack.query("SELECT 1 FROM webhook_deliveries WHERE status = 'pending'"),
        "it is not taken",
    )
    desk.page.reload()
    desk.sees_not("Failing since")

    desk.press("Pause")
    desk.sees("Paused.")
    desk.press("Resume")
    desk.sees_not("Paused.")
    desk.press("Delete")
    desk.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    desk.sees("There are no webhooks yet")


def sets_one(desk: Desk, receiver: Receiver) -> str:
    """Set a webhook in a hurry: the button is pressed twice. Return its secret."""
    desk.main.get_by_text("Set a webhook").click()
    desk.main.get_by_label("Name").fill("The host")
    desk.main.get_by_label("Address").fill(f"{receiver.url}/hook")
    desk.main.get_by_role("button", name="Set webhook").dblclick()
    desk.sees("it will not be shown again", "Sessions of local")
    secret = desk.main.get_by_test_id("stCode").inner_text().strip()
    desk.press("Done")
    desk.sees_not(secret)
    expect(desk.main.get_by_role("button", name="Send a test")).to_have_count(1)
    return secret

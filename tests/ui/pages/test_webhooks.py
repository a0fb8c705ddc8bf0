"""The page of webhooks: its states, and what it asks the API for."""

import pytest

from backend.schemas.people.account import Team
from backend.schemas.people.rights import Permission, PrincipalType
from backend.schemas.webhooks import (
    DeliveryStatus,
    PauseReason,
    WebhookEvent,
    WebhookTest,
)
from tests.ui.fakes.webhooks import SECRET, THEN, delivery, webhook
from tests.ui.seen import words


@pytest.fixture
def open_webhooks(open_page):
    def open_it():
        return open_page().switch_page("app_pages/webhooks.py").run()

    return open_it


def press(page, label):
    (button,) = (one for one in page.button if one.label == label)
    return button.click().run()


def labels(page) -> list[str]:
    return [one.label for one in page.button]


def test_one_is_set_and_its_secret_shown_once(open_webhooks, store):
    store.server.has_accounts = True
    store.account.teams = [Team(id="t", name="Finance")]
    page = open_webhooks()
    assert "There are no webhooks yet" in words(page)

    page.text_input(key="webhook-name-0").set_value("  The host ")
    page.text_input(key="webhook-url-0").set_value("https://example.com/hook")
    page.multiselect(key="webhook-events-0").set_value([WebhookEvent.TURN_FINISHED])
    page.selectbox(key="webhook-of-0").set_value("t")
    press(page, "Set webhook")

    (asked,) = store.webhooks.asked
    assert (asked.name, asked.events) == ("The host", [WebhookEvent.TURN_FINISHED])
    assert (asked.principal_type, asked.principal_id) == (PrincipalType.TEAM, "t")
    assert [one.value for one in page.code] == [SECRET]
    press(page, "Done")
    assert not page.code
    assert "The host" in words(page)
    assert page.text_input(key="webhook-name-1").value == ""


@pytest.mark.parametrize("field", ["name", "url", "events"])
def test_what_is_missing_is_said(open_webhooks, store, field):
    page = open_webhooks()
    page.text_input(key="webhook-name-0").set_value("" if field == "name" else "x")
    page.text_input(key="webhook-url-0").set_value("" if field == "url" else "https://x.example")
    if field == "events":
        page.multiselect(key="webhook-events-0").set_value([])

    press(page, "Set webhook")

    assert "A webhook needs" in words(page)
    assert not store.webhooks.asked


@pytest.mark.parametrize(
    ("permissions", "is_offered"),
    [
        ([Permission.OPERATE, Permission.REVIEW_SESSIONS], True),
        ([Permission.OPERATE], False),
        ([Permission.REVIEW_SESSIONS], False),
    ],
)
def test_everyones_is_offered_to_who_may(open_webhooks, store, permissions, is_offered):
    store.server.has_accounts, store.server.permissions = True, permissions

    options = open_webhooks().selectbox(key="webhook-of-0").options

    assert ("Everyone's" in options) == is_offered


@pytest.mark.parametrize(
    ("fields", "said", "offered"),
    [
        ({}, "Sessions of Ada", "Pause"),
        ({"paused": PauseReason.PERSON}, "Paused.", "Resume"),
        ({"paused": PauseReason.FAILING}, "nothing has reached it for half a day", "Resume"),
        ({"paused": PauseReason.GONE}, "it is gone (410)", "Resume"),
        ({"paused": PauseReason.RIGHTS}, "may not read these sessions any more", "Resume"),
        ({"failing_since": THEN}, "Failing since", "Pause"),
        ({"old_secret_until": THEN}, "The secret before also signs until", "Pause"),
        ({"principal_type": PrincipalType.TEAM, "principal_name": "<b>Tax</b>"},
         r"Sessions of the team \<b\>Tax\</b\>", "Pause"),
    ],
)  # fmt: skip
def test_its_state_is_said(open_webhooks, store, fields, said, offered):
    store.webhooks.items = [webhook(**fields)]

    page = open_webhooks()

    assert said in words(page)
    assert offered in labels(page)


def test_everyones_is_seen_by_all_and_changed_by_few(open_webhooks, store):
    everyone = {"principal_type": PrincipalType.EVERYONE, "url": "https://example.com"}
    store.webhooks.items = [webhook(**everyone, can_change=False)]

    page = open_webhooks()

    assert "Everyone's sessions · set by Ada" in words(page)
    assert not {"Pause", "Delete", "Deliveries", "New secret"} & set(labels(page))


def test_it_is_paused_and_resumed(open_webhooks, store):
    store.webhooks.items = [webhook()]

    page = press(open_webhooks(), "Pause")
    assert "Paused." in words(page)
    assert store.webhooks.items[0].paused is PauseReason.PERSON
    assert "Paused." not in words(press(page, "Resume"))


def test_a_new_secret_is_shown_once(open_webhooks, store):
    store.webhooks.items = [webhook()]

    page = press(open_webhooks(), "New secret")

    assert [one.value for one in page.code] == [SECRET]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"is_delivered": True, "status": 204, "answer": ""}, "It arrived after 0.5 s. Answer 204"),
        ({"is_delivered": False, "status": 500, "answer": "<b>oh</b>"},
         r"It was not taken after 0.5 s. Answer 500 · \<b\>oh\</b\>"),
        ({"is_delivered": False, "status": None, "answer": "No answer within 10 seconds."},
         "No answer · No answer within 10 seconds"),
    ],
)  # fmt: skip
def test_what_a_test_met_is_shown(open_webhooks, store, found, said):
    store.webhooks.items = [webhook(), webhook("Another")]
    store.webhooks.tested = WebhookTest(seconds=0.5, **found)

    page = open_webhooks()
    page.button(key=f"webhook-test-{store.webhooks.items[0].id}").click().run()

    assert said in words(page)


def test_deliveries_are_listed_by_page_and_sent_again(open_webhooks, store):
    store.webhooks.items = [webhook()]
    failed = delivery(
        DeliveryStatus.GIVEN_UP, attempts=10, answer_status=None, answer="No answer in time."
    )
    waits = delivery(DeliveryStatus.PENDING, attempts=2, due_at=THEN, answer_status=503)
    void = delivery(DeliveryStatus.VOID, answer_status=None, answer="", attempts=1)
    store.webhooks.deliveries = [failed, waits, void, *(delivery() for _ in range(20))]

    page = press(open_webhooks(), "Deliveries")

    said = words(page)
    assert "Given up · 10 attempts" in said and "No answer · No answer in time" in said
    assert "Next try" in said and "Answer 503" in said
    assert "Not sent: it was deleted" in said
    page.button(key=f"webhook-retry-{failed.id}").click().run()
    assert store.webhooks.retried == [failed.id]
    assert "Send now" in labels(page)
    assert "Given up" not in words(press(page, "Older"))
    assert "Given up" in words(press(page, "Newer"))
    assert "Given up" not in words(press(page, "Hide deliveries"))


def test_while_it_is_paused_nothing_is_sent_again(open_webhooks, store):
    store.webhooks.items = [webhook(paused=PauseReason.GONE)]
    store.webhooks.deliveries = [delivery(DeliveryStatus.GIVEN_UP)]

    page = press(open_webhooks(), "Deliveries")

    assert "Given up" in words(page)
    assert not {"Send again", "Send now"} & set(labels(page))

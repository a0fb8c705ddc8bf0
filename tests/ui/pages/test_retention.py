"""The administrators' page of retention."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.schemas.retention import Departing, Reason, Retention, RetentionRules, RetentionRun
from tests.ui.seen import words


@pytest.fixture
def open_retention(open_page):
    def open_it():
        return open_page().switch_page("app_pages/administration/retention.py").run()

    return open_it


def departing(title="Old talk"):
    now = datetime.now(UTC)
    return Departing(
        id=uuid4(), title=title, owner="u-1", owner_name="ada", domain="finance", updated_at=now,
        last_accessed_at=now, reason=Reason.AGE,
    )  # fmt: skip


def test_rules_that_are_off_say_so(open_retention):
    page = open_retention()

    assert not page.exception
    assert "kept forever" in words(page)
    assert "Nothing is due for deletion." in words(page)


def test_what_goes_next_stands_with_its_reason(open_retention, store):
    store.retention = Retention(
        rules=RetentionRules(days=90, sessions_per_person=500, megabytes=0, every_hours=24),
        planned=1,
        first=[departing()],
        runs=[RetentionRun(at=datetime.now(UTC), actor="colloquy", planned=3, deleted=3)],
    )

    page = open_retention()

    assert "90 days" in words(page) and "500 sessions" in words(page)
    assert "**1 session**, the oldest first:" in words(page)
    goes, applied = page.dataframe
    assert list(goes.value["Why"]) == ["unused for too long"]
    assert list(applied.value["Deleted"]) == [3]
    assert all('"localized"' in table.proto.columns for table in (goes, applied))


def test_sessions_that_the_table_leaves_out_are_told(open_retention, store):
    first = [departing() for _ in range(3)]
    store.retention = store.retention.model_copy(update={"planned": 250, "first": first})

    said = words(open_retention())

    assert "**250 sessions**, the oldest first:" in said
    assert "Showing the first 3." in said


def test_deleting_is_asked_for_twice(open_retention, store):
    store.retention = store.retention.model_copy(update={"planned": 1, "first": [departing()]})
    page = open_retention()

    page.button(key="apply-retention").click().run()

    assert "**1 session** will be permanently deleted, with all messages." in words(page)
    assert not [call for call in store.calls if call.startswith("POST")]
    assert page.button(key="delete-sessions")


def test_members_are_told_whom_to_ask(open_retention, store):
    store.server.permissions = []

    assert "for administrators" in words(open_retention())

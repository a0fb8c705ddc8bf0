"""An administrator sees what retention deletes next, and lets it go."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack


@pytest.mark.journey
def test_sessions_kept_no_longer_are_seen_and_deleted(desk: Desk, stack: Stack):
    domain = make_domain(stack, retention_days=5)
    session_id = make_session(stack, domain["name"], "Talk of last year")
    stack.query_and_commit(
        f"UPDATE conversations SET updated_at = now() - interval '6 days' WHERE id = '{session_id}'"
    )

    desk.administer("Retention")
    desk.sees("1 session, the oldest first:")
    desk.press("Delete them now")
    desk.page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()

    desk.sees("Nothing is due for deletion.")
    expect(desk.main.get_by_test_id("stDataFrame")).to_have_count(1)  # what has gone, and when
    assert stack.client.get(f"/sessions/{session_id}").status_code == 404

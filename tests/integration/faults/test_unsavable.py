"""What the database refuses for good ends the turn at once; what it loses is saved again, whole."""

import pytest

from tests.fakes import script
from tests.integration.scenes import check_problem, check_views, make_session, tool_domain
from tests.stack import Stack

CALLS = {"tools": [{"name": "one", "id": "a"}, {"name": "two", "id": "b"}]}

# The first commit of a tool's result ends as if the server were shut down within it.
ONE_LOST_COMMIT = """
CREATE SEQUENCE lost_commits;
CREATE FUNCTION lose_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    IF nextval('lost_commits') = 1 THEN
        RAISE EXCEPTION 'terminating connection' USING ERRCODE = '57P01';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER lose_commit AFTER INSERT ON display_messages
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.content ->> 'content' = 'fragile') EXECUTE FUNCTION lose_commit();
"""

# What PostgreSQL says while its disk is full, where the text says so.
FULL_DISK = """
CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
END $$;
CREATE TRIGGER fill_disk BEFORE INSERT ON display_messages FOR EACH ROW
    WHEN (NEW.content ->> 'text' = 'too much') EXECUTE FUNCTION fill_disk();
"""


def test_step_that_cannot_be_saved_fails_the_turn_once(stack: Stack) -> None:
    session_id = stack.client.post("/sessions", json={}).json()["id"]
    stack.query_and_commit(
        "ALTER TABLE display_messages ADD CONSTRAINT no_poison"
        " CHECK (content->>'text' IS DISTINCT FROM 'poison')"
    )

    turn = stack.submit(script({"text": "poison"}), session_id)

    ended = stack.finished(turn["turn_id"])
    assert (ended["status"], ended["attempts"]) == ("failed", 1)
    assert stack.chat(script({"text": "well"}), session_id)["status"] == "succeeded"


def test_step_whose_commit_failed_is_saved_whole_the_second_time(stack: Stack) -> None:
    with tool_domain(stack, lambda name, _: "fragile", "one", "two") as (domain, _):
        session_id = make_session(stack, domain["name"])
        stack.query_and_commit(ONE_LOST_COMMIT)
        try:
            turn = stack.submit(script(CALLS, {"text": "done"}), session_id)
            ended = stack.finished(turn["turn_id"])
        finally:
            stack.query_and_commit("DROP FUNCTION lose_commit CASCADE; DROP SEQUENCE lost_commits")

    assert (ended["status"], ended["attempts"]) == ("succeeded", 1)
    rows, _ = check_views(stack, session_id)
    calls = [row["status"] for row in rows if row["content_type"] == "tool_call"]
    assert calls == ["completed", "completed"]


@pytest.mark.chaos
def test_full_disk_of_the_database_is_told_and_waited_out(own_stack: Stack) -> None:
    stack = own_stack
    session_id = stack.client.post("/sessions", json={}).json()["id"]
    logged = len(stack.log.read_text())
    stack.query_and_commit(FULL_DISK)
    try:
        refused = stack.client.post("/chat", json={"message": "too much"})
        turn = stack.submit(script({"text": "too much"}), session_id)
        stack.wait_for(lambda: "cannot be saved" in stack.log.read_text()[logged:], "not given up")
    finally:
        stack.query_and_commit("DROP FUNCTION fill_disk CASCADE")

    assert "disk of the database is full" in check_problem(refused, 503)["detail"]
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert "Traceback" not in stack.log.read_text()[logged:]

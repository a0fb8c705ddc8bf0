"""The administrators' page of the present work."""

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.conversations.turns import ErrorSummary, ModelWait, TurnStatus
from tests.ui.seen import words


@pytest.fixture
def open_work(open_page):
    def open_it():
        return open_page().switch_page("app_pages/administration/work.py").run()

    return open_it


def figures(page):
    return {metric.label: metric.value for metric in page.metric}


def running(store, **fields):
    turn = store.add_turn(store.add_session("Reconcile", **fields), "Reconcile all")
    store.start(turn)
    return turn


def failed(store):
    turn = running(store)
    turn.error = ErrorSummary(title="Model unavailable", detail="It was silent for too long.")
    store.finish(turn, TurnStatus.FAILED)
    return turn


def test_a_quiet_installation_says_so(open_work):
    page = open_work()

    assert not page.exception
    assert figures(page)["Running"] == "0"
    assert "No turns are running or waiting" in words(page)
    assert "No failed turns." in words(page)


def test_turns_of_all_owners_stand_with_their_worker(open_work, store):
    running(store, owner="ada")
    store.workers[0].turns = 1

    page = open_work()

    assert not page.exception
    assert figures(page) | {"Running": "1", "Turns running": "1 of 8"} == figures(page)
    said = words(page).replace("\\", "")
    assert all(text in said for text in ("Ada", "desk-1, last heartbeat 2.0 s ago", "attempt 1"))
    assert "1 min 15 s old" in said


def test_a_turn_that_waits_for_its_tasks_does_not_seem_to_wait_for_people(open_work, store):
    running(store).status = TurnStatus.WAITING

    page = open_work()

    assert figures(page)["Waiting"] == "1"


def test_a_silent_worker_a_wait_and_losses_are_told(open_work, store):
    turn = running(store)
    turn.losses, turn.heartbeat_seconds, turn.lease_seconds = 1, 6.2, 3.8
    turn.model_wait = ModelWait(seconds=12, reason="It is busy.")

    said = words(open_work()).replace("\\", "")

    assert "No heartbeat for 6 s" in said
    assert "resumed after a lost worker" in said
    said = said.replace("&#58;", ":")
    assert "provider: It is busy · next try in 12 s" in said


def test_a_stopping_turn_cannot_be_stopped_again(open_work, store):
    turn = running(store)
    turn.stop_requested = True

    page = open_work()

    assert page.button(key=f"work-stop-{turn.id}").disabled


def test_a_failed_turn_that_went_on_since_cannot_be_retried(open_work, store):
    turn = failed(store)
    store.add_turn(store.sessions[turn.session_id], "Something else")

    page = open_work()

    assert "Continued since" in words(page)
    assert not [button for button in page.button if button.label == "Retry"]


def test_a_turn_is_stopped(open_work, store):
    turn = running(store)
    page = open_work()

    page.button(key=f"work-stop-{turn.id}").click().run()

    assert turn.status is TurnStatus.STOPPED


def test_a_failure_says_why_and_is_retried(open_work, store):
    store.answers = False
    turn = failed(store)
    page = open_work()
    assert "It was silent for too long" in words(page)

    page.button(key=f"work-retry-{turn.id}").click().run()

    assert turn.status is TurnStatus.QUEUED


def test_many_turns_are_cut_with_their_number(open_work, store):
    for _ in range(40):
        running(store)

    page = open_work()

    assert "Showing the first 30 of 40." in words(page)


def test_a_worker_is_drained_after_it_was_asked(open_work, store):
    page = open_work()
    assert "Nothing is lost" in words(page)

    page.button(key="drain-desk-1").click().run()

    assert store.workers[0].is_draining
    assert page.button(key="drain-desk-1").disabled


def test_a_worker_that_is_older_than_the_database_says_so(open_work, store):
    assert "Takes no turns" not in words(open_work())
    store.workers[0].obstacle = "The database was migrated by a newer version. Start that version."

    page = open_work()

    assert "Takes no turns" in words(page)
    assert not page.button(key="drain-desk-1").disabled


def test_no_worker_says_how_to_start_one(open_work, store):
    store.workers = []

    assert "make worker" in words(open_work())


def test_without_redis_workers_are_not_called_dead(open_work, store):
    store.workers, store.redis_answers = [], False

    page = open_work()

    assert figures(page)["Workers"] == "?"
    assert "Live updates pause" in words(page)
    assert "make worker" not in words(page)


def test_an_outage_is_said(open_work, store):
    page = open_work()
    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again.")

    page.run()

    assert not page.exception
    assert "Database unavailable" in words(page)


def test_others_are_told_that_it_is_for_administrators(open_work, store):
    store.server.permissions = []

    page = open_work()

    assert "administrators" in page.info[0].value
    assert not page.metric

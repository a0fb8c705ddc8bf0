"""Runs of one tab overlap: one that was told to end still finishes what it reads."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from uuid import uuid4

import pytest

from backend.schemas.conversations.sessions import Session, SessionPage
from ui import navigation, state
from ui.features.sessions import pages
from ui.shared import last_known

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNT = 250
OVERLAP_SECONDS = 0.5  # a run that waits for the other one is not waited for


class Sessions:
    """The service's sessions, the newest first; `meanwhile` is done when a page was read."""

    def __init__(self, count: int):
        self.all = [_session(number) for number in range(count)]
        self.meanwhile = {}

    def sessions(self, *, limit, cursor, pinned, **_) -> SessionPage:
        start = next((n for n, one in enumerate(self.all) if str(one.id) == cursor), -1) + 1
        items = [] if pinned else self.all[start : start + limit]
        has_more = bool(items) and start + limit < len(self.all)
        page = SessionPage(items=items, next_cursor=str(items[-1].id) if has_more else None)
        self.meanwhile.pop(cursor, lambda: None)()
        return page


def _session(number: int) -> Session:
    at = NOON - timedelta(minutes=number)
    fields = dict.fromkeys(Session.model_fields) | {
        "id": uuid4(), "title": str(number), "status": "idle", "created_at": at, "updated_at": at,
        "last_accessed_at": at,
    }  # fmt: skip
    return Session.model_construct(**fields)


@pytest.fixture
def service(monkeypatch) -> Sessions:
    service, held = Sessions(COUNT), state.Memory()
    for name, told in {"client": service, "memory": held, "search_text": ""}.items():
        monkeypatch.setattr(state, name, lambda told=told: told)
    monkeypatch.setattr(navigation, "open_session_id", lambda: None)
    return service


def numbers() -> list[int]:
    return [int(session.title) for session in pages.load().sessions]


def test_an_older_page_that_comes_while_the_list_is_drawn_stays(service, monkeypatch):
    pages.load_older(pages.load().cursor)
    newest_first = pages._newest_first
    other_run = Thread(target=pages.load_older, args=[pages.load().cursor])

    def merge_slowly(*arguments):
        if other_run.ident is None:
            other_run.start()
            other_run.join(OVERLAP_SECONDS)
        return newest_first(*arguments)

    monkeypatch.setattr(pages, "_newest_first", merge_slowly)
    pages.load()
    other_run.join()

    assert numbers() == list(range(230))


def test_no_session_is_skipped_if_a_new_one_comes_while_an_older_page_is_read(service):
    cursor = pages.load().cursor

    def begin_another():
        service.all.insert(0, _session(-1))
        pages.load()

    service.meanwhile[cursor] = begin_another
    pages.load_older(cursor)
    pages.load_older(pages.load().cursor)

    shown = numbers()
    assert shown == list(range(-1, shown[-1] + 1))
    assert len(shown) == 130


def test_a_page_of_an_earlier_search_is_not_in_the_next_one(service):
    cursor = pages.load().cursor
    service.meanwhile[cursor] = pages.begin_anew

    pages.load_older(cursor)

    assert numbers() == list(range(30))


def test_a_run_that_ends_takes_nothing_from_the_next_one(service):
    made = []
    with last_known.reading_ahead():
        earlier = last_known.reading_ahead()
        earlier.__enter__()
        with last_known.reading_ahead():
            last_known.begin("what", lambda: made.append(1))
            begun = state.memory().begun["what"]
            earlier.__exit__(None, None, None)
            assert state.memory().begun == {"what": begun}
            assert not begun.answer.cancelled()

"""The route that open pages ask whether what they show has changed elsewhere."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.integration.scenes import make_session
from tests.processes import free_port
from tests.stack import Stack
from ui.async_api import AsyncApi
from ui.shared.watch.route import PATH, route


@pytest.fixture
def pages(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("API_URL", stack.base_url)
    with TestClient(Starlette(routes=[route(AsyncApi())])) as client:
        yield client


def stamp(pages: TestClient, **shown: str) -> str:
    answer = pages.get(PATH, params=shown)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_stamp_changes_with_what_its_page_shows_and_with_nothing_else(
    stack: Stack, pages: TestClient
) -> None:
    title = uuid4().hex
    session_id = make_session(stack, title=title)
    shown = {"session": session_id, "q": title}
    before = stamp(pages, **shown), stamp(pages, archived="true", q=title)

    make_session(stack, title="Another")
    assert (stamp(pages, **shown), stamp(pages, archived="true", q=title)) == before

    stack.client.patch(f"/sessions/{session_id}", json={"pinned": True})
    pinned = stamp(pages, **shown)
    stack.client.patch(f"/sessions/{session_id}", json={"archived": True})
    assert len({before[0], pinned, stamp(pages, **shown)}) == 3
    assert stamp(pages, archived="true", q=title) != before[1]


@pytest.mark.parametrize(
    "wrong", [{"session": "x"}, {"archived": "perhaps"}, {"pinned": "true"}, {"session": ""}]
)
def test_what_is_no_page_of_ours_is_refused(pages: TestClient, wrong: dict[str, str]) -> None:
    assert pages.get(PATH, params=wrong).status_code == 422


def test_a_page_changes_when_its_session_is_deleted(pages: TestClient, stack: Stack) -> None:
    session_id, title = make_session(stack), uuid4().hex
    before = stamp(pages, session=session_id, q=title)

    stack.client.delete(f"/sessions/{session_id}")

    assert stamp(pages, session=session_id, q=title) == stamp(pages, q=title) != before


def test_who_does_not_know_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_URL", f"http://127.0.0.1:{free_port()}")
    with TestClient(Starlette(routes=[route(AsyncApi())])) as alone:
        assert alone.get(PATH).status_code == 503

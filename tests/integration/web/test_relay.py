"""The events of sessions as a tab hears them: the real pages, API, worker and Redis."""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session
from tests.stack import Servers, Stack
from ui.relay.route import PATH

WORDS = [f"word{number} " for number in range(200)]
PATIENCE = 60


class Tab:
    """A browser's connection, and what it has been told."""

    def __init__(self, url: str) -> None:
        self.socket: ClientConnection = connect(
            f"ws{url.removeprefix('http')}{PATH}", max_size=None
        )
        self.told: list[Any] = []

    def close(self) -> None:
        self.socket.close()

    def follow(self, session: str, after: str | None = None) -> None:
        self.socket.send(json.dumps({"follow": session, "after": after}))

    def hear(self, seconds: float = PATIENCE) -> None:
        """Take a batch, as `events.js` reads it."""
        for one in json.loads(self.socket.recv(timeout=seconds)):
            self.told.append(one if isinstance(one, dict) else self._continued(*one))

    def _continued(self, later: int, text: str) -> Any:
        before = self.told[-1]
        at, _, rest = before["id"].partition("-")
        return {
            **before,
            "id": f"{int(at) + later}-{rest}",
            "data": {**before["data"], "text": text},
        }

    def hears(self, session: str, what: str) -> Any:
        """Wait until a session's event or state of this name comes; return it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for one in self.told:
                if one["session"] == session and what in (one.get("event"), one.get("state")):
                    return one
            self.hear(deadline - time.monotonic())


def said(told: list[Any], session: str) -> str:
    pieces = [one for one in told if one["session"] == session and one.get("event") == "text_delta"]
    return "".join(one["data"]["text"] for one in pieces)


@pytest.fixture(scope="module")
def desk(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with make_stack(servers, model, tmp_path_factory.mktemp("relay")) as running:
        yield running


@pytest.fixture(scope="module")
def url(desk: Stack) -> str:
    return desk.start_ui()


@pytest.fixture
def tab(url: str) -> Iterator[Tab]:
    with closing(Tab(url)) as opened:
        yield opened


def test_two_sessions_are_heard_over_one_connection_whole_and_in_few_batches(
    desk: Stack, model: ScriptedModel, tab: Tab
) -> None:
    model.steps = lambda messages, body: {"text": "".join(WORDS), "delay": 0.005}
    sessions = [make_session(desk), make_session(desk)]
    for session in sessions:
        tab.follow(session)
        tab.hears(session, "back")

    for session in sessions:
        desk.submit("Speak", session)
    for session in sessions:
        tab.hears(session, "turn_finished")

    for session in sessions:
        assert said(tab.told, session) == "".join(WORDS)
        rows = [
            one
            for one in tab.told
            if one["session"] == session and "message" in one.get("data", {})
        ]
        assert [
            one["data"]["message"]["content"] for one in rows if one["event"] == "message_added"
        ] == [row["content"] for row in desk.messages(session)]
    pieces = [one for one in tab.told if one.get("event") == "text_delta"]
    assert len(pieces) < len(WORDS), "pieces that come close are joined"
    assert set(pieces[0]["data"]) == {"context", "message_id", "text"}


def test_a_tab_that_connects_again_goes_on_after_the_last_piece(
    desk: Stack, model: ScriptedModel, url: str
) -> None:
    model.steps = lambda messages, body: {"text": "".join(WORDS), "delay": 0.005}
    session, whole, tabs = make_session(desk), "", 0
    after, ended = None, False
    desk.submit("Speak", session)

    while not ended:
        tabs += 1
        with closing(Tab(url)) as tab:
            tab.follow(session, after)
            while not (events := [one for one in tab.told if "event" in one]):
                tab.hear()
        whole += said(tab.told, session)
        after, ended = events[-1]["id"], events[-1]["event"] == "turn_finished"

    assert tabs > 3
    assert whole == "".join(WORDS)


def test_who_leaves_a_session_and_comes_back_hears_its_turn_from_the_beginning(
    desk: Stack, model: ScriptedModel, tab: Tab
) -> None:
    model.steps = lambda messages, body: {"text": "".join(WORDS), "delay": 0.01}
    session = make_session(desk)
    tab.follow(session)
    desk.submit("Speak", session)
    tab.hears(session, "text_delta")

    tab.socket.send(json.dumps({"leave": session}))
    tab.follow(session)
    tab.hears(session, "turn_finished")

    begun = [place for place, one in enumerate(tab.told) if one.get("state") == "back"]
    assert len(begun) == 2
    assert tab.told[begun[1]]["after"] is None
    assert said(tab.told[begun[1] :], session) == "".join(WORDS)


def test_an_outage_is_told_within_a_second_and_nothing_is_missing_after_it(
    servers: Servers, model: ScriptedModel, tmp_path: Any
) -> None:
    model.steps = lambda messages, body: {"text": "".join(WORDS), "delay": 0.01}
    with make_stack(servers, model, tmp_path) as stack, closing(Tab(stack.start_ui())) as tab:
        session = make_session(stack)
        tab.follow(session)
        stack.submit("Speak", session)
        tab.hears(session, "text_delta")

        stack.kill_api()
        killed = time.monotonic()
        tab.hears(session, "away")
        told_after = time.monotonic() - killed
        stack.start_api()
        tab.hears(session, "turn_finished")

    states = [one["state"] for one in tab.told if "state" in one]
    assert told_after < 1
    assert states == ["back", "away", "back"]
    assert said(tab.told, session) == "".join(WORDS)


def test_a_session_that_is_deleted_or_unknown_is_gone(desk: Stack, tab: Tab) -> None:
    session, unknown = make_session(desk), "00000000-0000-4000-8000-000000000000"
    tab.follow(session)
    tab.hears(session, "back")

    tab.follow(unknown)
    desk.client.delete(f"/sessions/{session}")

    tab.hears(unknown, "gone")
    tab.hears(session, "gone")

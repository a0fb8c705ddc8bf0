"""Streamlit's WebSocket, on which what a test holds up arrives late."""

import time
from collections.abc import Callable

from playwright.sync_api import WebSocketRoute
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.desk import Desk


class SlowWire:
    """The WebSocket of the pages that a desk of one's own opens from now on.

    Its messages pass only while the browser is asked anything, so no other test may share the desk.
    """

    def __init__(self, desk: Desk) -> None:
        self.asked = self.ended = 0  # requests of browsers, and whole runs
        self.parts_ended = 0
        self._desk = desk
        self._holds_answers = self._holds_parts = False
        self._last: bytes | None = None
        self._late: list[tuple[WebSocketRoute, str | bytes]] = []
        desk.context.route_web_socket("**/_stcore/stream", self._connect)

    def hold_answers(self) -> None:
        """Let the browser learn nothing."""
        self._holds_answers = True

    def hold_answers_after(self, text: str) -> None:
        """Let the browser learn nothing more once it has learned this."""
        self._last = text.encode()

    def hold_parts(self) -> None:
        """Let the pages' server learn nothing of what a part of a page asks for."""
        self._holds_parts = True

    @property
    def has_late(self) -> bool:
        """Whether anything is held up."""
        return bool(self._late)

    def release(self) -> None:
        """Let all arrive, in its order."""
        self._holds_answers = self._holds_parts = False
        late, self._late = self._late, []
        for side, message in late:
            side.send(message)

    def release_one_by_one(self) -> None:
        """Let all arrive in its order, each once the page has drawn what came before."""
        while self._late:
            side, message = self._late.pop(0)
            side.send(message)
            self._desk.page.wait_for_timeout(50)
        self._holds_answers = self._holds_parts = False

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Wait for what the pages do; messages pass only while the browser is asked anything."""
        deadline = time.monotonic() + PATIENCE_MS / 1_000
        while not is_so():
            assert time.monotonic() < deadline, "what was done does not arrive"
            self._desk.page.wait_for_timeout(50)

    def _connect(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(lambda message: self._ask(server, message))
        server.on_message(lambda message: self._answer(browser, message))

    def _ask(self, server: WebSocketRoute, message: str | bytes) -> None:
        self.asked += 1
        self._pass(server, message, self._holds_parts and _is_of_part(message))

    def _answer(self, browser: WebSocketRoute, message: str | bytes) -> None:
        self.ended += _is_end(message, ForwardMsg.FINISHED_SUCCESSFULLY)
        self.parts_ended += _is_end(message, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
        self._pass(browser, message, self._holds_answers)
        assert isinstance(message, bytes)
        if self._last and self._last in message:
            self._last, self._holds_answers = None, True

    def _pass(self, side: WebSocketRoute, message: str | bytes, is_held: bool) -> None:
        if is_held:
            self._late.append((side, message))
        else:
            side.send(message)


def _is_of_part(message: str | bytes) -> bool:
    assert isinstance(message, bytes)
    return bool(BackMsg.FromString(message).rerun_script.fragment_id)


def _is_end(message: str | bytes, kind: int) -> bool:
    assert isinstance(message, bytes)
    told = ForwardMsg.FromString(message)
    is_end = told.WhichOneof("type") == "script_finished"
    return is_end and told.script_finished == kind

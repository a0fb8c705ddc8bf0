"""A browser that hears late of where a click led does not lead the page back with what it asks."""

import re
from threading import Event

from playwright.sync_api import WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack


class SlowWire:
    """Streamlit's socket, whose way to the browser can be held up."""

    def __init__(self) -> None:
        self.is_held = Event()
        self.sent = 0
        self._late: list[tuple[WebSocketRoute, str | bytes]] = []

    def route(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(lambda message: self._ask(server, message))
        server.on_message(lambda message: self._tell(browser, message))

    def _ask(self, server: WebSocketRoute, message: str | bytes) -> None:
        self.sent += 1
        server.send(message)

    def _tell(self, browser: WebSocketRoute, message: str | bytes) -> None:
        if self.is_held.is_set():
            self._late.append((browser, message))
        else:
            browser.send(message)

    def let_go(self) -> None:
        self.is_held.clear()
        for browser, message in self._late:
            browser.send(message)


def test_a_look_of_the_page_before_it_knows_its_session_does_not_leave_it(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    session_id = stack.chat("First")["session_id"]
    wire = SlowWire()
    own_desk.context.route_web_socket(re.compile("_stcore/stream"), wire.route)
    own_desk.open()
    own_desk.is_at_rest()

    wire.is_held.set()
    own_desk.row(session_id).click()
    clicked = wire.sent
    stack.chat("Another")  # the list has changed, for which the page is drawn again
    while wire.sent < clicked + 3:  # the click, and looks that know nothing of it
        own_desk.page.wait_for_timeout(100)
    own_desk.page.wait_for_timeout(1_500)
    wire.let_go()

    own_desk.sees("An answer.")
    own_desk.is_at_rest()
    expect(own_desk.page).to_have_url(re.compile(session_id))
    own_desk.sees("First")


class LatePart:
    """Streamlit's socket, on which what a part of the page asks for arrives only when let go."""

    def __init__(self) -> None:
        self._late: list[tuple[WebSocketRoute, bytes]] = []

    def route(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(lambda message: self._ask(server, message))

    @property
    def is_held(self) -> bool:
        return bool(self._late)

    def _ask(self, server: WebSocketRoute, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        if BackMsg.FromString(message).rerun_script.fragment_id:
            self._late.append((server, message))
        else:
            server.send(message)

    def let_go(self) -> None:
        for server, message in self._late:
            server.send(message)


def test_what_a_part_of_the_page_before_asks_late_leaves_the_next_page_whole(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    session_id = stack.chat("First")["session_id"]
    wire = LatePart()
    own_desk.context.route_web_socket(re.compile("_stcore/stream"), wire.route)
    own_desk.open(f"?session={session_id}")
    own_desk.sees("An answer.")
    own_desk.is_at_rest()

    own_desk.sends_by_itself()
    own_desk.ask("Second")  # for which the latest turn is drawn again
    while not wire.is_held:
        own_desk.page.wait_for_timeout(100)
    own_desk.new_chat()
    own_desk.is_at_rest()
    wire.let_go()

    own_desk.ask("Third")
    own_desk.sees("Third", "An answer.")
    assert own_desk.session_id != session_id

"""A receiver of webhooks: a real HTTP server that takes events, well or badly."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from backend.types import JSON


@dataclass(frozen=True)
class Received:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> JSON:
        found: JSON = json.loads(self.body)
        return found

    @property
    def says(self) -> str:
        """The event's type, of a message with its text."""
        event = self.event
        text = event["data"].get("message", {}).get("content", {}).get("text")
        return f"{event['type']}: {text}" if text else event["type"]


class Receiver:
    """Answers 200, unless `answer` says otherwise: a status, or "close", "hang", "drip", "flood".

    It is given each request. "hang" lasts until `released`; a dict gives `status` and `headers`.
    """

    def __init__(self) -> None:
        self.got: list[Received] = []
        self.answer: Callable[[Received], Any] = lambda _: 200
        self.released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                one = Received(self.path, headers, body)
                receiver.got.append(one)
                receiver._reply(self, receiver.answer(one))

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> "Receiver":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def says(self, path: str = "/") -> list[str]:
        """What came at a path, in order."""
        return [one.says for one in self.got if one.path == path]

    def _reply(self, handler: BaseHTTPRequestHandler, answer: Any) -> None:
        if answer == "close":
            handler.close_connection = True
            return
        if answer == "hang":
            self.released.wait(60)
            handler.close_connection = True
            return
        given = answer if isinstance(answer, dict) else {"status": answer}
        if answer in ("drip", "flood"):
            given = {"status": 200}
        handler.send_response(given["status"])
        for name, value in given.get("headers", {}).items():
            handler.send_header(name, value)
        if answer in ("drip", "flood"):
            self._go_on(handler, b"." if answer == "drip" else b"x" * 65_536)
            return
        body = given.get("body", b"noted")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _go_on(self, handler: BaseHTTPRequestHandler, piece: bytes) -> None:
        """Send pieces without an end, each soon after the one before."""
        handler.end_headers()
        handler.close_connection = True
        try:
            while not self.released.wait(0.02):
                handler.wfile.write(piece)
        except OSError:
            return

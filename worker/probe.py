"""The probes of a worker and its figures: `/healthz`, `/readyz`, `/metrics` on their own port.

Threads answer that need neither the agents' loop nor a server: what they say was found out before.
"""

import json
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from backend.errors.base import ConfigurationError
from backend.telemetry.figures import WORK, describe_process

OK = "ok"
CLIENT_SECONDS = 5.0  # to send a request
log = logging.getLogger("worker")
States = Mapping[str, str]


class Probe:
    """Listens from its creation and answers from `start` on, until the process ends.

    `states`: what the worker needs to take turns, each ok or the problem. Raise ConfigurationError
    if the port is taken.
    """

    def __init__(self, host: str, port: int, states: Callable[[], States]) -> None:
        try:
            self._server = _Server((host, port), states)
        except OSError as error:
            raise ConfigurationError(
                f"PROBE_PORT: the worker cannot listen on {host}, port {port}: {error.strerror}."
                " Each worker needs a port of its own."
            ) from None

    def start(self) -> None:
        """Answer from now on."""
        describe_process(WORK.registry)
        threading.Thread(target=self._server.serve_forever, name="probe", daemon=True).start()


class _Server(ThreadingHTTPServer):
    def __init__(self, place: tuple[str, int], states: Callable[[], States]) -> None:
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        self.states = states
        super().__init__(place, _Handler)

    def server_bind(self) -> None:
        """Bind without asking for the host's name, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = CLIENT_SECONDS

    def do_GET(self) -> None:
        """Answer 200 or, while the worker takes no turns, 503 on `/readyz`."""
        path = self.path.partition("?")[0]
        if path == "/healthz":
            self._send(HTTPStatus.OK, {"status": "alive"})
        elif path == "/readyz":
            states = self.server.states()
            is_ready = all(state == OK for state in states.values())
            self._send(HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE, states)
        elif path == "/metrics":
            self._send_content(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(WORK.registry))
        else:
            others = {"detail": "Here are /healthz, /readyz and /metrics only."}
            self._send(HTTPStatus.NOT_FOUND, others)

    do_HEAD = do_GET

    def version_string(self) -> str:
        """Say nothing of the versions of Python and its libraries."""
        return "colloquy"

    def log_message(self, format: str, *arguments: object) -> None:
        """Leave requests out of the log."""
        log.debug(format, *arguments)

    def _send(self, status: HTTPStatus, body: States) -> None:
        self._send_content(status, "application/json", json.dumps(body).encode())

    def _send_content(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

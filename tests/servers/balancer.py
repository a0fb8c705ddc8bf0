"""A load balancer that sends each request of a browser to the next server, whoever asks."""

import re
import socket
import threading
from contextlib import suppress
from itertools import count
from typing import Self

HEAD_END = b"\r\n\r\n"
UPGRADE = re.compile(rb"^upgrade: websocket\r?$", re.IGNORECASE | re.MULTILINE)
CONNECTION = re.compile(rb"^connection:.*\r\n", re.IGNORECASE | re.MULTILINE)


class Balancer:
    """Listens on loopback; `served` has the path of each request, and the port it was sent to.

    A connection has one request, so that the next one goes elsewhere. What refuses connections is
    passed over.
    """

    def __init__(self) -> None:
        self.ports: list[int] = []
        self.served: list[tuple[str, int]] = []
        self._turns = count()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                browser, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(browser,), daemon=True).start()

    def _serve(self, browser: socket.socket) -> None:
        with suppress(OSError), browser:
            head, rest = _read_head(browser)
            if not UPGRADE.search(head):
                head = CONNECTION.sub(b"", head)
                head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
            with self._connect(head.split(b" ", 2)[1].decode()) as server:
                server.sendall(head + b"\r\n" + rest)
                threading.Thread(target=_pass_on, args=(browser, server), daemon=True).start()
                _pass_on(server, browser)

    def _connect(self, path: str) -> socket.socket:
        for _ in self.ports:
            port = self.ports[next(self._turns) % len(self.ports)]
            with suppress(ConnectionRefusedError):
                server = socket.create_connection(("127.0.0.1", port))
                self.served.append((path, port))
                return server
        raise OSError("no server answers")


def _read_head(browser: socket.socket) -> tuple[bytes, bytes]:
    read = b""
    while HEAD_END not in read:
        more = browser.recv(65_536)
        if not more:
            raise OSError("the browser has left")
        read += more
    head, _, rest = read.partition(HEAD_END)
    return head + b"\r\n", rest


def _pass_on(from_: socket.socket, to: socket.socket) -> None:
    """Pass on all that comes, then its end."""
    with suppress(OSError):
        while piece := from_.recv(65_536):
            to.sendall(piece)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)

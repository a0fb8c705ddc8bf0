"""A connection pooler as PgBouncer is: it refuses startup options, and may share connections."""

import socket
import struct
import threading
from contextlib import suppress
from typing import Self

TLS_REQUEST = 80877103
REFUSAL = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
READY, IDLE, TERMINATE = b"Z", b"I", b"X"
ASKS = (b"R\0\0\0\x0a", b"R\0\0\0\x0b")  # SASL: which way to log in, and the next step


class Pooler:
    """Listens on loopback in front of a server.

    `shares`: each transaction gets the connection that was released last (transaction pooling);
    otherwise a client keeps its own (session pooling). Clients log in to the server themselves.
    """

    def __init__(self, server: tuple[str, int], *, shares: bool) -> None:
        self._server, self._shares = server, shares
        self._free: list[socket.socket] = []
        self._all: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for one in (self._listener, *self._all):
            one.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._all.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            startup = _read_startup(client)
            if b"\0options\0" in startup:
                client.sendall(b"E" + struct.pack("!i", len(REFUSAL) + 4) + REFUSAL)
                return
            server = socket.create_connection(self._server)
            self._all.append(server)
            server.sendall(startup)
            self._relay_until_idle(server, client)
            while (message := _read(client))[:1] != TERMINATE:
                if self._shares:
                    server = self._free.pop()
                server.sendall(message)
                self._relay_until_idle(server, client)

    def _relay_until_idle(self, server: socket.socket, client: socket.socket) -> None:
        """Pass on all of a login or a transaction; release the server before the client knows."""
        while True:
            message = _read(server)
            is_idle = message[:1] == READY and message[5:6] == IDLE
            if is_idle and self._shares:
                self._free.append(server)
            client.sendall(message)
            if is_idle:
                return
            if message[:1] == READY or message[:1] + message[5:9] in ASKS:
                server.sendall(_read(client))


def _read_startup(client: socket.socket) -> bytes:
    while True:
        head = _exactly(client, 8)
        length, code = struct.unpack("!ii", head)
        if code != TLS_REQUEST:
            return head + _exactly(client, length - 8)
        client.sendall(b"N")


def _read(peer: socket.socket) -> bytes:
    head = _exactly(peer, 5)
    return head + _exactly(peer, struct.unpack("!i", head[1:])[0] - 4)


def _exactly(peer: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = peer.recv(count - len(found))
        if not more:
            raise OSError("the peer has left")
        found += more
    return found

"""The wire between two parts: it passes, blocks, delays and cuts as it is told."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.chaos.staging.proxy import Proxies, Proxy, Wire


@pytest.fixture
def echo_port() -> Iterator[int]:
    server = socket.create_server(("127.0.0.1", 0))

    def echo(connection: socket.socket) -> None:
        with connection, suppress(ConnectionResetError):
            while data := connection.recv(100):
                connection.sendall(data)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()


@pytest.fixture
def proxy(echo_port: int) -> Iterator[Proxy]:
    with Proxies() as proxies:
        yield proxies.open("127.0.0.1", echo_port)


@pytest.fixture
def wire(proxy: Proxy) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=2) as connection:
        yield connection


def ask(connection: socket.socket, word: bytes) -> bytes:
    connection.sendall(word)
    return connection.recv(100)


def test_bytes_pass(wire: socket.socket) -> None:
    assert ask(wire, b"hello") == b"hello"


def test_blackhole_swallows_until_it_is_healed(proxy: Proxy, wire: socket.socket) -> None:
    assert ask(wire, b"one") == b"one"
    proxy.set_wire(Wire.BLACKHOLE)
    wire.settimeout(0.3)
    with pytest.raises(TimeoutError):
        ask(wire, b"two")

    proxy.set_wire(Wire.PASS)

    wire.settimeout(2)
    assert wire.recv(100) == b"two"


def test_latency_delays(proxy: Proxy, wire: socket.socket) -> None:
    proxy.set_wire(Wire.LATENCY, 0.1)
    begun = time.monotonic()

    assert ask(wire, b"late") == b"late"
    assert time.monotonic() - begun >= 0.2


def test_reset_cuts_open_and_refuses_new_connections(proxy: Proxy, wire: socket.socket) -> None:
    assert ask(wire, b"one") == b"one"

    proxy.set_wire(Wire.RESET)

    with pytest.raises(ConnectionError):
        for _ in range(20):
            if not ask(wire, b"x"):
                raise ConnectionResetError
            time.sleep(0.01)
    proxy.set_wire(Wire.PASS)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=2) as again:
        assert ask(again, b"again") == b"again"


def test_a_server_that_is_down_looks_like_one(proxy: Proxy, unused_port: int) -> None:
    with Proxies() as proxies:
        to_nobody = proxies.open("127.0.0.1", unused_port)
        address = ("127.0.0.1", to_nobody.port)
        with (
            pytest.raises(ConnectionError),
            socket.create_connection(address, timeout=2) as connection,
        ):
            if not ask(connection, b"x"):
                raise ConnectionResetError


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]

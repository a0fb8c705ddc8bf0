"""The messages between parent, supervisor and child, over Unix sockets."""

import socket
import struct
from dataclasses import dataclass
from enum import StrEnum

_LENGTH = struct.Struct("!Q")
_BOUNDS = struct.Struct("!dQ")
_PART = 1 << 20


@dataclass(frozen=True)
class Bounds:
    """The limits of a piece of work: seconds of wall time, megabytes of additional memory."""

    seconds: float
    megabytes: int

    def pack(self) -> bytes:
        """Return the bounds in the form the supervisor reads."""
        return _BOUNDS.pack(self.seconds, self.megabytes)

    @classmethod
    def unpack(cls, text: bytes) -> "Bounds":
        """Return the bounds that `pack` has packed."""
        return cls(*_BOUNDS.unpack(text))


class End(StrEnum):
    """Why a child has ended, as the supervisor reports it."""

    LEFT = "left"  # by itself: with a result, or by a crash
    STOPPED = "stopped"
    TIME = "time"
    MEMORY = "memory"


class TooLong(Exception):
    """The message is longer than the reader accepts."""


def send(connection: socket.socket, message: bytes) -> None:
    """Send one message, preceded by its length."""
    connection.sendall(_LENGTH.pack(len(message)))
    connection.sendall(message)


def receive(connection: socket.socket, longest: int) -> bytes:
    """Return one message. Raise EOFError, or TooLong before reading an oversized message."""
    (length,) = _LENGTH.unpack(_read(connection, _LENGTH.size))
    if length > longest:
        raise TooLong
    return _read(connection, length)


def _read(connection: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(_PART, length - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)

"""Counting the parts of a JSON text before it is parsed: each value can take just a few letters.

Parsing millions of them takes seconds and gigabytes, while other requests wait.
"""

MAX_PARTS = 200_000

_WINDOW = 1 << 16


class Parts:
    """Counts the parts of one JSON text that arrives in chunks."""

    def __init__(self) -> None:
        self.count = 0
        self._is_inside = False  # a string
        self._rest = b""

    @property
    def are_too_many(self) -> bool:
        """Return whether parsing the text would delay others for too long."""
        return self.count > MAX_PARTS

    def add(self, chunk: bytes) -> "Parts":
        """Add the next chunk, ignoring the content of strings. Linear."""
        for start in range(0, len(chunk), _WINDOW):
            self._add(self._rest + chunk[start : start + _WINDOW])
        return self

    def _add(self, chunk: bytes) -> None:
        # A trailing backslash waits for the character that follows it.
        is_open = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 == 1
        self._rest = b"\\" if is_open else b""
        whole = chunk[:-1] if is_open else chunk
        pieces = whole.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(pieces[self._is_inside :: 2])
        self._is_inside ^= len(pieces) % 2 == 0
        self.count += sum(map(outside.count, (b"[", b"{", b",")))


def has_too_many_parts(text: str) -> bool:
    """Return whether a complete JSON text is too expensive to parse."""
    if len(text) <= MAX_PARTS:
        return False
    return Parts().add(text.encode("utf-8", "surrogatepass")).are_too_many

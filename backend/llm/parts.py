"""Counts of how many parts a JSON text is made before it is read: a few letters each make a value.

To read millions of them takes seconds and gigabytes, while everybody else waits.
"""

MAX_PARTS = 200_000

_WINDOW = 1 << 16


class Parts:
    """Counts the parts of one JSON text, which comes in chunks."""

    def __init__(self) -> None:
        self.count = 0
        self._is_inside = False  # of a text
        self._rest = b""

    @property
    def are_too_many(self) -> bool:
        """Whether reading the text would take too long for those who wait meanwhile."""
        return self.count > MAX_PARTS

    def add(self, chunk: bytes) -> "Parts":
        """Take the next chunk; what stands within texts is no part. Linear."""
        for start in range(0, len(chunk), _WINDOW):
            self._add(self._rest + chunk[start : start + _WINDOW])
        return self

    def _add(self, chunk: bytes) -> None:
        # A backslash whose letter is still to come waits for it.
        is_open = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 == 1
        self._rest = b"\\" if is_open else b""
        whole = chunk[:-1] if is_open else chunk
        pieces = whole.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(pieces[self._is_inside :: 2])
        self._is_inside ^= len(pieces) % 2 == 0
        self.count += sum(map(outside.count, (b"[", b"{", b",")))


def has_too_many_parts(text: str) -> bool:
    """Return whether a whole JSON text is better not read."""
    if len(text) <= MAX_PARTS:
        return False
    return Parts().add(text.encode("utf-8", "surrogatepass")).are_too_many

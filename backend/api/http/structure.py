"""Counts the values and depth of JSON piece by piece as it arrives, before it is parsed."""

MAX_DEPTH = 100
_BRACKETS = b"[]{}"
_NO_BRACKET = bytes(set(range(256)) - set(_BRACKETS))
_OPENING = frozenset(b"[{")


class Structure:
    """Counts the values of a JSON text and their depth, in time linear in its length.

    No library does this: JSON parsers build objects first, and strict ones refuse unpaired
    surrogates, which are accepted here.
    """

    def __init__(self, values: int) -> None:
        self._most = values
        self._values = 0
        self._texts = 0.0
        self._depth = 0
        self._in_text = False
        self._is_escaped = False  # the last piece ended with a backslash that escapes the next

    def read(self, piece: bytes) -> None:
        """Read the next piece. Raise ValueError with a sentence if the text exceeds a bound."""
        if b"\x00" in piece:
            raise ValueError("The body is not JSON in UTF-8.")
        outside = self._without_texts(piece)
        self._values += sum(outside.count(mark) for mark in (b",", b"[", b"{", b":"))
        if self._values > self._most or self._texts > self._most + 1:
            raise ValueError(f"The body has more than {self._most:,} values. Send less at once.")
        for bracket in outside.translate(None, _NO_BRACKET):
            self._depth += 1 if bracket in _OPENING else -1
            if self._depth > MAX_DEPTH:
                raise ValueError(f"The body is nested deeper than {MAX_DEPTH} levels.")

    def _without_texts(self, piece: bytes) -> bytes:
        if self._is_escaped and piece:
            piece = b"." + piece[1:]
        piece = piece.replace(rb"\\", b"..").replace(rb"\"", b"..")
        self._is_escaped = piece.endswith(b"\\") or (self._is_escaped and not piece)
        parts = piece.split(b'"')
        self._texts += (len(parts) - 1) / 2
        outside = b" ".join(parts[1::2] if self._in_text else parts[::2])
        self._in_text ^= len(parts) % 2 == 0
        return outside

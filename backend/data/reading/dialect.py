"""How a text table separates and quotes its cells."""

from dataclasses import dataclass

SEPARATORS = (",", ";", "\t", "|", "\x01", "^", "~", "¦", " ", ":")
BACKSLASH = "\\"
NO_QUOTE = "\0"  # quotes mean nothing: no line contains this
_NAMES = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "bars",
    " ": "spaces",
    ":": "colons",
}


@dataclass(frozen=True)
class Dialect:
    """How to split a line into cells; without a separator it is one cell.

    A quote within quotes is doubled; with an escape, it may follow that instead.
    """

    separator: str = ""
    quote: str = '"'
    escape: str = ""
    skips_space: bool = False

    @property
    def name(self) -> str:
        """The separator's name for people."""
        return _NAMES.get(self.separator, repr(self.separator))

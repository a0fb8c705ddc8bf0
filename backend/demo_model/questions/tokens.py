"""Splits a question into words, numbers and signs; only blanks and some marks are dropped. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_TOKEN = re.compile(
    r"(?P<centre>\bcc[\s_-]{0,3}[0-9]{3,6}\b)"
    r"|(?P<date>\b[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\b|\b[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}\b)"
    r"|(?P<month>\b20[0-9]{2}[-/](?:1[0-2]|0?[1-9])\b(?![-/])|\b(?:1[0-2]|0?[1-9])/20[0-9]{2}\b)"
    r"|(?P<number>[0-9]{1,3}(?:[.,'\u2019][0-9]{3})+(?:[.,][0-9]{1,2})?(?![0-9])"
    r"|[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+(?:[.,][0-9]{1,2}(?![0-9]))?)"
    r"|(?P<word>[^\W\d_]+(?:['\u2019][^\W\d_]+)*)"
    r"|(?P<sign>!=|<>|>=|<=|[<>≤≥≠=%€$£&+,;.?!/\u2013\u2014-])"
    r"|(?P<other>\w+)",
    re.IGNORECASE,
)
_SPELLINGS = {
    "center": "centre", "centers": "centres", "license": "licence", "licenses": "licences",
    "costcentre": "cost centre", "costcentres": "cost centres",
}  # fmt: skip
_SIGNS = {"&": "and", "+": "and", "/": "and", "≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=",
          "\u2013": "-", "\u2014": "-", ";": ",", "?": ".", "!": "."}  # fmt: skip
_NO_NOT = {"can't": "can", "won't": "will"}


@dataclass(frozen=True)
class Token:
    """A piece of a question: as written, its kind, and in plain lower case."""

    written: str
    kind: str
    plain: str

    @property
    def is_shouted(self) -> bool:
        """Whether it is in capitals, like an abbreviation."""
        return len(self.written) > 1 and self.written.isupper()


def read_tokens(text: str) -> list[Token]:
    """Return the tokens of a text in order; `n't` becomes `not`, a genitive's `'s` is dropped."""
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        kind, written = found.lastgroup or "other", found[0]
        if kind == "word":
            tokens += _words(written)
        elif kind == "centre":
            digits = "".join(character for character in written if character.isdigit())
            tokens.append(Token(written, kind, f"CC-{digits}"))
        else:
            tokens.append(Token(written, kind, _SIGNS.get(written, written)))
    return tokens


def amount(written: str) -> tuple[Decimal, str]:
    """Return a number, and what was assumed about its separators, if anything."""
    plain = written.replace("'", "").replace("\u2019", "").replace(" ", "")
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return Decimal(plain), ""
    whole, mark, decimals = plain[:last], plain[last], plain[last + 1 :]
    if len(decimals) == 3:
        value = Decimal(plain.replace(".", "").replace(",", ""))
        return value, f"I read “{written}” as {value:,}." if mark == "." else ""
    value = Decimal(f"{whole.replace('.', '').replace(',', '')}.{decimals}")
    return value, f"I read “{written}” as {value:,}." if mark == "," else ""


def written_out(tokens: Sequence[Token]) -> str:
    """Return adjacent tokens as they were written."""
    return " ".join(token.written for token in tokens)


def _words(written: str) -> list[Token]:
    plain = written.lower().replace("\u2019", "'")
    if plain.endswith("n't"):
        return [Token(written, "word", _NO_NOT.get(plain, plain[:-3])), Token("n't", "word", "not")]
    plain = plain.split("'")[0] if plain.endswith(("'s", "'re", "'ve", "'d", "'ll")) else plain
    return [Token(written, "word", part) for part in _SPELLINGS.get(plain, plain).split()]

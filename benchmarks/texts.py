"""The texts of the measured conversations, the same for Colloquy and its peers.

The words have their natural frequencies in the documentation included in every CPython. Drawn one
by one they compress slightly worse than English prose, so that no design has an advantage.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pydoc_data import topics

MESSAGES_PER_TURN = 4  # question, call, result, answer
TOOL = "query_data"


@dataclass(frozen=True)
class TurnText:
    """One turn: a question, a remark with a query to a tool, its result, the answer."""

    question: str
    remark: str
    query: str
    result: str
    answer: str

    @property
    def parts(self) -> tuple[str, ...]:
        """All texts of the turn, in order."""
        return (self.question, self.remark, self.query, self.result, self.answer)

    @property
    def size(self) -> int:
        """Bytes of text; the words are ASCII."""
        return sum(len(part) for part in self.parts)


def turn_texts(count: int, seed: int = 1) -> Iterator[TurnText]:
    """Yield the first `count` turns of the conversation with this seed, about 2.8 KB each."""
    chance = random.Random(seed)
    for _ in range(count):
        yield TurnText(*(_text(chance, size) for size in (200, 100, 150, 1500, 800)))


def digest(parts: Iterable[str]) -> str:
    """Return a digest by which two views can be compared: the same texts in the same order."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode() + b"\0")
    return sha.hexdigest()


def _text(chance: random.Random, size: int) -> str:
    return " ".join(chance.choices(_words(), k=size // 2))[:size].strip()


@cache
def _words() -> list[str]:
    return re.findall(r"[A-Za-z]{1,14}[,.;]?", "\n".join(topics.topics.values()))

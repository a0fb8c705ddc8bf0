"""A text as searches compare it, with the places of its signs in what was written. Pure.

Compatibility forms are the signs that they stand for (`ﬁ` is fi, `Ａ` is A), and letters have no
accents and no case. The index folds by the same rule in SQL: `fold_text` of the schema.
"""  # noqa: RUF002  (a fullwidth letter is the example)

import re
from dataclasses import dataclass
from unicodedata import normalize

_ACCENTS = re.compile("[\u0300-\u036f]+")
# What is folded together: a letter with its accents or voice marks, and a Korean syllable.
_CLUSTER = re.compile("[\u1100-\u11ff]+|.[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*", re.DOTALL)
_SIGNS_OF_TRADE = str.maketrans("\u2122\u2120", "  ")  # not letters: they end a word


@dataclass(frozen=True)
class Folded:
    """A folded text; the sign at each of its places was written between `starts` and `ends`."""

    text: str
    starts: list[int]
    ends: list[int]


def fold(text: str) -> Folded:
    """Return the text as searches compare it."""
    signs: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        folded = _fold(cluster[0])
        signs.append(folded)
        starts += [cluster.start()] * len(folded)
        ends += [cluster.end()] * len(folded)
    return Folded("".join(signs), starts, ends)


def _fold(cluster: str) -> str:
    if cluster.isascii():
        return cluster.lower()
    bare = _ACCENTS.sub("", normalize("NFKD", cluster.translate(_SIGNS_OF_TRADE)))
    return normalize("NFC", bare.lower().replace("\u00df", "ss"))

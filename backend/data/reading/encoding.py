"""Detects the encoding of a text file.

A byte order mark decides first; then zero bytes, as in UTF-16 and UTF-32; then whether everything
is UTF-8. Only what is none of these is guessed, and reported as a guess.
"""

import codecs
import gzip
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, cast

import charset_normalizer

from backend.data.errors import SourceUnusable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_NAMES = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251"}
_WESTERN, _CENTRAL = "cp1252", "cp1250"
_GUESSED = [_WESTERN, _CENTRAL, "cp1251", "cp1253", "cp932", "gb18030", "big5", "cp949"]
# The letters beyond ASCII of the languages that are written in each of the two Latin code pages.
_ALPHABETS = {
    _WESTERN: (
        "äöüßé",
        "àâçéèêëîïôœùûüÿ",
        "áéíñóúüªº",
        "àáâãçéêíóôõúüªº",
        "àèéìíîòóùú",
        "åäöéü",
        "æøåéäöü",
        "áæðéíóöþúý",
        "áéëèïíóöüú",
    ),
    _CENTRAL: (
        "ąćęłńóśźż",
        "áčďéěíňóřšťúůýžöü",
        "áäčďéíĺľňóôŕšťúýž",
        "áéíóöőúüű",
        "ăâîşţ",
        "čćđšž",
    ),
}
_LETTER = rb"[\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xc0-\xff]"
_WORD = re.compile(rb"(?:[A-Za-z]|" + _LETTER + rb")+")
_PUNCTUATION = b"\x82\x84\x85\x91\x92\x93\x94\x95\x96\x97\xa0\xad\xb4"
_SIGNS = "€£§©®°±²³µ·«»¡¿ªº¹¼½¾".encode(_WESTERN) + _PUNCTUATION
_UNSEEN = bytes(set(range(32)) - set(b"\t\n\f\r\x01\x1c\x1d\x1e\x1f"))
_OVERLAP = 5  # bytes: what is counted in blocks may begin in the one before
_BLOCK = 1 << 20
_LOOKED_AT = 1 << 16
_FEW_BYTES = 0.001  # below this share, invalid bytes are errors in a UTF-8 file
_FALLBACK = "cp1252-where-not-utf-8"


@dataclass(frozen=True)
class Encoding:
    """A codec, its name for people, and notes about the choice."""

    codec: str
    name: str
    warning: str = ""
    errors: str = "strict"


def detect_encoding(path: Path) -> Encoding:
    """Return the encoding of the whole file. Raise SourceUnusable if it is not text."""
    with open_bytes(path) as file:
        head = file.read(_LOOKED_AT)
    for mark, codec, name in _MARKS:
        if head.startswith(mark):
            return Encoding(codec, name, errors="replace")
    found = _by_zeros(head)
    if not found and _is_binary(head):
        raise SourceUnusable("The file holds binary data, not text.")
    return found or _by_validity(path)


class Lines(NamedTuple):
    """How many lines a text has, and how many of them end in an empty cell."""

    number: int
    empty_ends: int


def count_lines(path: Path, first: int, separator: str, quote: str) -> Lines | None:
    """Count the lines from `first` on; None if they are not regular.

    Their ends are mixed then, or there are zero bytes, or quotes that do not stand around a cell.
    """
    counts: Counter[bytes] = Counter()
    mark, edge = quote.encode(), separator.encode()
    empty_ends = [edge + cell + end for cell in (b"", mark * 2) for end in (b"\n", b"\r\n")]
    counted = [b"\n", b"\r", b"\r\n", b"\0", *empty_ends]
    opening, closing = [edge + mark, b"\n" + mark], [mark + edge, mark + b"\n", mark + b"\r"]
    other = f"[^{re.escape(separator + quote)}\\r\\n]"
    within = re.compile(f"{re.escape(quote)}(?={other})(?<={other}{re.escape(quote)})".encode())
    last = b"\n"
    for block in _blocks_from(path, first):
        text = last + block
        if within.search(text):
            return None
        for what in (*counted, *opening, *closing):
            counts[what] += text.count(what) - last.count(what)
        last = text[-_OVERLAP:]
    both = counts[b"\r\n"]
    if counts[b"\0"] or counts[b"\r"] != both or both not in (0, counts[b"\n"]):
        return None
    if sum(counts[one] for one in opening) != sum(counts[one] for one in closing):
        return None
    return Lines(counts[b"\n"], sum(counts[end] for end in empty_ends))


def _blocks_from(path: Path, first: int) -> Iterator[bytes]:
    """Yield the text from this line on, with an end of its last line."""
    with open_bytes(path) as file:
        for _ in range(first - 1):
            file.readline()
        block = b"\n"
        while following := file.read(_BLOCK):
            block = following
            yield block
        if not block.endswith(b"\n"):
            yield b"\r\n" if b"\r\n" in block else b"\n"


def open_text(path: Path, encoding: Encoding) -> TextIO:
    """Open the file for reading, with line ends unchanged."""
    file = open_bytes(path)
    return TextIOWrapper(file, encoding.codec, encoding.errors, newline="")


def open_bytes(path: Path) -> BinaryIO:
    """Open the file for reading, decompressed."""
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path))
    return open(path, "rb")


@contextmanager
def as_utf_8(path: Path) -> Iterator[Path]:
    """Yield the file in UTF-8 without a byte order mark. Raise SourceUnusable if it is not text.

    If it is not so already, it is a new file, because the one given may be the stored upload. Raise
    UnicodeDecodeError if it does not hold what its mark or its zeros promise.
    """
    with path.open("rb") as file:
        head = file.read(_LOOKED_AT)
    if not head.startswith(tuple(mark for mark, *_ in _MARKS)) and b"\0" not in head:
        yield path
        return
    plain = path.with_name(f"{path.name}.plain")
    try:
        encoding = replace(detect_encoding(path), errors="strict")
        with open_text(path, encoding) as text, plain.open("w", encoding="utf-8") as target:
            shutil.copyfileobj(text, target, _BLOCK)
        yield plain
    finally:
        plain.unlink(missing_ok=True)


def _by_zeros(head: bytes) -> Encoding | None:
    """Detect UTF-16 and UTF-32 without a mark: most characters of tables are ASCII."""
    if b"\0" not in head:
        return None
    size = len(head) - len(head) % 4
    zeros = [head[place:size:4].count(0) / max(1, size // 4) for place in range(4)]
    patterns = {"utf-32-le": "0111", "utf-32-be": "1110", "utf-16-le": "0101", "utf-16-be": "1010"}
    for codec, pattern in patterns.items():
        if all(share > 0.6 if bit == "1" else share < 0.4 for bit, share in zip(pattern, zeros)):  # noqa: B905 - both have four
            name = codec[:6].upper()
            return Encoding(codec, name, f"It has no byte order mark; read as {name}.", "replace")
    return None


def _is_binary(head: bytes) -> bool:
    """Return whether there are more invisible characters than a text would have by mistake."""
    unseen = len(head) - len(head.translate(None, _UNSEEN))
    return unseen > max(3, len(head) // 50)


def _by_validity(path: Path) -> Encoding:
    wrong, foreign, sample = _invalid_bytes(path)
    if not wrong:
        return Encoding("utf-8", "UTF-8")
    if wrong <= max(3, _FEW_BYTES * foreign) and wrong * 10 <= foreign:
        text = f"{wrong:,} bytes are not UTF-8 and were read as Windows-1252."
        return Encoding("utf-8", "UTF-8", text, _FALLBACK)
    return _guess(sample)


def _invalid_bytes(path: Path) -> tuple[int, int, bytes]:
    """Count invalid UTF-8 bytes, and all beyond ASCII; return some lines that contain them."""
    wrong = foreign = 0
    sample = b""
    for block in _blocks(path):
        if block.isascii():
            continue
        foreign += len(block) - len(block.decode("ascii", "ignore"))
        try:
            block.decode()
        except UnicodeDecodeError:
            text = block.decode("utf-8", "surrogateescape").encode("utf-32-le", "surrogatepass")
            wrong += len(text) // 4 - len(block.decode("utf-8", "ignore"))
            if len(sample) < _LOOKED_AT:
                sample += b"".join(
                    line for line in block[: _LOOKED_AT * 8].splitlines(True) if not line.isascii()
                )
    return wrong, foreign, sample[:_LOOKED_AT]


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield pieces that end at a line's end, or at least a character's."""
    with open_bytes(path) as file:
        rest = b""
        while block := file.read(_BLOCK):
            block = rest + block
            cut = block.rfind(b"\n") + 1 or len(block)
            rest = block[cut:]
            yield block[:cut]
        yield rest


def _guess(sample: bytes) -> Encoding:
    """Return a legacy encoding; Windows-1252 unless another is clearly better."""
    codec = _latin_page(sample)
    if not _is_latin(sample):
        found = charset_normalizer.from_bytes(sample, cp_isolation=_GUESSED, threshold=0.15).best()
        if found and found.encoding not in _ALPHABETS:
            codec = found.encoding
    name = _NAMES.get(codec, codec)
    text = f"It is not UTF-8; read as {name}, which is a guess: look at the special characters."
    return Encoding(codec, name, text, "replace")


def _is_latin(sample: bytes) -> bool:
    """Return whether most bytes beyond ASCII stand in words with ASCII letters, or are signs.

    The words of other scripts have no ASCII letters.
    """
    words = [word for word in _WORD.findall(sample) if not word.isascii()]
    within = sum(re.search(rb"[A-Za-z]", word) is not None for word in words)
    foreign = sum(len(word) > 1 for word in words) - within
    rest = _WORD.sub(b"", sample).translate(None, _SIGNS)
    foreign += len(rest) - len(rest.decode("ascii", "ignore"))
    return within > foreign or not foreign


def _latin_page(sample: bytes) -> str:
    """Return the Latin code page in which one language explains most letters, or Windows-1252."""

    def explained(codec: str) -> int:
        letters = b"".join(re.findall(rb"[\x80-\xff](?=[A-Za-z])|" + _LETTER, sample))
        text = letters.decode(codec, "replace").lower()
        return max(sum(map(text.count, alphabet)) for alphabet in _ALPHABETS[codec])

    return max(_ALPHABETS, key=explained)


def _read_as_western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return wrong.decode("cp1252", "replace"), error.end


codecs.register_error(_FALLBACK, _read_as_western)

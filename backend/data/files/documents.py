"""Reads documents: their text by page, as a table `pages` with the columns page and text."""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import IncrementalNewlineDecoder
from pathlib import Path
from typing import TextIO

import duckdb
import pyarrow as pa
import pypdf
from pypdf.errors import PyPdfError

from backend.data.corrections import NONE, Corrections
from backend.data.errors import SourceUnusable
from backend.data.reading.delimited import choose_encoding
from backend.data.reading.encoding import open_text
from backend.data.reading.raw import execute_on
from backend.data.reading.understood import Understood
from backend.text import counted, first_of

PAGES = "pages"
PAGE_CHARS = 4_000  # of a text without pages
_MOST_PAGES = 5_000
_LONGEST_PAGE = 1_000_000
_AT_ONCE = 50
_FEW_LETTERS = 10
_MOST_NAMED = 10
_MOST_LEVELS = 20  # of fields within fields
_PRESENTED = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]")

Page = tuple[int, str]
logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings about odd files help no one


@dataclass
class _Incomplete:
    """The numbers of pages that have no text, that fail, and whose text is cut as too long."""

    bare: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)


def read_pdf(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Understood]:
    """Create the table of a PDF's pages. Raise SourceUnusable."""
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise SourceUnusable(
                "The PDF is protected by a password. Save it without one, and upload it again."
            )
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError):
        raise SourceUnusable(
            "The PDF is damaged and cannot be opened. Save it again, and upload the new file."
        ) from None
    if count > _MOST_PAGES:
        raise SourceUnusable(f"The PDF has {count:,} pages; at most {_MOST_PAGES:,} can be read.")
    understood = Understood([f"PDF with {counted(count, 'page')}"])
    incomplete = _Incomplete()
    _make_table(connection, _pdf_pages(reader, incomplete))
    _tell_pages(count, incomplete, understood)
    return {PAGES: understood}


def read_document(
    connection: duckdb.DuckDBPyConnection, path: Path, corrections: Corrections = NONE
) -> dict[str, Understood]:
    """Create the table of a plain text's parts. Raise SourceUnusable, or UnicodeError.

    The latter means that a person chose an encoding that the text does not have.
    """
    encoding = choose_encoding(path, corrections.encoding)
    understood = Understood([encoding.name], facts={"encoding": encoding.name})
    if encoding.warning:
        understood.warn(encoding.warning)
    with open_text(path, encoding) as file:
        _make_table(connection, enumerate(_parts(file), 1))
    ((parts,),) = connection.execute(f"SELECT count(*) FROM {PAGES}").fetchall()  # noqa: S608 - our own name
    if not parts:
        raise SourceUnusable("The file holds no text.")
    understood.form.append(f"text, in {counted(parts, 'part')} of a page each")
    return {PAGES: understood}


def with_plain_letters(text: str) -> str:
    """Return the text with the letters that people type in place of ligatures and printed forms."""
    plain = _PRESENTED.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return unicodedata.normalize("NFC", plain)


def _pdf_pages(reader: pypdf.PdfReader, incomplete: _Incomplete) -> Iterator[Page]:
    for number, page in enumerate(reader.pages, 1):
        text = ""
        try:
            text = page.extract_text()
            text = "\n".join([text, *_entered(page)])
            if _is_bare(page, text.strip()):
                incomplete.bare.append(number)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - an error in one page must not affect the others
            incomplete.failed.append(number)
        if len(text) > _LONGEST_PAGE:
            incomplete.cut.append(number)
        yield number, text[:_LONGEST_PAGE]


def _entered(page: pypdf.PageObject) -> Iterator[str]:
    """Yield what was entered into the page's form, and written on it: it is not in its text."""
    for reference in page.annotations or ():
        item = reference.get_object()
        if item.get("/Subtype") == "/FreeText":
            yield str(item.get("/Contents", ""))
        elif item.get("/Subtype") == "/Widget" and (value := _value_of(item)):
            yield f"{_inherited(item, '/TU') or _inherited(item, '/T')}: {value}"


def _value_of(item: pypdf.generic.DictionaryObject) -> str:
    """Return what a form's field shows; an empty text if nothing was entered or chosen."""
    is_button = _inherited(item, "/FT") == "/Btn"
    value = item.get("/AS") if is_button else _inherited(item, "/V")
    if isinstance(value, pypdf.generic.ArrayObject):
        return ", ".join(map(str, value))
    if not isinstance(value, str):
        return ""
    return "" if value == "/Off" else value.removeprefix("/")


def _inherited(item: pypdf.generic.DictionaryObject, key: str) -> object:
    """Return an entry of a form's field, or of the nearest field above that has it."""
    found: object = item
    for _ in range(_MOST_LEVELS):
        if not isinstance(found, pypdf.generic.DictionaryObject):
            break
        if key in found:
            return found[key]
        found = found.get("/Parent", pypdf.generic.NullObject()).get_object()
    return None


def _is_bare(page: pypdf.PageObject, text: str) -> bool:
    """Return whether the page's content is not in its text: a scan may have a page number."""
    return not text or (len(text) < _FEW_LETTERS and bool(page.images.keys()))


def _parts(file: TextIO) -> Iterator[str]:
    """Yield pieces of about a page, which end at a paragraph, or else at a line."""
    text, lines = "", IncrementalNewlineDecoder(None, translate=True)
    while block := file.read(PAGE_CHARS):
        text += lines.decode(block)
        while len(text) > PAGE_CHARS:
            cut = _end_of_part(text)
            yield text[:cut]
            text = text[cut:]
    text += lines.decode("", final=True)
    if text.strip():
        yield text


def _end_of_part(text: str) -> int:
    half = PAGE_CHARS // 2
    for end in ("\n\n", "\n", " "):
        cut = text.rfind(end, half, PAGE_CHARS)
        if cut > 0:
            return cut + len(end)
    return PAGE_CHARS


def _make_table(connection: duckdb.DuckDBPyConnection, pages: Iterable[Page]) -> None:
    connection.execute(f"CREATE TABLE {PAGES} (page INTEGER, text VARCHAR)")
    some: list[Page] = []
    for number, text in pages:
        some.append((number, _storable(text)))
        if len(some) >= _AT_ONCE:
            _insert(connection, some)
            some = []
    if some:
        _insert(connection, some)


def _insert(connection: duckdb.DuckDBPyConnection, pages: list[Page]) -> None:
    numbers, texts = zip(*pages, strict=True)
    rows = pa.table({"page": pa.array(numbers, pa.int32()), "text": pa.array(texts, pa.string())})
    execute_on(connection, rows, f"INSERT INTO {PAGES} FROM incoming")


def _storable(text: str) -> str:
    plain = with_plain_letters(text)
    return plain.replace("\0", "").encode("utf-8", "replace").decode()


def _tell_pages(count: int, incomplete: _Incomplete, understood: Understood) -> None:
    bare = len(incomplete.bare)
    understood.facts["pages"] = count
    if bare == count:
        understood.warn(
            "The PDF has no text: its pages are images, as a scanner makes them. It cannot be read "
            "or searched; run text recognition (OCR) on it first, with another program."
        )
    elif bare:
        have = "has" if bare == 1 else "have"
        understood.warn(f"{bare:,} of {count:,} pages {have} no text; images cannot be read.")
    if failed := incomplete.failed:
        understood.warn(f"{counted(len(failed), 'page')} could not be read: {_numbered(failed)}.")
    if cut := incomplete.cut:
        understood.warn(
            f"The text of {counted(len(cut), 'page')} is cut after {_LONGEST_PAGE:,} characters: "
            f"{_numbered(cut)}."
        )


def _numbered(pages: Sequence[int]) -> str:
    return f"page {first_of([str(page) for page in pages], _MOST_NAMED)}"

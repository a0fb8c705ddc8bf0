"""The format of a file by its first bytes; its name decides only if they are inconclusive."""

import re
from enum import StrEnum

WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DOCUMENTS = (".md", ".markdown", ".rst")
_JSON = (".json", ".jsonl", ".ndjson")


class Format(StrEnum):
    """How to read a file's bytes."""

    TEXT = "text"  # a table or a document; its lines decide which
    GZIP = "gzip"
    WORKBOOK = "workbook"
    OLD_WORKBOOK = "old_workbook"
    PARQUET = "parquet"
    JSON = "json"
    PDF = "pdf"
    DOCUMENT = "document"

    @property
    def suffix(self) -> str:
        """The suffix that selects its reader."""
        return _SUFFIXES[self]


_SUFFIXES = {
    Format.TEXT: ".csv",
    Format.GZIP: ".csv.gz",
    Format.WORKBOOK: ".xlsx",
    Format.OLD_WORKBOOK: ".xls",
    Format.PARQUET: ".parquet",
    Format.JSON: ".json",
    Format.PDF: ".pdf",
    Format.DOCUMENT: ".md",
}
_PDF = b"%PDF-"
_MAGIC = (
    (b"PK\x03\x04", Format.WORKBOOK),
    (b"\xd0\xcf\x11\xe0", Format.OLD_WORKBOOK),
    (b"PAR1", Format.PARQUET),
    (b"\x1f\x8b", Format.GZIP),
)
_UNREADABLE = (
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"ID3", "a sound"),
    (b"{\\rtf", "a text of a word processor"),
    (b"SQLite format 3", "a database"),
    (b"ID;PWXL", "a workbook in the SYLK format"),  # by Excel; "ID;Price" begins a table
    (b"ID;PCALC", "a workbook in the SYLK format"),  # by LibreOffice
    (b"TABLE\r\n0,1", "a workbook in the DIF format"),
    (b"TABLE\n0,1", "a workbook in the DIF format"),
)


_NAMED_SO = " under the name of a workbook"
_OTHERWISE_NAMED = {  # what bytes of these formats are if the name is a workbook's
    Format.PDF: "a PDF",
    Format.PARQUET: "a Parquet file",
    Format.GZIP: "a packed file",
    Format.JSON: "JSON",
}
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def find_format(head: bytes, name: str) -> Format | str:
    """Return the format, or what an unreadable file is, in words.

    Under the name of a workbook, some programs save web pages and tables of text, which are read;
    anything else that is not a workbook is refused.
    """
    found = _by_bytes(head, name)
    if not name.lower().endswith(WORKBOOKS) or found in (Format.WORKBOOK, Format.OLD_WORKBOOK):
        return found
    if found is Format.TEXT:
        return found if _may_be_table(head) else f"text{_NAMED_SO}"
    return f"{_OTHERWISE_NAMED[found]}{_NAMED_SO}" if isinstance(found, Format) else found


def _may_be_table(head: bytes) -> bool:
    """Return whether a text may be a web page, or lines that are split into columns."""
    plain = head.replace(b"\0", b"") if head.startswith(_BOMS[1:]) else head
    plain = plain.removeprefix(_BOMS[0]).lstrip()
    if _NO_TEXT.search(plain):
        return False
    lines = plain.splitlines()
    return plain.startswith(b"<") or (len(lines) > 1 and bool(re.search(rb"[\t;,|]", plain)))


def _by_bytes(head: bytes, name: str) -> Format | str:
    for magic, format_ in _MAGIC:
        if head.startswith(magic):
            return format_
    if head.lstrip().startswith(_PDF):  # as some programs write it
        return Format.PDF
    for magic, what in _UNREADABLE:
        if head.startswith(magic):
            return what
    lower = name.lower()
    if lower.endswith(_JSON) or _begins_json(head):
        return Format.JSON
    return Format.DOCUMENT if lower.endswith(_DOCUMENTS) else Format.TEXT


def _begins_json(head: bytes) -> bool:
    """Return whether the text begins as a JSON array or a line of objects; no table does."""
    plain = head.removeprefix(_BOMS[0]).lstrip()
    return plain.startswith((b'{"', b'[{"', b"[\n", b"[\r\n")) and b":" in plain

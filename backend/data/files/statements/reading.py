"""Reads a bank statement as a table of its entries, and one of its balances."""

import re
from pathlib import Path

import duckdb

from backend.data.corrections import Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.files.statements.camt import read_camt
from backend.data.files.statements.entries import BALANCES, ENTRIES, make_tables
from backend.data.files.statements.mt940 import read_mt940
from backend.data.reading.delimited import choose_encoding
from backend.data.reading.encoding import open_bytes, open_text
from backend.data.reading.understood import Understood

CAMT, MT940 = "CAMT", "MT940"
_HEAD = 65_536  # bytes
_MOST_CHARS = 50_000_000  # of MT940, which is read as a whole
_CAMT = re.compile(rb"\bcamt\.05[234]\b")
_OF_CAMT = re.compile(rb"<(?:\w+:)?(?:Stmt|Rpt|Ntfctn)\b")
_MT940 = re.compile(rb"(?:.*\n){0,4}?(?:\{.*\{4:)?:20:.*\n(?:.*\n){0,4}?:25:")


def find_form(path: Path) -> str | None:
    """Return the form of a bank statement, in any encoding; None for any other text."""
    with open_bytes(path) as file:
        head = file.read(_HEAD).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xfe\xff \t\r\n")
    if head.startswith(b"<") and _CAMT.search(head) and _OF_CAMT.search(head):
        return CAMT
    return MT940 if _MT940.match(head) else None


def read_statement(
    connection: duckdb.DuckDBPyConnection, path: Path, form: str, corrections: Corrections
) -> dict[str, Understood]:
    """Create the tables of the statements in a file; return how it was read.

    Raise SourceUnusable, CorrectionRefused, or UnicodeError if a person chose an encoding that the
    text does not have.
    """
    if corrections.types or corrections.decimal is not None:
        raise CorrectionRefused(
            "The columns of a bank statement are fixed. Leave out their types and the decimal mark."
        )
    understood = Understood([f"a bank statement ({form})"], facts={"statement": form})
    about = Understood(["the balances of the statements"])
    tables = {ENTRIES: understood, BALANCES: about}
    if form == CAMT and corrections.encoding is None:
        with open_bytes(path) as file:  # the XML says its encoding
            make_tables(connection, read_camt(file), understood)
        return tables
    encoding = choose_encoding(path, corrections.encoding)
    understood.form.append(encoding.name)
    understood.facts["encoding"] = encoding.name
    if encoding.warning:
        understood.warn(encoding.warning)
    with open_text(path, encoding) as text:
        read = read_camt(text) if form == CAMT else read_mt940(_whole(text.read(_MOST_CHARS + 1)))
        make_tables(connection, read, understood)
    return tables


def _whole(text: str) -> str:
    if len(text) > _MOST_CHARS:
        raise SourceUnusable(
            f"The statement has more than {_MOST_CHARS:,} characters. Split it into smaller files."
        )
    return text

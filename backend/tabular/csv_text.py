"""Tables as CSV that spreadsheets open as text, not as formulas. Pure."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # some programs accept full width, too
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")  # exact numbers are stored as text


def csv_of(table: dict[str, Any]) -> str:
    """Return a stored table as CSV, all fields quoted.

    A text cell that a spreadsheet would run as a formula gets a leading apostrophe
    (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    return csv_lines([[column["name"] for column in table["columns"]], *table["rows"]])


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as lines of CSV, as `csv_of` writes them."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows(map(as_field, row) for row in rows)
    return text.getvalue()


def is_like_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text as a formula; it does not run numbers."""
    return text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)


def as_field(value: Any) -> Any:
    """Return a cell as a field; text like a formula gets a leading apostrophe."""
    return f"'{value}" if isinstance(value, str) and is_like_formula(value) else value

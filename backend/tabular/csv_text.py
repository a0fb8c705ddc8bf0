"""Tables as CSV that a spreadsheet opens as text, not as formulas. Pure."""

import csv
import io
import re
from typing import Any

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # some also run them in full width
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")  # exact ones are stored as text


def csv_of(table: dict[str, Any]) -> str:
    """Return a stored table as CSV, every field in quotes.

    A text cell that a spreadsheet would run as a formula begins with an apostrophe
    (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow([as_field(column["name"]) for column in table["columns"]])
    writer.writerows(map(as_field, row) for row in table["rows"])
    return text.getvalue()


def is_like_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text; a negative number is none."""
    return text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)


def as_field(value: Any) -> Any:
    """Return a cell as a field; a text that is like a formula begins with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and is_like_formula(value) else value

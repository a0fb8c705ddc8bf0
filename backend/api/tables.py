"""Tables as CSV that a spreadsheet opens as text, not as formulas."""

import csv
import io
from typing import Any

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # some also run them in full width


def csv_of(table: dict[str, Any]) -> str:
    """Write a stored table as CSV.

    A text cell that a spreadsheet would run as a formula is quoted with an apostrophe
    (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(column["name"]) for column in table["columns"]])
    writer.writerows([_cell(value) for value in row] for row in table["rows"])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value

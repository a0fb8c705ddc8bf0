"""A tool result's table as a data frame, with numbers and days in the reader's format."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from backend.tabular.cells import Writer, cell_writers
from backend.tabular.locales import NOTHING, write_number

# JavaScript and Arrow do not hold larger integers exactly; they are shown as text.
MAX_INTEGER = 2**53
MAX_NAME_CHARS = 80
MOST_STYLED_CELLS = 60_000
_NOT_IN_FILE_NAMES = re.compile(r"[^\w .()+,-]+")

Table = Mapping[str, Any]


def to_frame(table: Table) -> pd.DataFrame:
    """Return the rows as a data frame; columns of the same name are numbered, so none is lost."""
    names = _unique([str(column.get("name", "")) for column in table.get("columns", [])])
    rows = [[_cell(value) for value in row[: len(names)]] for row in table.get("rows", [])]
    return pd.DataFrame(rows, columns=pd.Index(names)).convert_dtypes()


def styled(table: Table, frame: pd.DataFrame, locale: str | None) -> Any:
    """Return the frame with formatted cells: by their format, a dash for no value.

    The values are unchanged, so that sorting is correct. A very large frame is not formatted.
    """
    if frame.size > MOST_STYLED_CELLS:
        return frame
    formats: dict[Any, Any] = {
        name: partial(_write, write)
        for name, write in zip(frame.columns, writers(table, locale), strict=True)
    }
    return frame.style.format(formats, na_rep=NOTHING)


def writers(table: Table, locale: str | None) -> list[Writer]:
    """Return the cell writer of each column."""
    return cell_writers(table.get("columns", []), locale)


def as_tabbed(table: Table, locale: str | None) -> str:
    """Return the table as text that can be pasted into spreadsheets of the locale."""
    names = [str(column.get("name", "")) for column in table.get("columns", [])]
    lines = [names, *([_flat(cell, locale) for cell in row] for row in table.get("rows", []))]
    return "\n".join("\t".join(line) for line in lines)


def file_name(title: Any, ending: str = "csv") -> str:
    """Return a safe download name from a model's title: never a path or a disguised extension."""
    name = _NOT_IN_FILE_NAMES.sub("-", str(title or ""))[:MAX_NAME_CHARS].strip(" .-")
    return f"{name or 'table'}.{ending}"


def _write(write: Writer, value: Any) -> str:
    """Return a cell of a frame as text; the frame's numbers are NumPy's, not Python's."""
    return write(value.item() if isinstance(value, np.generic) else value)


def _flat(value: Any, locale: str | None) -> str:
    if isinstance(value, float):
        return write_number(value, locale, is_grouped=False)
    return "" if value is None else " ".join(str(value).split())


def _unique(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _cell(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return str(value)
    if isinstance(value, dict | list):
        return str(value)
    return value

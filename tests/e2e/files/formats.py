"""Small files of each format, as analysts have them."""

import io
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import typst

JSON_LINES = b'{"sku": "x1", "stock": 4}\n{"sku": "x2", "stock": 0}\n'
PICTURE = b"\x89PNG\r\n\x1a\n"


def workbook() -> bytes:
    """A workbook of two sheets; in each, the codes are numbers."""
    book = openpyxl.Workbook()
    for name, code in (("Orders", 4711), ("Returns", 815)):
        sheet = book.create_sheet(name)
        for row in (["code", "amount"], [code, 1.5], [code + 1, 2.5]):
            sheet.append(row)
    del book["Sheet"]
    return _saved(book.save)


def parquet() -> bytes:
    """A table with a day and a decimal."""
    columns = {"day": [date(2026, 7, 1)], "amount": [Decimal("1234.50")]}
    return _saved(lambda file: pq.write_table(pa.table(columns), file))


def pdf() -> bytes:
    """A document of two pages."""
    return bytes(typst.compile(b"Notice is three months.\n#pagebreak()\nNothing else."))


def write(folder: Path, **contents: bytes) -> list[Path]:
    """Write files; the name of a file has an underscore for its point."""
    paths = [folder / name.replace("_", ".") for name in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        path.write_bytes(content)
    return paths


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()

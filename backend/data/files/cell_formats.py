"""The number formats of a sheet's cells, found in its XML: calamine reports values alone."""

import re
import xml.etree.ElementTree as ElementTree
from array import array
from collections.abc import Callable, Sequence
from zipfile import ZipFile

from backend.data.files.extent import PREFIX, column_number
from backend.data.files.merged import Value
from backend.data.reading.written import WrittenColumns
from backend.tabular.number_formats import GENERAL, is_code, write_code

_STYLES = "xl/styles.xml"
_MOST_STYLES = 65_000
# Numbers only: texts, booleans and errors say their type. Never beyond the next tag.
_styled = re.compile(
    PREFIX
    + rb"""c\s(?![^<>]*?\bt\s*=\s*["'](?:s|str|inlineStr|b|e)["'])"""
    + rb"""(?=[^<>]*?\bs\s*=\s*["']([0-9]{1,5})["'])"""
    + rb"""(?=[^<>]*?\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["'])"""
)
# ECMA-376 part 1, 18.8.30. Those of currencies are the locale's, and a workbook defines them.
_BUILT_IN = {
    "1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%",
    "5": '"$"#,##0', "6": '"$"#,##0', "7": '"$"#,##0.00', "8": '"$"#,##0.00',
    "37": "#,##0", "38": "#,##0", "39": "#,##0.00", "40": "#,##0.00",
    "41": "#,##0", "43": "#,##0.00",
    "42": '"$"#,##0', "44": '"$"#,##0.00',
}  # fmt: skip


Watch = Callable[[int, Sequence[Value]], list[tuple[int, str]]]


class CellFormats:
    """The number formats of a sheet's cells, as far as its XML has been read."""

    def __init__(self, codes: Sequence[str] = ()) -> None:
        """Take the formats by the numbers of their styles."""
        self._codes = codes
        styles = enumerate(codes[:_MOST_STYLES])
        self._known = {b"%d" % n: n + 1 for n, code in styles if code != GENERAL}
        self._columns: dict[bytes, array[int]] = {}

    def add(self, xml: bytes) -> None:
        """Note the formats in a piece of the sheet's XML; a cell that says no place has none."""
        if not self._known:
            return
        for style, letters, digits in _styled.findall(xml):
            if (number := self._known.get(style)) is None:
                continue
            rows = self._columns.setdefault(letters, array("H"))
            line = int(digits)
            if line >= len(rows):
                rows.frombytes(bytes(2 * (line + 1 - len(rows) + len(rows) // 8)))
            rows[line] = number

    def watching(self, first_column: int, written: WrittenColumns) -> Watch:
        """Return the function that takes the sheet's rows, and notes how numbers are written.

        It returns the places of the cells that are codes by their formats, and their texts.
        """
        columns = [
            (column_number(letters) - 1 - first_column, lines)
            for letters, lines in self._columns.items()
        ]
        codes = (GENERAL, *self._codes)

        def watch(line: int, row: Sequence[Value]) -> list[tuple[int, str]]:
            found = []
            for place, lines in columns:
                value = row[place] if 0 <= place < len(row) else ""
                if not isinstance(value, int | float) or isinstance(value, bool):
                    continue
                code = codes[lines[line]] if line < len(lines) else GENERAL
                if is_code(code) and float(value).is_integer():
                    found.append((place, write_code(value, code)))
                else:
                    written.add(place, line, value, code)
            return found

        return watch


def read_codes(archive: ZipFile) -> list[str]:
    """Return the number format of each style of a workbook."""
    if _STYLES not in archive.namelist():
        return []
    root = ElementTree.fromstring(archive.read(_STYLES))  # noqa: S314 - in the sandbox
    own = {
        one.get("numFmtId"): one.get("formatCode", GENERAL)
        for one in root.iterfind("{*}numFmts/{*}numFmt")
    }
    styles = root.find("{*}cellXfs")
    ids = [style.get("numFmtId", "0") for style in (styles if styles is not None else ())]
    return [own.get(id_) or _BUILT_IN.get(id_, GENERAL) for id_ in ids]

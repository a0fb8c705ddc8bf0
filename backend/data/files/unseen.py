"""What calamine does not report, found in a sheet's XML: errors, formulas, and what is hidden."""

import re
from dataclasses import dataclass, field

from backend.data.files.extent import PREFIX, column_letters
from backend.data.files.merged import Rows
from backend.data.reading.understood import MOST_EXAMPLES, Understood

# Possessive, and never beyond the next tag: no byte is read more than a few times.
_END = rb"</(?:[\w.-]++:)?"
_FORMULA = PREFIX + rb"f(?=[\s/>])[^<>]*+(?:(?<=/)>|>[^<]*+" + _END + rb"f\s*+>)\s*+"
_NO_VALUE = PREFIX + rb"v\s*+(?:/>|>" + _END + rb"v\s*+>)\s*+"
_valueless = re.compile(
    PREFIX
    + rb"c(?=\s|>)(?P<attributes>[^<>]*+)>\s*+"
    + _FORMULA
    + rb"(?P<value>"
    + _NO_VALUE
    + rb")?"
    + _END
    + rb"c\s*+>"
)
_error = re.compile(
    PREFIX
    + rb"""c(?=\s[^<>]*?(?<=\s)t\s*+=\s*+["']e["'])(?P<attributes>[^<>]*+)>\s*+(?:"""
    + _FORMULA
    + rb")?"
    + PREFIX
    + rb"v(?=[\s>])[^<>]*+>(?P<error>[^<]*+)"
    + _END
    + rb"v"
)
_place = re.compile(rb"""\sr\s*+=\s*+["']([A-Za-z]{1,3}[0-9]{1,7})["']""")
_is_text = re.compile(rb"""\st\s*+=\s*+["']str["']""")
_hidden = re.compile(
    PREFIX
    + rb"""(?P<tag>row|col)(?=\s)(?=[^<>]*?\shidden\s*+=\s*+["'](?:1|true)["'])"""
    + rb"(?P<attributes>[^<>]*+)>"
)
_number = re.compile(rb"""\s(r|min|max)\s*+=\s*+["']([0-9]{1,7})["']""")
_filter = re.compile(PREFIX + rb"filterColumn[\s/>]")


@dataclass
class Unseen:
    """What calamine does not report about a sheet. A cell may not say its place."""

    errors: int = 0
    formulas: int = 0
    error_examples: list[str] = field(default_factory=list)
    formula_examples: list[str] = field(default_factory=list)
    is_filtered: bool = False
    _hidden_lines: set[int] = field(default_factory=set)
    _hidden_columns: list[tuple[int, int]] = field(default_factory=list)  # from 1, both ends
    _seen_lines: list[int] = field(default_factory=list)  # that are hidden and hold something
    _columns: tuple[int, int] = (1, 0)  # of the sheet's cells, as the hidden ones

    def add(self, xml: bytes) -> None:
        """Count what a piece of the sheet's XML holds."""
        if b"<f" in xml or b":f" in xml:
            self._count_formulas(xml)
        if b'"e"' in xml or b"'e'" in xml:
            self._count_errors(xml)
        if b"hidden" in xml:
            self._note_hidden(xml)
        self.is_filtered = self.is_filtered or _filter.search(xml) is not None

    def watched(self, rows: Rows, first_column: int) -> Rows:
        """Yield a sheet's rows, which are not empty, and note which of them are hidden."""
        for line, row in rows:
            self._columns = (first_column + 1, max(self._columns[1], first_column + len(row)))
            if line in self._hidden_lines:
                self._seen_lines.append(line)
            yield line, row

    def tell(self, understood: Understood) -> None:
        """Report cells that are empty because of an error or a formula, and what is hidden."""
        self._tell_empty(understood)
        self._tell_hidden(understood)

    def _tell_empty(self, understood: Understood) -> None:
        if self.errors:
            what = (
                "cell holds an error and is" if self.errors == 1 else "cells hold an error and are"
            )
            understood.warn(f"{self.errors:,} {what} NULL{_shown(self.error_examples)}.")
        if self.formulas:
            what = "formula has no stored value and is"
            if self.formulas > 1:
                what = "formulas have no stored value and are"
            understood.warn(
                f"{self.formulas:,} {what} NULL{_shown(self.formula_examples)}. Save the workbook "
                "in a spreadsheet program to store the values."
            )

    def _tell_hidden(self, understood: Understood) -> None:
        if lines := self._seen_lines:
            by = "by a filter" if self.is_filtered else "in the workbook"
            shown = _some([f"{line:,}" for line in lines])
            understood.warn(
                f"{_are_hidden(len(lines), 'row')} {by} and read as the others (line {shown})."
            )
        first, last = self._columns
        columns = [
            column_letters(column)
            for start, end in self._hidden_columns
            for column in range(max(start, first), min(end, last) + 1)
        ]
        if columns:
            what = _are_hidden(len(columns), "column")
            understood.warn(f"{what} in the workbook and read as the others ({_some(columns)}).")

    def _note_hidden(self, xml: bytes) -> None:
        """Note hidden columns, and hidden rows except those that close at once: they are empty."""
        for found in _hidden.finditer(xml):
            numbers = {name: int(digits) for name, digits in _number.findall(found["attributes"])}
            if found["tag"] == b"col":
                self._hidden_columns.append((numbers.get(b"min", 1), numbers.get(b"max", 0)))
            elif b"r" in numbers and not found["attributes"].endswith(b"/"):
                self._hidden_lines.add(numbers[b"r"])

    def _count_formulas(self, xml: bytes) -> None:
        for found in _valueless.finditer(xml):
            has_empty_text = (found["value"] or b"").rstrip().endswith(b"v>")
            if has_empty_text and _is_text.search(found["attributes"]):
                continue
            self.formulas += 1
            if len(self.formula_examples) < MOST_EXAMPLES:
                self.formula_examples += _place_of(found["attributes"])

    def _count_errors(self, xml: bytes) -> None:
        for found in _error.finditer(xml):
            self.errors += 1
            if len(self.error_examples) < MOST_EXAMPLES:
                error = found["error"].decode("utf-8", "replace")[:20]
                places = _place_of(found["attributes"])
                self.error_examples += [f"{place} ({error})" for place in places]


def _place_of(attributes: bytes) -> list[str]:
    """Return the place of a cell, or nothing if it does not say it."""
    found = _place.search(attributes)
    return [found[1].decode().upper()] if found else []


def _shown(examples: list[str]) -> str:
    return f": {', '.join(examples)}" if examples else ""


def _are_hidden(count: int, noun: str) -> str:
    return f"1 {noun} is hidden" if count == 1 else f"{count:,} {noun}s are hidden"


def _some(places: list[str]) -> str:
    return ", ".join(places[:MOST_EXAMPLES]) + (", …" if len(places) > MOST_EXAMPLES else "")

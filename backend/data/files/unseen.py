"""Cells that calamine returns as empty ones, found in a sheet's XML: errors, and formulas."""

import re
from dataclasses import dataclass, field

from backend.data.files.extent import PREFIX
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


@dataclass
class Unseen:
    """What calamine does not report about a sheet. A cell may not say its place."""

    errors: int = 0
    formulas: int = 0
    error_examples: list[str] = field(default_factory=list)
    formula_examples: list[str] = field(default_factory=list)

    def add(self, xml: bytes) -> None:
        """Count what a piece of the sheet's XML holds."""
        if b"<f" in xml or b":f" in xml:
            self._count_formulas(xml)
        if b'"e"' in xml or b"'e'" in xml:
            self._count_errors(xml)

    def tell(self, understood: Understood) -> None:
        """Report cells that are empty because of an error or a formula."""
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

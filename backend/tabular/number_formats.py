"""How the numbers of a column are written: decimals, percent, currency, unit. Pure.

A format travels as text: a number format of workbooks (ECMA-376 part 1, 18.8.31). It comes from a
workbook's cells or a text's numbers, is kept by a query's column where the expression keeps it
(`backend/data/sql/result_formats.py`), and decides how tables, charts, documents and workbooks
write the column. A code such as 00000 is no format of numbers: such cells are texts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from babel.numbers import list_currencies

from backend.tabular.locales import known, write_number

GENERAL = "General"
WHOLE = "0"  # of counts
_CURRENCY = re.compile(r"[$€£¥₹₽₺₩₪₴฿₫₱₦]|(?:US|A|C|R|S|HK|NZ|NT|AU|CA)\$|Fr\.?|Rs\.?|zł|Kč|kr\.?")
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_NO_CONDITION = re.compile(r"(?:black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d+)", re.I)
_SIGNS = frozenset("-+()\u2212 \u00a0\u202f'")
_MOST_DECIMALS = 10


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written; without `decimals`, each with its own.

    Of `is_percent`, 0.07 is written as 7 %. A `unit` is written behind the number, as % is where
    7 is 7 %.
    """

    decimals: int | None = None
    currency: str = ""
    is_before: bool = True  # the currency
    is_percent: bool = False
    unit: str = ""
    is_grouped: bool = False

    @property
    def code(self) -> str:
        """The format as a workbook has it."""
        if self == NumberFormat():
            return GENERAL
        whole = "#,##0" if self.is_grouped else "0"
        digits = "." + "#" * _MOST_DECIMALS if self.decimals is None else ""
        digits = "." + "0" * self.decimals if self.decimals else digits
        if self.is_percent:
            return f"{whole}{digits}%"
        if self.currency and self.is_before:
            return f"[${self.currency}]{_gap(self.currency, quoted=True)}{whole}{digits}"
        if self.currency:
            return f"{whole}{digits}\\ [${self.currency}]"
        return f'{whole}{digits}"{self.unit}"' if self.unit else f"{whole}{digits}"

    @property
    def d3(self) -> str:
        """The format for a chart's numbers, without currency and unit (https://d3js.org/d3-format)."""
        digits = "" if self.decimals is None else f".{self.decimals}"
        if self.is_percent:
            return f",{digits}%"
        return f",{digits}f" if digits else ","

    @property
    def is_share(self) -> bool:
        """Whether the numbers are percent, written as shares of one or of a hundred."""
        return self.is_percent or self.unit == "%"

    @property
    def measure(self) -> str:
        """The currency or unit, for a heading."""
        return self.currency or self.unit

    def write(self, value: float, locale: str | None) -> str:
        """Return a number as the format says, with the signs of the locale."""
        size = round(abs(value) * 100, _MOST_DECIMALS) if self.is_percent else abs(value)
        is_grouped = self.is_grouped or (self.decimals is None and not float(size).is_integer())
        text = write_number(size, locale, self.decimals, is_grouped=is_grouped)
        if self.is_percent or self.unit == "%":
            text += f"{_percent_gap(locale)}%"
        elif self.unit:
            text += f"\u00a0{self.unit}"
        elif self.currency and self.is_before:
            text = f"{self.currency}{_gap(self.currency)}{text}"
        elif self.currency:
            text += f"\u00a0{self.currency}"
        return f"-{text}" if value < 0 and any(c in text for c in "123456789") else text

    def averaged(self) -> "NumberFormat":
        """Return the format of averages, which have decimals where whole numbers have none."""
        return self if self.decimals is None else replace(self, decimals=max(self.decimals, 2))


@lru_cache(2_048)
def parse_format(code: str) -> NumberFormat | None:
    """Return the format of numbers that a workbook's format means; None if it means no other.

    Of several sections, those of negative numbers and zero do not matter; conditional ones are
    merged. Numbers that it would write in thousands or millions are written whole.
    """
    if code == GENERAL:
        return NumberFormat()
    sections = [_tokens(section) for section in _sections(code)]
    if any(_condition(tokens) for tokens in sections):
        found = [_number_format(tokens) for tokens in sections if _has_digits(tokens)]
    else:
        found = [_number_format(sections[0])] if sections else []
    known_ones = [one for one in found if one is not None]
    return merge(known_ones) if known_ones and len(known_ones) == len(found) else None


def merge(formats: Sequence[NumberFormat | None]) -> NumberFormat | None:
    """Return the format of a column whose cells have these; None if they do not agree.

    Cells without a currency are those of an account whose first line names it. Cells with
    different decimals get the most of them.
    """
    said = [one for one in formats if one is not None]
    marks = {(one.is_percent, one.unit) for one in formats if one is not None}
    currencies = dict.fromkeys(one.currency for one in said if one.currency)
    if not said or len(marks) > 1 or len(currencies) > 1 or (said != [*formats] and any(*marks)):
        return None
    decimals = [one.decimals for one in said if one.decimals is not None]
    first = next((one for one in said if one.currency), said[0])
    return replace(
        first,
        decimals=max(decimals, default=None),
        is_grouped=any(one.is_grouped for one in said),
    )


@lru_cache(2_048)
def is_code(code: str) -> bool:
    """Return whether cells of this format are codes: 00000, 000-00-0000, (000) 000-0000.

    They show leading zeros, or have signs between their digits.
    """
    return any(_is_mask(_tokens(section)) for section in _sections(code)[:2])


def write_code(value: float, code: str) -> str:
    """Return a whole number as a code's format writes it."""
    sections = [_tokens(section) for section in _sections(code)]
    tokens, is_negative = _section_for(value, sections)
    if not _has_digits(tokens):
        return str(int(value))
    digits = [*str(abs(int(value)))]
    places = [place for place, (kind, _) in enumerate(tokens) if kind == "digit"]
    written: list[str] = []
    for place in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[place]
        if kind == "digit":
            rest = "".join(digits) if place == places[0] else digits.pop() if digits else ""
            written.append(rest or {"0": "0", "?": " "}.get(text, ""))
        elif kind in ("text", "currency"):
            written.append(text)
    return ("-" if is_negative else "") + "".join(reversed(written)).strip()


Token = tuple[str, str]


def _sections(code: str) -> list[str]:
    """Return the parts between semicolons that are no text."""
    parts, start, place = [], 0, 0
    while place < len(code):
        sign = code[place]
        if sign in '"[':
            end = code.find('"' if sign == '"' else "]", place + 1)
            place = len(code) if end < 0 else end
        elif sign in "\\_*":
            place += 1
        elif sign == ";":
            parts.append(code[start:place])
            start = place + 1
        place += 1
    return [*parts, code[start:]]


def _tokens(section: str) -> list[Token]:
    """Return what a section consists of; text between quotes, or after a backslash, as it is."""
    tokens: list[Token] = []
    place = 0
    while place < len(section):
        sign = section[place]
        if sign in '"[':
            end = section.find('"' if sign == '"' else "]", place + 1)
            end = len(section) if end < 0 else end
            inner = section[place + 1 : end]
            tokens += [("text", inner)] if sign == '"' else _in_brackets(inner)
            place = end
        elif sign in "\\_*":
            place += 1
            if sign == "\\" and place < len(section):
                tokens.append(("text", section[place]))
        elif section[place:].lower().startswith("general"):
            tokens.append(("general", sign))
            place += 6
        elif sign in "eE" and section[place + 1 : place + 2] in ("+", "-"):
            tokens.append(("other", "E"))
            place += 1
        else:
            tokens.append(
                (_KINDS.get(sign, "other" if sign.isascii() and sign.isalpha() else "text"), sign)
            )
        place += 1
    return tokens


_KINDS = {
    **dict.fromkeys("0#?", "digit"),
    ".": "point",
    ",": "comma",
    "%": "percent",
    "/": "other",
    "@": "other",
}


def _in_brackets(inner: str) -> list[Token]:
    if inner.startswith("$"):
        symbol = inner[1:].partition("-")[0].strip()
        return [("currency", symbol)] if symbol else []
    if _CONDITION.fullmatch(inner.strip()):
        return [("condition", inner.strip())]
    return [] if _NO_CONDITION.fullmatch(inner.strip()) else [("other", inner)]


def _has_digits(tokens: Iterable[Token]) -> bool:
    return any(kind == "digit" for kind, _ in tokens)


def _condition(tokens: Iterable[Token]) -> str:
    return next((text for kind, text in tokens if kind == "condition"), "")


def _number_format(tokens: Sequence[Token]) -> NumberFormat | None:
    kinds = [kind for kind, _ in tokens]
    if "general" in kinds and "other" not in kinds and "digit" not in kinds:
        return _with_texts(NumberFormat(), tokens, kinds.index("general"))
    if "other" in kinds or "digit" not in kinds or _is_mask(tokens):
        return None
    last = len(kinds) - 1 - kinds[::-1].index("digit")
    first = kinds.index("digit")
    is_scaled = "comma" in kinds[last + 1 : last + 2]
    inner = {text for kind, text in tokens[first:last] if kind == "text"}
    decimals = kinds[kinds.index("point") :].count("digit") if "point" in kinds else 0
    found = NumberFormat(
        decimals=None if is_scaled else min(decimals, _MOST_DECIMALS),
        is_percent="percent" in kinds,
        is_grouped=is_scaled or "comma" in kinds[first:last] or bool(inner & _SIGNS),
    )
    return _with_texts(found, tokens, first, has_unit=not is_scaled)


def _with_texts(
    found: NumberFormat, tokens: Sequence[Token], first: int, *, has_unit: bool = True
) -> NumberFormat:
    """Return the format with the currency, or else the unit, that stands around the digits."""
    for place, text in _texts_of(tokens):
        if place < first or (place > first and text):
            plain = text.strip("-+() \u00a0")
            if _is_currency(plain) or ("currency", plain) in tokens:
                return replace(found, currency=plain, is_before=place < first)
    behind = "".join(text for place, text in _texts_of(tokens) if place > first).strip(
        "-+() \u00a0"
    )
    if (
        behind
        and has_unit
        and not found.is_percent
        and (behind == "%" or behind[0].isalpha() or behind[0] in "°µ")
    ):
        return replace(found, unit=behind)
    return found


def _texts_of(tokens: Sequence[Token]) -> list[tuple[int, str]]:
    """Return the texts with their places, those that follow each other joined."""
    joined: list[tuple[int, str]] = []
    before = ""
    for place, (kind, text) in enumerate(tokens):
        if kind == "text" and before == "text":
            joined[-1] = (joined[-1][0], joined[-1][1] + text)
        elif kind in ("text", "currency"):
            joined.append((place, text))
        before = kind
    return joined


def _is_currency(text: str) -> bool:
    return bool(_CURRENCY.fullmatch(text)) or text in list_currencies()


def _is_mask(tokens: Sequence[Token]) -> bool:
    kinds = [kind for kind, _ in tokens]
    if "digit" not in kinds or {"point", "comma", "percent", "other", "general"} & {*kinds}:
        return False
    first, last = kinds.index("digit"), len(kinds) - 1 - kinds[::-1].index("digit")
    between = "".join(text for kind, text in tokens[first:last] if kind == "text")
    zeros = sum(1 for kind, text in tokens if kind == "digit" and text == "0")
    has_currency = any(
        kind == "currency" or (kind == "text" and _is_currency(text.strip()))
        for kind, text in tokens
    )
    return not has_currency and (zeros > 1 or bool(between.strip("' \u00a0\u202f")))


def _section_for(value: float, sections: Sequence[list[Token]]) -> tuple[list[Token], bool]:
    """Return the section that writes a value, and whether its minus is still to be written."""
    if any(map(_condition, sections)):
        for tokens in sections:
            found = _CONDITION.fullmatch(_condition(tokens))
            if found is None or _holds(value, found[1], float(found[2])):
                return tokens, value < 0
    if value < 0 and len(sections) > 1:
        return sections[1], False
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], value < 0


def _holds(value: float, sign: str, other: float) -> bool:
    return {
        "<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other,
        "=": value == other, "<>": value != other,
    }[sign]  # fmt: skip


def _gap(currency: str, *, quoted: bool = False) -> str:
    """Return what stands between a currency and the number behind it: CHF 5, but €5."""
    if not currency[-1].isalpha() and not currency.endswith("."):
        return ""
    return "\\ " if quoted else "\u00a0"


@lru_cache(256)
def _percent_gap(locale: str | None) -> str:
    found = known(locale)
    return "\u00a0" if found and "\u00a0" in found.percent_formats[None].pattern else ""

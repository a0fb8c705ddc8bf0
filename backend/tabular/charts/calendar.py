"""The order of texts that are parts of the calendar: months, weekdays, Q1, 2026-01, W05. Pure.

All texts of a column must be written in the same way and language, by the names of CLDR, or by
their beginnings and without accents, as programs and people shorten them.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from babel import Locale

_LANGUAGES = (
    "en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "nb", "fi", "cs", "sk", "hu", "ro",
    "hr", "bg", "el", "tr", "ru", "uk", "ar", "id", "zh", "ja", "ko",
)  # fmt: skip
_PERIOD_WORDS = """
    q quarter quartal h half w wk week kw woche p period periode m month monat fy cy year jahr d
    day tag t trimestre semester semestre s semaine mois semana mes 年 月 日 週 周 第 季度 四半期
    년 월 일
"""
_PERIODS = frozenset(_PERIOD_WORDS.split())
_YEARS = frozenset(("fy", "cy", "year", "jahr"))
_LONGEST = 40  # characters
_MOST_PARTS = 8
_PART = re.compile(r"[^\W\d_]+|\d+")
_MARKS = re.compile(r"[\s\-/.,:'\u2019_+()]*")
_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_TWO_DIGITS = 31  # a larger number beside a month is a year
_SHORTEST = 3  # letters of the beginning of a name
_FEIRA = "feira"  # of segunda-feira, but not of domingo
_OTHER_MONTHS = {"de": {"mrz": 3}}  # usual, and not the beginning of a name
_OTHER_WEEKDAYS = {"en": {"weds": 2}}

_LASTS = (
    (frozenset(["weekday"]), frozenset([6])),
    (frozenset(["q", "quarter", "quartal", "trimestre", "t", "季度", "四半期"]), frozenset([4])),
    (frozenset(["h", "half", "semester", "semestre", "s"]), frozenset([2])),
)
_LAST_NUMBERS = frozenset([12, 13, 52, 53])  # of months, fiscal periods and weeks

Key = tuple[float, ...]
Names = Mapping[str, int]


@dataclass(frozen=True)
class Position:
    """Where a text is in the calendar; without a year, its kind comes again after its last."""

    form: tuple[str, ...]
    key: Key
    is_cyclic: bool


def calendar_keys(texts: Sequence[str]) -> Sequence[Position] | None:
    """Return the positions of distinct texts; None unless all are parts of the calendar."""
    for language, are_days in product(_LANGUAGES, (False, True)):
        months, weekdays = _names(language)
        if are_days:  # mar. is March, and in Spanish Tuesday
            months = {}
        found = list(_positions(texts, months, weekdays))
        if len(found) == len(texts) and len({position.form for position in found}) == 1:
            return _days_or_years(found)
    return None


def _days_or_years(found: Sequence[Position]) -> Sequence[Position] | None:
    """Return positions whose numbers after months are days, or years if only so they ascend.

    Jan 26 may be either: if neither ascends, nothing is known.
    """
    is_unsure = found[0].form == ("month", "number") and all(one.key[1] > 9 for one in found)
    if not is_unsure or is_in_order(found):
        return found
    years = [Position(("month", "year"), one.key[::-1], is_cyclic=False) for one in found]
    return years if is_in_order(years) else None


def is_in_order(positions: Sequence[Position]) -> bool:
    """Return whether positions ascend, at most once from the last of a cycle to its first.

    A fiscal year may begin with July, a week with Sunday.
    """
    keys = [position.key for position in positions]
    falls = [n for n in range(1, len(keys)) if keys[n] <= keys[n - 1]]
    if not falls:
        return True
    (first, *_), last = positions[falls[0]].key, positions[falls[0] - 1]
    is_turn = last.is_cyclic and first <= 1 and last.key[0] in _lasts(last.form)
    return is_turn and len(falls) == 1 and keys[-1] < keys[0]


def _lasts(form: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the last month, weekday, quarter and so on."""
    found = [lasts for words, lasts in _LASTS if words & set(form)]
    return found[0] if found else _LAST_NUMBERS


def _positions(texts: Sequence[str], months: Names, weekdays: Names) -> Iterator[Position]:
    for text in texts:
        found = _position(text, months, weekdays)
        if found is None:
            return
        yield found


def _position(text: str, months: Names, weekdays: Names) -> Position | None:
    lower = text.lower().strip()
    parts = _PART.findall(lower)
    marks = _PART.split(lower)
    if not parts or len(text) > _LONGEST or len(parts) > _MOST_PARTS:
        return None
    if not all(_MARKS.fullmatch(mark) for mark in marks):
        return None
    found = _Parts(months, weekdays)
    for number, part in enumerate(parts):
        if not found.take(part, marks[number]):
            return None
    return found.position(marks)


class _Parts:
    """What the words and numbers of one text say."""

    def __init__(self, months: Names, weekdays: Names) -> None:
        self._months, self._weekdays = months, weekdays
        self.form: list[str] = []
        self.year: int | None = None
        self.month: int | None = None
        self.weekday: int | None = None
        self.numbers: list[int] = []
        self.has_word = False

    def take(self, part: str, mark: str) -> bool:
        """Add a part that stands after `mark`; return whether it belongs to the calendar."""
        if part.isdigit():
            return self._take_number(part, mark)
        part = _bare(part)
        if part in self._months and self.month is None:
            self.month, name = self._months[part], "month"
        elif part in self._weekdays and self.weekday is None:
            self.weekday, name = self._weekdays[part], "weekday"
        elif part == _FEIRA:
            return True
        elif part in _PERIODS or (part in ("t", "z") and self.year is not None):
            self.has_word, name = True, part
        else:
            return False
        self.form.append(name)
        return True

    def position(self, marks: Sequence[str]) -> Position | None:
        """Return where the text is, year first."""
        year, numbers = self.year, list(self.numbers)
        if self.month is None and self.weekday is None and not self.has_word and year is None:
            return None
        if year is None and self.month is None and self.has_word and len(numbers) == 2:
            year = numbers.pop()
        if self.form[-1:] == ["year"] and self.month is None and len(numbers) == 2:
            if not all(mark == "." for mark in marks[1:-1]):
                return None  # 01/02/2026: day or month first
            numbers.reverse()
        month = () if self.month is None else (self.month,)
        weekday = () if self.weekday is None or month or numbers else (self.weekday,)
        years = () if year is None else (year,)
        is_cyclic = year is None and not _YEARS & set(self.form)
        return Position(tuple(self.form), (*years, *month, *weekday, *numbers), is_cyclic)

    def _take_number(self, part: str, mark: str) -> bool:
        number = int(part[:9])
        is_year = len(part) == 4 and _FIRST_YEAR <= number <= _LAST_YEAR
        is_short = self.month is not None and not self.numbers and len(part) == 2
        if is_short and (number > _TWO_DIGITS or mark in ("-", "/", "'", "\u2019")):
            is_year = True
        if is_year and self.year is None:
            self.year = number
            self.form.append("year")
        elif len(part) in (6, 8) and _FIRST_YEAR <= int(part[:4]) <= _LAST_YEAR and not self.form:
            self.year, rest = int(part[:4]), part[4:]
            self.numbers += [int(rest[n : n + 2]) for n in range(0, len(rest), 2)]
            self.form.append(f"year{len(part)}")
            return 0 < self.numbers[0] <= 12
        else:
            self.numbers.append(number)
            self.form.append("number")
        return True


@cache
def _names(language: str) -> tuple[Names, Names]:
    """Return the months and weekdays of a language by their names and the beginnings of these."""
    locale = Locale(language)
    months = _with_beginnings(locale.months, ("wide", "abbreviated"))
    weekdays = _with_beginnings(locale.days, ("wide", "abbreviated", "short"))
    months |= _OTHER_MONTHS.get(language, {})
    weekdays |= _OTHER_WEEKDAYS.get(language, {})
    return months, weekdays


def _with_beginnings(names: Mapping[str, Any], widths: Sequence[str]) -> dict[str, int]:
    """Return the numbers of names, and of beginnings that only one of them has."""
    found: dict[str, int] = {}
    beginnings: dict[str, set[int]] = {}
    for context, width in product(("format", "stand-alone"), widths):
        for number, name in names[context].get(width, {}).items():
            first = _PART.findall(_bare(name))[0]
            if first.isdigit():
                continue
            found[first] = number
            for length in range(_SHORTEST, len(first)):
                beginnings.setdefault(first[:length], set()).add(number)
    sure = {text: min(numbers) for text, numbers in beginnings.items() if len(numbers) == 1}
    return sure | found


def _bare(name: str) -> str:
    """Return a name in small letters, without accents and a point."""
    plain = unicodedata.normalize("NFD", name.lower())
    marks = "".join(sign for sign in plain if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFC", marks).rstrip(".")

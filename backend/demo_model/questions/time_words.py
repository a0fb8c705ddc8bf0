"""Years, quarters, months and periods in a question's words, alone and as ranges. Pure."""

from collections.abc import Sequence

from backend.demo_model.questions.times import Times, TimeSpan
from backend.demo_model.questions.tokens import Token
from backend.demo_model.questions.vocabulary import (
    JOINING,
    MONTHS,
    NUMBERS,
    OPENING,
    ORDINALS,
    RANGING,
)

_FIRST_YEAR, _LAST_YEAR = 1990, 2099
_PERIOD_WORDS_WORDS = "period periods month months p"
_PERIOD_WORDS = frozenset(_PERIOD_WORDS_WORDS.split())
_YEAR_WORDS_WORDS = "year years fy"
_YEAR_WORDS = frozenset(_YEAR_WORDS_WORDS.split())
_BEFORE_MAY_WORDS = (
    "in for of during since from to until till and or , - between before after except without "
    "excluding through only by vs versus against with about on compare"
)
_BEFORE_MAY = frozenset(_BEFORE_MAY_WORDS.split())
_AFTER_MAY_WORDS = "i we you it they be"
_AFTER_MAY = frozenset(_AFTER_MAY_WORDS.split())


class TimeWords:
    """Reads times from tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens

    def read(self, at: int, times: Times, *, exclude: bool) -> int:
        """Add the time at a position; return the number of tokens it takes, or 0."""
        last = self._last_months(at, times, exclude=exclude)
        if last:
            return last
        opening, length = self._opening(at)
        span, taken = self._span(at + length, times)
        if not taken or span is None:
            return 0
        end = at + length + taken
        is_range = self._plain(end) in RANGING or (
            opening == "between" and self._plain(end) == "and"
        )
        if is_range:
            last_span, more = self._span(end + 1, times)
            if more and last_span is not None and span.is_year and last_span.is_year:
                self._add_years(span, last_span, times, exclude=exclude)
                return end + 1 + more - at
            if more and last_span is not None:
                times.add(self._between(span, last_span, times), exclude=exclude)
                return end + 1 + more - at
        if opening == "between":
            return 0
        if opening:
            span = self._open(OPENING[opening], span, times)
        times.add(span, exclude=exclude)
        return end - at

    def _plain(self, at: int) -> str:
        return self.tokens[at].plain if 0 <= at < len(self.tokens) else "."

    def _opening(self, at: int) -> tuple[str, int]:
        if self._plain(at) == "between":
            return "between", 1
        if f"{self._plain(at)} {self._plain(at + 1)}" == "up to":
            return "up to", 2
        return (self._plain(at), 1) if self._plain(at) in OPENING else ("", 0)

    def _span(self, at: int, times: Times) -> tuple[TimeSpan | None, int]:
        """Return the time at a position, and its number of tokens."""
        if self._plain(at) == "the" and self._plain(at + 1) != "the":
            found, taken = self._span(at + 1, times)
            return found, taken + 1 if taken else 0
        if at < len(self.tokens) and self.tokens[at].kind == "month":
            first, second = self.tokens[at].plain.replace("/", "-").split("-")
            named = (first, second) if len(first) == 4 else (second, first)
            return TimeSpan((int(named[1]),), int(named[0])), 1
        periods, taken = self._periods(at, times)
        if taken:
            year, more = self._year_after(at + taken, times)
            return TimeSpan(periods, year), taken + more
        year, taken = self._year(at, times)
        return (TimeSpan(year=year), taken) if taken else (None, 0)

    def _periods(self, at: int, times: Times) -> tuple[tuple[int, ...], int]:
        word = self._plain(at)
        if word in MONTHS and self._is_month(at):
            return (MONTHS[word],), 1
        if word == "fiscal" and self._plain(at + 1) in _PERIOD_WORDS:
            periods, taken = self._periods(at + 1, times)
            return periods, taken + 1 if taken else 0
        if word in _PERIOD_WORDS:
            return self._listed_periods(at, times)
        return self._part_of_year(at, times)

    def _is_month(self, at: int) -> bool:
        if self._plain(at) not in ("may", "march", "mar"):
            return True
        if self._plain(at + 1) in _AFTER_MAY:
            return False
        return (
            self._plain(at - 1) in _BEFORE_MAY
            or self._is_number(at + 1)
            or self.tokens[at].written[:1].isupper()
        )

    def _is_number(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind == "number"

    def _listed_periods(self, at: int, times: Times) -> tuple[tuple[int, ...], int]:
        """Return periods by number: 3; 1, 2 and 4; 1 to 3."""
        periods: list[int] = []
        place = at + 1
        while self._is_number(place) and self._plain(place).isdecimal():
            number = int(self._plain(place))
            if periods and number > 12:
                break
            if not 1 <= number <= 12:
                times.problems.append(f"There is no period {number}; periods are 1 to 12.")
            is_end = periods and self._plain(place - 1) in RANGING
            periods += range(periods[-1] + 1, number + 1) if is_end else [number]
            place += 1
            joined = self._plain(place) in JOINING | RANGING
            if not joined or not self._is_number(place + 1):
                break
            if int(_digits(self._plain(place + 1))) > 12:
                break
            place += 1
        return tuple(periods), place - at if periods else 0

    def _part_of_year(self, at: int, times: Times) -> tuple[tuple[int, ...], int]:
        """Return a quarter or half: Q1, quarter 1, first quarter, 1st quarter, H2, second half."""
        word, after, third = (self._plain(at + n) for n in range(3))
        number, taken = 0, 0
        kind = ""
        if word in ("q", "quarter", "h") and self._is_number(at + 1):
            number, kind, taken = int(_digits(after)), word[0], 2
        elif word in ORDINALS and after in ("quarter", "half"):
            number, kind, taken = ORDINALS[word], after[0], 2
        elif (
            self._is_number(at)
            and after in ("st", "nd", "rd", "th")
            and third in ("quarter", "half")
        ):
            number, kind, taken = int(_digits(word)), third[0], 3
        if not taken:
            return (), 0
        if taken > 1 and self._plain(at + taken) == "of" and self._plain(at + taken + 1) == "the":
            taken += 3 if self._plain(at + taken + 2) == "year" else 0
        size, name = (3, "quarter") if kind == "q" else (6, "half")
        if not 1 <= number <= 12 // size:
            times.problems.append(f"There is no {name} {number} of a year.")
            return (0,), taken
        return tuple(range(size * (number - 1) + 1, size * number + 1)), taken

    def _year_after(self, at: int, times: Times) -> tuple[int | None, int]:
        """Return the year right after a month: March 2026, March of 2026, period 9 in 2026."""
        skipped = 1 if self._plain(at) in ("of", "in", ",", "/", "and") else 0
        if self._plain(at) in (",", "and"):
            return None, 0
        year, taken = self._year(at + skipped, times)
        return (year, skipped + taken) if taken else (None, 0)

    def _year(self, at: int, times: Times) -> tuple[int | None, int]:
        word = self._plain(at)
        if word == "fiscal" and self._plain(at + 1) in _YEAR_WORDS:
            year, taken = self._year(at + 1, times)
            return (year, taken + 1) if taken else (None, 0)
        if word in _YEAR_WORDS and self._is_number(at + 1):
            number = self._plain(at + 1)
            if number.isdecimal() and len(number) in (2, 4):
                return int(number) + (2000 if len(number) == 2 else 0), 2
        if not self._is_number(at) or not word.isdecimal() or len(word) != 4:
            return None, 0
        year = int(word)
        if not _FIRST_YEAR <= year <= _LAST_YEAR or self._is_company(word, times):
            return None, 0
        return year, 1

    def _is_company(self, word: str, times: Times) -> bool:
        """Return whether a number such as 2000 is probably a company's code rather than a year."""
        if times.catalogue is None:
            times.asks_catalogue = times.asks_catalogue or int(word) <= 2000
            return False
        known = times.catalogue.by_code("company_code", word)
        return known is not None and int(word) not in times.catalogue.years

    def _last_months(self, at: int, times: Times, *, exclude: bool) -> int:
        if self._plain(at) not in ("last", "past", "latest", "previous"):
            return 0
        number = str(NUMBERS.get(self._plain(at + 1), self._plain(at + 1)))
        if not number.isdecimal() or self._plain(at + 2) not in _PERIOD_WORDS:
            return 0
        times.last_months(max(1, min(int(number), 1_200)), exclude=exclude)
        return 3

    def _add_years(self, first: TimeSpan, last: TimeSpan, times: Times, *, exclude: bool) -> None:
        """Add each year of a range."""
        years = range(first.year or 0, (last.year or 0) + 1)
        if not years:
            times.problems.append("The time ends before it begins.")
        for year in years:
            times.add(TimeSpan(year=year), exclude=exclude)

    def _between(self, first: TimeSpan, last: TimeSpan, times: Times) -> TimeSpan:
        """Return all periods of a range, which may span several years."""
        if not first.periods or not last.periods:
            times.problems.append("Name both ends of the time alike: two months, or two years.")
            return TimeSpan()
        year = first.year or last.year
        if first.year and last.year and first.year != last.year:
            months = range(
                first.year * 100 + first.periods[0], last.year * 100 + last.periods[-1] + 1
            )
            return TimeSpan(months=_real_months(months, times))
        periods = tuple(range(first.periods[0], last.periods[-1] + 1))
        if not periods:
            times.problems.append("The time ends before it begins; name the years of both ends.")
        return TimeSpan(periods, year)

    def _open(self, operator: str, span: TimeSpan, times: Times) -> TimeSpan:
        """Return all times from a time on, or up to it."""
        if operator.startswith(">") and span.year:
            times.asks_catalogue = True
            posted = times.catalogue.posted_months if times.catalogue else []
            of_year = span.periods or (range(1, 13) if operator == ">" else (1,))
            start = span.year * 100 + (max(of_year) + 1 if operator == ">" else min(of_year))
            months = tuple(month for month in posted if month >= start)
            if times.catalogue and not months:
                times.problems.append("Nothing is posted in that time.")
            return TimeSpan(months=months)
        if not span.periods:
            times.problems.append(f"Name the years themselves rather than all up to {span.year}.")
            return span
        first, last = min(span.periods), max(span.periods)
        spans = {">=": (first, 12), ">": (last + 1, 12), "<=": (1, last), "<": (1, first - 1)}
        low, high = spans[operator]
        if low > high:
            times.problems.append("There is no period in that time.")
        return TimeSpan(tuple(range(low, high + 1)), span.year)


def _real_months(months: range, times: Times) -> tuple[int, ...]:
    found = tuple(m for m in months if 1 <= m % 100 <= 12) if len(months) <= 20_000 else ()
    if not found:
        times.problems.append("The time ends before it begins.")
    return found


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdecimal())[:6] or "0"

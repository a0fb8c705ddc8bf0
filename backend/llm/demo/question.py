"""Finds in a question what the demo model can look up: cost centres, years, periods. Pure."""

import re
from typing import Any

_MONTHS = "january february march april may june july august september october november december"
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS.split(), 1)}
_CENTRE = re.compile(r"\bcc[\s_-]*(\d{3,6})\b", re.IGNORECASE)
_PERIOD = re.compile(r"\b(?:period|month|p)\s*0?(\d{1,2})\b", re.IGNORECASE)
_QUARTER = re.compile(r"\bq(?:uarter\s*)?([1-4])\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(20\d\d)\b")
_ACCOUNT = re.compile(r"\b([1-9]\d{5})\b")


def find_centres(text: str) -> list[str]:
    """The cost centres named in the text, each once, in order."""
    return list(dict.fromkeys(f"CC-{digits}" for digits in _CENTRE.findall(text)))


def find_year(text: str) -> int | None:
    """The fiscal year named in the text."""
    found = _YEAR.search(_CENTRE.sub("", text))
    return int(found[1]) if found else None


def find_periods(text: str) -> list[int]:
    """The fiscal periods named in the text: by number, month or quarter."""
    quarters = [int(q) for q in _QUARTER.findall(text)]
    periods = [int(p) for p in _PERIOD.findall(text) if 1 <= int(p) <= 12]
    periods += [month for q in quarters for month in range(3 * q - 2, 3 * q + 1)]
    words = re.findall(r"[a-z]+", text.lower())
    # "may" is a month only after a word that dates something.
    dated = re.search(r"\b(?:in|for|of|during|since)\s+may\b", text.lower())
    periods += [
        _MONTH_NUMBERS[word]
        for word in words
        if word in _MONTH_NUMBERS and (word != "may" or dated)
    ]
    return sorted(set(periods))


def find_account(text: str) -> str | None:
    """The GL account number in the text."""
    found = _ACCOUNT.search(text)
    return found[1] if found else None


def find_topic(text: str) -> str:
    """The words for an account's name in 'total for travel in 2026': 'travel'."""
    found = re.search(
        r"\b(?:for|on|of)\s+(?:the\s+|our\s+)?([a-z][a-z &-]*?)"
        r"(?=\s+(?:in|for|during|of|costs?|expenses?|per|this|by|account)\b|[?.!,]|\s*\d|\s*$)",
        text.lower(),
    )
    return found[1].strip() if found else ""


def period_filters(text: str) -> dict[str, Any]:
    """Filters for the year and the periods that the text names."""
    filters: dict[str, Any] = {}
    year, periods = find_year(text), find_periods(text)
    if year:
        filters["fiscal_year"] = year
    if periods:
        filters["fiscal_period"] = periods[0] if len(periods) == 1 else periods
    return filters

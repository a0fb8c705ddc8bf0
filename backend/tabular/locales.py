"""Formats numbers and days for a locale; unknown locales get widely readable forms. Pure.

The locale is the browser's, such as `de-CH`.
"""

import re
from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale, UnknownLocaleError

NOTHING = "\u2013"  # an en dash
_ISO_DAY = "%Y-%m-%d"
_THOUSANDS = [3]  # digits of each group, from the decimal sign on
_LAKHS = [3, *[2] * 20]
_BEFORE_LAKHS = re.compile(r"(?<=\d)(?=(?:\d\d)*\d{3}$)")
_WEEK = (6, 0, 1, 2, 3, 4, 5)  # D3 begins with Sunday, Babel counts from Monday
_PARTS = {"y": "%Y", "M": "%m", "d": "%d"}
_PART = re.compile(r"([yMd])\1*")


@lru_cache(256)
def known(locale: str | None) -> Locale | None:
    """Return the locale, or else its language's; None if neither is known."""
    whole = (locale or "").replace("_", "-")
    for name in (whole, whole.partition("-")[0]):
        try:
            return Locale.parse(name, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return None


def known_zone(name: str | None) -> ZoneInfo | None:
    """Return the timezone; None if it is not known."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


@lru_cache(256)
def signs(locale: str | None) -> tuple[str, str]:
    """Return the thousands and decimal separators."""
    if (found := known(locale)) is None:
        return ",", "."
    symbols = found.number_symbols["latn"]
    return symbols["group"], symbols["decimal"]


@lru_cache(256)
def _has_lakhs(locale: str | None) -> bool:
    """Return whether the locale groups digits as 12,34,567."""
    found = known(locale)
    return found is not None and found.decimal_formats[None].grouping == (3, 2)


def chart_locale(locale: str | None) -> dict[str, object]:
    """Return what a chart's `config.locale` is, so that its axes are written for the locale."""
    return {"number": number_format(locale), "time": time_format(locale)}


def number_format(locale: str | None) -> dict[str, object]:
    """Return the locale's number format for D3 (https://d3js.org/d3-format#formatLocale)."""
    thousands, point = signs(locale)
    grouping = _LAKHS if _has_lakhs(locale) else _THOUSANDS
    return {"decimal": point, "thousands": thousands, "grouping": grouping, "currency": ["", ""]}


def time_format(locale: str | None) -> dict[str, object]:
    """Return the locale's time format for D3 (https://d3js.org/d3-time-format#timeFormatLocale)."""
    found = known(locale) or Locale("en")
    days, months = found.days["format"], found.months["format"]
    halves = found.day_periods["format"]["abbreviated"]
    return {
        "dateTime": "%x, %X",
        "date": _day_format(locale),
        "time": "%H:%M:%S",
        "periods": [halves["am"], halves["pm"]],
        "days": [days["wide"][day] for day in _WEEK],
        "shortDays": [days["abbreviated"][day] for day in _WEEK],
        "months": list(months["wide"].values()),
        "shortMonths": list(months["abbreviated"].values()),
    }


def write_number(
    value: float, locale: str | None, decimals: int | None = None, *, is_grouped: bool = True
) -> str:
    """Return a number formatted for the locale; without `decimals`, with all its decimals."""
    thousands, point = signs(locale)
    has_lakhs = is_grouped and _has_lakhs(locale)
    grouping = "," if is_grouped and not has_lakhs else ""
    if decimals is not None:
        text = f"{value:{grouping}.{decimals}f}"
    elif isinstance(value, int) or float(value).is_integer():
        text = f"{value:{grouping}.0f}"
    elif "e" in repr(float(value)):
        text = repr(float(value))
    else:
        text = f"{value:{grouping}.{len(repr(float(value)).partition('.')[2])}f}"
    if has_lakhs:
        whole, dot, rest = text.partition(".")
        text = f"{_BEFORE_LAKHS.sub(',', whole)}{dot}{rest}"
    return text.translate({ord(","): thousands, ord("."): point})


def write_day(value: str, locale: str | None) -> str:
    """Return an ISO 8601 date in the locale's format; any other text unchanged."""
    try:
        return f"{date.fromisoformat(value):{_day_format(locale)}}"
    except ValueError:
        return value


def write_moment(value: str, locale: str | None) -> str:
    """Return an ISO 8601 time with its day in the locale's format, and its clock part unchanged."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return value
    clock = value.partition("T")[2] or value.partition(" ")[2]
    return f"{when:{_day_format(locale)}} {clock}".rstrip()


@lru_cache(256)
def _day_format(locale: str | None) -> str:
    """Return the locale's short date for `strftime`: days and months of two digits, whole years."""
    if (found := known(locale)) is None:
        return _ISO_DAY
    pattern = found.date_formats["short"].pattern.replace("'", "")
    return _PART.sub(lambda part: _PARTS[part[1]], pattern)

"""Formats numbers and days for a locale; unknown locales get widely readable forms. Pure.

The locale is the browser's, such as `de-CH`.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import TypeVar

T = TypeVar("T")

NOTHING = "\u2013"  # an en dash
_NARROW = "\u202f"
# Thousands and decimal separators by language, and by locale where it differs.
_SIGNS = {
    "en": (",", "."),
    "ja": (",", "."),
    "zh": (",", "."),
    "ko": (",", "."),
    "de": (".", ","),
    "nl": (".", ","),
    "it": (".", ","),
    "es": (".", ","),
    "pt": (".", ","),
    "da": (".", ","),
    "tr": (".", ","),
    "de-ch": ("\u2019", "."),
    "it-ch": ("\u2019", "."),
    "fr-ch": (_NARROW, ","),
    "de-at": (_NARROW, ","),
    "es-mx": (",", "."),
    "fr": (_NARROW, ","),
    "sv": (_NARROW, ","),
    "nb": (_NARROW, ","),
    "fi": (_NARROW, ","),
    "pl": (_NARROW, ","),
    "cs": (_NARROW, ","),
    "ru": (_NARROW, ","),
}
_DAYS = {
    "en-us": "%m/%d/%Y",
    "en-gb": "%d/%m/%Y",
    "en-au": "%d/%m/%Y",
    "en-ie": "%d/%m/%Y",
    "de": "%d.%m.%Y",
    "da": "%d.%m.%Y",
    "nb": "%d.%m.%Y",
    "fi": "%d.%m.%Y",
    "pl": "%d.%m.%Y",
    "cs": "%d.%m.%Y",
    "ru": "%d.%m.%Y",
    "tr": "%d.%m.%Y",
    "fr": "%d/%m/%Y",
    "it": "%d/%m/%Y",
    "es": "%d/%m/%Y",
    "pt": "%d/%m/%Y",
    "nl": "%d-%m-%Y",
}
_ISO_DAY = "%Y-%m-%d"


def signs(locale: str | None) -> tuple[str, str]:
    """Return the thousands and decimal separators."""
    return _find(_SIGNS, locale) or (",", ".")


def number_format(locale: str | None) -> dict[str, object]:
    """Return the locale's number format for D3 (https://d3js.org/d3-format#formatLocale)."""
    thousands, point = signs(locale)
    return {"decimal": point, "thousands": thousands, "grouping": [3], "currency": ["", ""]}


def write_number(
    value: float, locale: str | None, decimals: int | None = None, *, is_grouped: bool = True
) -> str:
    """Return a number formatted for the locale; without `decimals`, with all its decimals."""
    thousands, point = signs(locale)
    grouping = "," if is_grouped else ""
    if decimals is not None:
        text = f"{value:{grouping}.{decimals}f}"
    elif isinstance(value, int) or float(value).is_integer():
        text = f"{value:{grouping}.0f}"
    elif "e" in repr(float(value)):
        text = repr(float(value))
    else:
        text = f"{value:{grouping}.{len(repr(float(value)).partition('.')[2])}f}"
    return text.translate({ord(","): thousands, ord("."): point})


def write_day(value: str, locale: str | None) -> str:
    """Return an ISO 8601 date in the locale's format; any other text unchanged."""
    try:
        return f"{date.fromisoformat(value):{_find(_DAYS, locale) or _ISO_DAY}}"
    except ValueError:
        return value


def write_moment(value: str, locale: str | None) -> str:
    """Return an ISO 8601 time with its day in the locale's format, and its clock part unchanged."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return value
    day = f"{when:{_find(_DAYS, locale) or _ISO_DAY}}"
    clock = value.partition("T")[2] or value.partition(" ")[2]
    return f"{day} {clock}".rstrip()


def _find(table: Mapping[str, T], locale: str | None) -> T | None:
    name = (locale or "").lower().replace("_", "-")
    return table.get(name) or table.get(name.partition("-")[0])

"""Days and instants of a chart: read as they are written, drawn in no zone but the one said. Pure.

Vega draws a time in the zone of whoever looks, unless it is told UTC. So clocks are drawn as if
they were UTC: a day is that of the table for everybody. Times with an offset are drawn in that
offset if all have the same, otherwise in UTC; the axis says which.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend.tabular.locales import time_format, write_day, write_moment

_TIME = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ].{4,40})?)?)?", re.DOTALL)
CYCLES = ("month", "quarter", "date")  # units without a year, which come again

Moment = datetime


@dataclass(frozen=True)
class Times:
    """The times of a column without a zone, None for those that cannot be drawn.

    `zone` is the one in which they are, "" for days and clocks that are written without one.
    """

    moments: Sequence[Moment | None]
    zone: str

    @property
    def unit(self) -> str:
        """The largest unit of which all are beginnings; "" if they have a clock."""
        known = [moment for moment in self.moments if moment is not None]
        if any((m.hour, m.minute, m.second, m.microsecond) != (0, 0, 0, 0) for m in known):
            return ""
        if len(set(known)) < 2 or any(m.day != 1 for m in known):
            return "yearmonthdate"
        return "year" if all(m.month == 1 for m in known) else "yearmonth"


def read_times(cells: Sequence[Any], type_name: str) -> Times | None:
    """Return the times of a column; None if its texts are no times."""
    is_typed = type_name.upper().startswith(("DATE", "TIMESTAMP"))
    found = [None if cell is None else _read(str(cell)) for cell in cells]
    missing = [cell for cell, time in zip(cells, found, strict=True) if time is None]
    if not is_typed and any(cell is not None for cell in missing):
        return None
    zones = {time.utcoffset() for time in found if time is not None}
    if zones <= {None}:
        zone = "UTC" if _is_instant(type_name) else ""
        return Times(found, zone)
    if len(zones) == 1:
        first = next(time for time in found if time is not None)
        zone = str(first.tzname())  # such as UTC-05:00
        return Times([time and time.replace(tzinfo=None) for time in found], zone)
    return Times([time and _in_utc(time) for time in found], "UTC")


def truncate(moment: Moment, unit: str) -> Moment:
    """Return the beginning of a moment's year, quarter, month or day."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return _BEGINNINGS[unit](day) if unit in _BEGINNINGS else moment


def position(moment: Moment, unit: str) -> tuple[int, ...]:
    """Return the place of a moment in time, or in its year or month for a unit that comes again."""
    if unit in CYCLES:
        return ({"month": moment.month, "quarter": _quarter(moment), "date": moment.day}[unit],)
    return truncate(moment, unit).timetuple()[:6]


def label(moment: Moment, unit: str, locale: str | None) -> str:
    """Return a moment as a table of the locale writes it, or its unit."""
    months: Any = time_format(locale)["shortMonths"]
    return _LABELS[unit](moment, months) if unit in _LABELS else _whole(moment, unit, locale)


def for_vega(moment: Moment) -> str:
    """Return a moment as Vega must read it, to be drawn by scales and units of UTC."""
    return f"{moment.isoformat()}Z"


def _read(text: str) -> Moment | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(f"{text}-01-01"[:10] if len(text) < 10 else text)
    except ValueError:
        return None


def _in_utc(moment: Moment) -> Moment:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None)


def _is_instant(type_name: str) -> bool:
    kind = type_name.upper()
    return kind.startswith("TIMESTAMPTZ") or ("TIME ZONE" in kind and "WITHOUT" not in kind)


def _quarter(moment: Moment) -> int:
    return (moment.month + 2) // 3


def _whole(moment: Moment, unit: str, locale: str | None) -> str:
    if unit == "yearmonthdate":
        return write_day(moment.date().isoformat(), locale)
    return write_moment(moment.isoformat(), locale)


_BEGINNINGS: Mapping[str, Callable[[Moment], Moment]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "yearquarter": lambda day: day.replace(month=3 * _quarter(day) - 2, day=1),
    "yearmonth": lambda day: day.replace(day=1),
    "yearmonthdate": lambda day: day,
}
_LABELS: Mapping[str, Callable[[Moment, Sequence[str]], str]] = {
    "year": lambda moment, _: f"{moment.year:04d}",
    "quarter": lambda moment, _: f"Q{_quarter(moment)}",
    "yearquarter": lambda moment, _: f"{moment.year:04d} Q{_quarter(moment)}",
    "month": lambda moment, months: months[moment.month - 1],
    "yearmonth": lambda moment, months: f"{months[moment.month - 1]} {moment.year:04d}",
    "date": lambda moment, _: str(moment.day),
}

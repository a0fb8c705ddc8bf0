"""Formats times for people: durations and moments. Pure."""

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from backend.tabular.locales import known, known_zone, write_day, write_number


def zone(name: str | None) -> tzinfo:
    """Return the viewer's timezone; UTC if the browser did not send one."""
    return known_zone(name) or ZoneInfo("UTC")


def duration(seconds: float, locale: str | None) -> str:
    """0.4 s, 12 s, 3 min 5 s, 2 h 10 min; in the locale's format: 0,4 s."""
    if seconds < 10:
        return f"{write_number(max(seconds, 0), locale, 1)} s"
    return whole_duration(seconds)


def whole_duration(seconds: float) -> str:
    """0 s, 12 s, 3 min 5 s, 2 h 10 min: for what is counting, in any locale."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(when: datetime, now: datetime, locale: str | None = None) -> str:
    """14:05, Yesterday 14:05, 3 Nov 14:05, 3 Nov 2024: in `now`'s timezone.

    An earlier day has the locale's format, where that is known: 03.11.2024 14:05.
    """
    local = when.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    clock = f"{local:%H:%M}"
    if days <= 0:
        return clock
    if days == 1:
        return f"Yesterday {clock}"
    if known(locale):
        return f"{write_day(local.date().isoformat(), locale)} {clock}"
    day = f"{local.day} {local:%b}"
    return f"{day} {clock}" if local.year == now.year else f"{day} {local.year}"

"""Formats times for people: durations, moments, and the groups of the session list. Pure."""

from collections.abc import Iterable
from datetime import date, datetime, tzinfo
from zoneinfo import ZoneInfo

from backend.schemas.conversations.sessions import Session
from backend.tabular.locales import known, known_zone, write_day, write_number

PINNED = "Pinned"


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


def day_group(when: date, today: date) -> str:
    """Today, Yesterday, Previous 7 days, Previous 30 days, or the month."""
    days = (today - when).days
    for limit, name in ((0, "Today"), (1, "Yesterday"), (7, "Previous 7 days")):
        if days <= limit:
            return name
    if days <= 30:
        return "Previous 30 days"
    return f"{when:%B}" if when.year == today.year else f"{when:%B %Y}"


def grouped(sessions: Iterable[Session], now: datetime) -> list[tuple[str, list[Session]]]:
    """Return the sessions by group, in the order of their first sessions; pinned ones first."""
    groups: dict[str, list[Session]] = {PINNED: []}
    for session in sessions:
        groups.setdefault(_group(session, now), []).append(session)
    return [(name, found) for name, found in groups.items() if found]


def _group(session: Session, now: datetime) -> str:
    if session.pinned:
        return PINNED
    return day_group(session.updated_at.astimezone(now.tzinfo).date(), now.date())

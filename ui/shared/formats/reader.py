"""Formats numbers and times for the reader of the page: by the browser's locale and zone."""

from datetime import date, datetime

import streamlit as st

from backend.tabular.locales import chart_locale, write_day, write_number
from ui.shared.formats import times


def number(value: float, decimals: int = 0) -> str:
    """Return a number with the reader's thousands and decimal separators."""
    return write_number(value, st.context.locale, decimals)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2,000 rows."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def vega_config() -> dict[str, object]:
    """Return the part of a chart's specification that formats numbers and times for the reader."""
    return {"locale": chart_locale(st.context.locale)}


def day(value: date) -> str:
    """Return a day in the reader's format."""
    return write_day(value.isoformat(), st.context.locale)


def duration(seconds: float) -> str:
    """Return a duration in the reader's format: 0.4 s, 12 s, 3 min 5 s."""
    return times.duration(seconds, st.context.locale)


def moment(when: datetime) -> str:
    """Return a moment in the reader's zone: 14:05, Yesterday 14:05, 03.11.2024 14:05."""
    now = datetime.now(times.zone(st.context.timezone))
    return times.moment(when, now, st.context.locale)


def day_and_time(when: datetime) -> str:
    """Return a moment with its day, in the reader's zone and format: 28.11.2026, 14:05."""
    local = when.astimezone(times.zone(st.context.timezone))
    return f"{day(local.date())}, {local:%H:%M}"

"""Formats numbers and times for the reader of the page: by the browser's locale and zone."""

from datetime import date, datetime

import streamlit as st

from ui.shared.formats import times
from ui.shared.formats.locales import number_format, time_format, write_day, write_number


def number(value: float, decimals: int = 0) -> str:
    """Return a number with the reader's thousands and decimal separators."""
    return write_number(value, st.context.locale, decimals)


def vega_config() -> dict[str, object]:
    """Return the part of a chart's specification that formats numbers and times for the reader."""
    locale = st.context.locale
    return {"locale": {"number": number_format(locale), "time": time_format(locale)}}


def day(value: date) -> str:
    """Return a day in the reader's format."""
    return write_day(value.isoformat(), st.context.locale)


def moment(when: datetime) -> str:
    """Return a moment in the reader's zone: 14:05, Yesterday 14:05, 03.11.2024 14:05."""
    now = datetime.now(times.zone(st.context.timezone))
    return times.moment(when, now, st.context.locale)

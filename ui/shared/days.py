"""The field for a range of days by which a list is filtered."""

from collections.abc import Callable
from datetime import datetime, time, timedelta

import streamlit as st

from ui.shared.formats.times import zone


def field(key: str, on_change: Callable[[], None]) -> tuple[datetime | None, datetime | None]:
    """Draw the field; return the first moment of the first day, and that after the last one.

    Days are those of the reader. One day alone has no end.
    """
    chosen = st.date_input("Days", [], key=key, format="YYYY-MM-DD", on_change=on_change, width=240)
    if not isinstance(chosen, tuple) or not chosen:
        return None, None
    here = zone(st.context.timezone)
    since = datetime.combine(chosen[0], time(), here)
    if len(chosen) == 1:
        return since, None
    return since, datetime.combine(chosen[-1] + timedelta(days=1), time(), here)

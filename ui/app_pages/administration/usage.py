"""Usage: tokens and cost by domain, person, model or day; members see their own only."""

import streamlit as st

from backend.schemas.people.rights import Permission
from backend.schemas.usage import UsageBy
from ui import state
from ui.features.usage import report as usage_report
from ui.features.usage.calls import get_usage

DAYS = (7, 30, 90)

server = state.server()
st.set_page_config(page_title="Usage · Colloquy", layout="wide")
st.title("Usage", anchor=False)
sees_all = Permission.SEE_ALL_USAGE in server.permissions
whose = "All people" if sees_all else "Your usage"
st.caption(f"{whose} · A day begins and ends at midnight UTC.")

names = usage_report.NAMES
choices = [by for by in names if by is not UsageBy.OWNER or sees_all]
with st.container(horizontal=True, vertical_alignment="bottom"):
    by = st.segmented_control(
        "By", choices, key="usage-by", default=UsageBy.DOMAIN, format_func=names.__getitem__,
        required=True,
    )  # fmt: skip
    days = st.segmented_control(
        "Days", DAYS, key="usage-days", default=30, format_func=str, required=True
    )
usage_report.show(get_usage(state.client(), days or 30, by or UsageBy.DOMAIN))

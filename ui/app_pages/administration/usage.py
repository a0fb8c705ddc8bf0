"""Usage: tokens and cost by domain, person, team, model or day; members see their own only."""

import streamlit as st

from backend.schemas.people.rights import Permission
from backend.schemas.usage import UsageBy
from ui import state
from ui.features.usage import budgets, filters, own
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
hidden = set() if server.has_accounts else {UsageBy.TEAM}
if not sees_all:
    hidden.add(UsageBy.OWNER)
with st.container(horizontal=True, vertical_alignment="bottom"):
    by = st.segmented_control(
        "By", [one for one in names if one not in hidden], key="usage-by",
        default=UsageBy.DOMAIN, format_func=names.__getitem__, required=True,
    )  # fmt: skip
    days = st.segmented_control(
        "Days", DAYS, key="usage-days", default=30, format_func=str, required=True
    )
wanted = filters.show(days or 30, hidden)
usage_report.show(get_usage(state.client(), days or 30, by or UsageBy.DOMAIN, wanted))
if server.has_accounts:
    own.show()
    if Permission.MANAGE_PEOPLE in server.permissions:
        budgets.show()

"""Usage over days: the total, a chart, a table with its download, and the domains' budgets."""

import csv
import io
from datetime import timedelta
from typing import Any

import pandas as pd
import streamlit as st

from backend.schemas.usage import DomainBudgets, UsageBy, UsageReport, UsageRow
from backend.tabular.csv_text import as_field
from ui.features.usage import words as usage_words
from ui.shared import downloads
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

NAMES = {
    UsageBy.DAY: "Day",
    UsageBy.OWNER: "Person",
    UsageBy.TEAM: "Team",
    UsageBy.DOMAIN: "Domain",
    UsageBy.MODEL: "Model",
}
COUNTED = ("Turns", "Model calls", "Tokens in", "Cached", "Tokens out", "Thinking")
FORMATS = {
    **dict.fromkeys(COUNTED, st.column_config.NumberColumn(format="localized")),
    "Cost": st.column_config.NumberColumn(format="localized", step=0.0001),
}
NO_TEAM = "No team"


def show(report: UsageReport) -> None:
    """Draw a report."""
    _total(report.total)
    if report.unpriced:
        st.caption(
            f"There is no price for {plain(', '.join(report.unpriced), 300)}."
            " Usage without a price counts as cost 0."
        )
    if report.unreported:
        st.caption(usage_words.unreported(report.unreported))
    if report.items:
        _chart(report)
        _table(report)
    else:
        st.caption("No usage in this period.")
    if report.domains:
        st.subheader("Budgets this month", anchor=False)
        _budgets(report.domains)


def as_csv(report: UsageReport) -> str:
    """Return the table as CSV; names that a spreadsheet would run as formulas are escaped."""
    file = io.StringIO()
    has_ids = report.by in (UsageBy.OWNER, UsageBy.TEAM)
    rows = [_cells(row, report.by) | ({"Id": row.key} if has_ids else {}) for row in report.items]
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: as_field(value) for name, value in row.items()})
    return file.getvalue()


def _total(total: UsageRow) -> None:
    with st.container(horizontal=True):
        st.metric("Turns", f"{reader.number(total.turns)}")
        st.metric("Tokens in", f"{reader.number(total.input_tokens)}")
        st.metric("Tokens out", f"{reader.number(total.output_tokens)}")
        st.metric("Cost", usage_words.cost(total.cost))


def _chart(report: UsageReport) -> None:
    """Draw cost by day, or tokens if nothing has a cost; days without usage are included."""
    figure = "Cost" if report.total.cost else "Tokens"
    used = {day.day: day.cost if report.total.cost else day.tokens for day in report.days}
    days = [report.since + timedelta(n) for n in range((report.until - report.since).days + 1)]
    values = [used.get(day, 0) for day in days]
    frame = pd.DataFrame({"Day": [reader.day(day) for day in days], figure: values})
    x = {"field": "Day", "type": "ordinal", "sort": None, "title": None}
    drawn = {"mark": "bar", "encoding": {"x": x, "y": {"field": figure, "type": "quantitative"}}}
    # Not `st.bar_chart`, which writes numbers as in English.
    st.vega_lite_chart(
        frame, {**drawn, "config": reader.vega_config()}, height=200, alt=f"{figure} by day"
    )


def _table(report: UsageReport) -> None:
    st.dataframe(
        [_cells(row, report.by) for row in report.items],
        hide_index=True,
        width="stretch",
        column_config=FORMATS,
    )
    downloads.text(
        f"Download by {NAMES[report.by].lower()}, as CSV",
        as_csv(report),
        f"usage-by-{report.by}-{report.since}-{report.until}.csv",
        "usage-csv",
    )


def _cells(row: UsageRow, by: UsageBy) -> dict[str, Any]:
    figures = (
        row.turns,
        row.model_calls,
        row.input_tokens,
        row.cached_tokens,
        row.output_tokens,
        row.reasoning_tokens,
    )
    return {
        NAMES[by]: row.name or NO_TEAM,
        **dict(zip(COUNTED, figures, strict=True)),
        "Cost": row.cost,
    }


def _budgets(domains: list[DomainBudgets]) -> None:
    for domain in domains:
        for budget in domain.budgets:
            words = usage_words.budget(budget).partition(": ")[2]
            st.progress(usage_words.share(budget), text=f"{plain(domain.domain, 80)}: {words}")

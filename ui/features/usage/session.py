"""A session's usage, in its header; read only when opened."""

from typing import Any

import streamlit as st

from backend.schemas.conversations.sessions import Session
from backend.schemas.usage import SessionUsage, UsageOfTurn
from ui import navigation, state
from ui.client import ClientError
from ui.features.usage import words as usage_words
from ui.features.usage.calls import get_session_usage
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

FORMATS = {
    "In": st.column_config.NumberColumn(format="localized"),
    "Out": st.column_config.NumberColumn(format="localized"),
    "Cost": st.column_config.NumberColumn(format="localized", step=0.0001),
    "Latest turns": st.column_config.TextColumn(width="medium"),
}


def show(session: Session) -> None:
    """Draw the button and, once opened, the figures."""
    box = st.popover(
        "Usage", icon=":material/data_usage:", type="tertiary", key=f"usage-{session.id}",
        on_change="rerun", help="Tokens and cost of this session",
    )  # fmt: skip
    if not box.open:
        return
    with box:
        try:
            _draw(get_session_usage(state.client(), session.id))
        except ClientError as problem:
            st.error(f"**{problem.title}**  \n{problem.detail}")


def _draw(used: SessionUsage) -> None:
    if not used.turns:
        st.caption("No usage yet.")
    else:
        st.markdown(usage_words.usage(used.total))
    if len(used.models) > 1:
        for model in used.models:
            st.caption(f"{plain(model.model, 60)}: {usage_words.usage(model)}")
    if unpriced := [model.model for model in used.models if not model.has_price]:
        st.caption(f"No price is set for {plain(', '.join(unpriced), 200)}.")
    if unreported := [model.model for model in used.models if model.is_unreported]:
        st.caption(usage_words.unreported(unreported))
    for budget in used.budgets:
        st.progress(usage_words.share(budget), text=usage_words.budget(budget))
    if used.latest:
        st.dataframe(
            [_row(one, has_cost=bool(used.total.cost)) for one in used.latest],
            hide_index=True,
            column_config=FORMATS,
        )
    st.caption("The inspector shows each model call.")
    st.page_link(navigation.USAGE_PAGE, label="Usage of all sessions", icon=":material/bar_chart:")


def _row(turn: UsageOfTurn, *, has_cost: bool) -> dict[str, Any]:
    return {
        "In": turn.usage.input_tokens,
        "Out": turn.usage.output_tokens,
        **({"Cost": turn.usage.cost} if has_cost else {}),
        "Took": reader.duration(turn.seconds) if turn.seconds is not None else "",
        "Latest turns": turn.message,
    }

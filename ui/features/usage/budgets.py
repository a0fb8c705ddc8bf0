"""The daily budgets of people and teams: listed, set and removed, by administrators."""

from collections.abc import Mapping

import streamlit as st

from backend.schemas.people.rights import PrincipalType
from backend.schemas.usage import MAX_TOKENS_PER_DAY, Budgets, DayBudgetInput, SetBudget
from ui import state
from ui.client import ClientError
from ui.features.usage import calls, words
from ui.shared.formats import reader

KINDS = {PrincipalType.TEAM: "Team", PrincipalType.USER: "Person"}
KIND, FIND = "budget-kind", "budget-find"
LIMITS = ("tokens", "cost")
FORMATS = {
    name: st.column_config.NumberColumn(format="localized")
    for name in ("Tokens a day", "Used", "Cost a day", "Cost used")
}


def show() -> None:
    """Draw the table, and the fields that set one budget."""
    budgets = calls.list_budgets(state.client())
    st.subheader("Daily budgets", anchor=False)
    st.caption(
        f"{_default(budgets.default)} A team's budget counts what everybody uses in its sessions."
    )
    if budgets.items:
        st.dataframe(
            [_row(one) for one in budgets.items],
            hide_index=True,
            width="stretch",
            column_config=FORMATS,
        )
    _fields(budgets)


def _default(default: DayBudgetInput) -> str:
    limits = []
    if default.tokens is not None:
        limits.append(f"{reader.number(default.tokens)} tokens (USER_TOKENS_PER_DAY)")
    if default.cost is not None:
        limits.append(f"cost {words.cost(default.cost)} (USER_COST_PER_DAY)")
    if not limits:
        return "People without a budget here are not limited."
    return f"People without a budget here may use a day: {', '.join(limits)}."


def _row(one: SetBudget) -> Mapping[str, str | float | None]:
    return {
        "Whose": one.name,
        "": KINDS[one.principal_type],
        "Tokens a day": one.tokens,
        "Used": one.used_tokens,
        "Cost a day": one.cost,
        "Cost used": one.used_cost,
    }


def _fields(budgets: Budgets) -> None:
    kind = st.segmented_control(
        "Budget of a", list(KINDS), key=KIND, default=PrincipalType.TEAM,
        format_func=KINDS.__getitem__, required=True,
    )  # fmt: skip
    kind = kind or PrincipalType.TEAM
    names = calls.list_teams(state.client()) if kind is PrincipalType.TEAM else _people()
    chosen = st.selectbox(
        KINDS[kind],
        list(names),
        key=f"budget-of-{kind}",
        index=None,
        format_func=lambda one: names.get(one, one),
        placeholder="Choose a team" if kind is PrincipalType.TEAM else "Choose a person",
    )
    if chosen is None:
        return
    held = next(
        (one for one in budgets.items if (one.principal_type, one.principal_id) == (kind, chosen)),
        None,
    )
    _limits(kind, chosen, held)


def _people() -> Mapping[str, str]:
    sought = st.text_input("Find a person", key=FIND, placeholder="Name, login or address")
    return calls.find_people(state.client(), sought)


def _limits(kind: PrincipalType, chosen: str, held: SetBudget | None) -> None:
    of = f"{kind}-{chosen}"
    with st.container(horizontal=True):
        st.number_input(
            "Tokens a day", min_value=1, max_value=MAX_TOKENS_PER_DAY, step=1_000,
            value=held.tokens if held else None,
            key=f"budget-tokens-{of}", placeholder="Unlimited",
        )  # fmt: skip
        st.number_input(
            "Cost a day", min_value=0.0, max_value=1e12, step=1.0,
            value=held.cost if held else None,
            key=f"budget-cost-{of}", placeholder="Unlimited",
        )  # fmt: skip
    with st.container(horizontal=True):
        st.button(
            "Save budget", key="save-budget", type="primary", icon=":material/save:",
            on_click=_save, args=(kind, chosen),
        )  # fmt: skip
        if held is not None:
            st.button(
                "Remove budget", key="remove-budget", icon=":material/delete:",
                on_click=_remove, args=(kind, chosen),
            )  # fmt: skip


def _save(kind: PrincipalType, chosen: str) -> None:
    """Save what is in the fields by now: it may have been written after they were drawn."""
    tokens, cost = (st.session_state[f"budget-{name}-{kind}-{chosen}"] for name in LIMITS)
    with state.flashing():
        if cost == 0:
            raise ClientError("A cost of 0", "A budget is more than 0; leave it out for no limit.")
        new = DayBudgetInput(tokens=tokens, cost=cost)
        calls.set_budget(state.client(), kind, chosen, new)
        state.say("Budget saved.")


def _remove(kind: PrincipalType, chosen: str) -> None:
    with state.flashing():
        calls.remove_budget(state.client(), kind, chosen)
        for name in LIMITS:
            st.session_state.pop(f"budget-{name}-{kind}-{chosen}", None)
        state.say("Budget removed.")

"""What models cost: the prices that are set here or by the environment, and fields to set one."""

from collections.abc import Mapping

import streamlit as st

from backend.schemas.connections import (
    MAX_PRICE,
    ModelPrice,
    PriceSource,
)
from ui import state
from ui.features.models import calls

MODEL = "price-model"
FIELDS = ("Input", "Cached input", "Output")
RULE = (
    "Per million tokens, in any one currency. A price set here comes before MODEL_PRICES of the"
    " environment, and holds for what is used from now on; what was used keeps its cost."
)
FORMATS = {
    name: st.column_config.NumberColumn(format="localized", step=0.0001)
    for name in ("Input", "Cached input", "Output")
}


def show(default_model: str) -> None:
    """Draw the table, and the fields that set the price of one model."""
    found = calls.list_prices(state.client()).items
    st.subheader("Prices", anchor=False)
    st.caption(RULE)
    if found:
        st.dataframe(
            [_row(one) for one in found], hide_index=True, width="stretch", column_config=FORMATS
        )
    prices = {one.model: one for one in found}
    known = dict.fromkeys([*prices, default_model, st.session_state.get(MODEL)])
    model = st.selectbox(
        "Model",
        [name for name in known if name],
        key=MODEL,
        index=None,
        accept_new_options=True,
        placeholder="Choose a model, or type its name",
    )
    if model:
        _fields(model, prices.get(model))


def _row(one: ModelPrice) -> Mapping[str, str | float | None]:
    return {
        "Model": one.model,
        "Input": one.input,
        "Cached input": one.cached,
        "Output": one.output,
        "Set": _source(one),
    }


def _source(one: ModelPrice) -> str:
    if one.source is PriceSource.ENVIRONMENT:
        return "by the environment"
    by = f"here by {one.saved_by}"
    return f"{by}, instead of the environment's" if one.replaces_environment else by


def _fields(model: str, held: ModelPrice | None) -> None:
    with st.container(horizontal=True):
        _number("Input", model, held.input if held else None)
        _number("Cached input", model, held.cached if held else None, "As input")
        _number("Output", model, held.output if held else None)
    with st.container(horizontal=True):
        st.button(
            "Save price", key="save-price", type="primary", icon=":material/save:",
            on_click=_save, args=(model,),
        )  # fmt: skip
        if held is not None and held.source is PriceSource.PAGE:
            st.button(
                "Remove price", key="remove-price", icon=":material/undo:",
                help="The environment's price holds again."
                if held.replaces_environment
                else "The model costs nothing then.",
                on_click=_remove, args=(model,),
            )  # fmt: skip


def _number(label: str, model: str, value: float | None, empty: str = "0") -> None:
    st.number_input(
        label, min_value=0.0, max_value=MAX_PRICE, value=value, format="%.4g",
        key=f"price-{label}-{model}", placeholder=empty,
    )  # fmt: skip


def _save(model: str) -> None:
    """Save what is in the fields by now: it may have been written after they were drawn."""
    entered, cached, output = (st.session_state[f"price-{label}-{model}"] for label in FIELDS)
    price = {"model": model, "input": entered or 0.0, "cached": cached, "output": output or 0.0}
    with state.flashing():
        calls.set_price(state.client(), price)
        state.say("Price saved.")


def _remove(model: str) -> None:
    with state.flashing():
        calls.remove_price(state.client(), model)
        for label in FIELDS:
            st.session_state.pop(f"price-{label}-{model}", None)
        state.say("Price removed.")

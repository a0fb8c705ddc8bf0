"""The fields of a decision that needs input: other arguments, a reason, an answer."""

import json
from collections.abc import Callable

import streamlit as st

from backend.schemas.approvals import DecisionType
from ui.features.approvals import decision
from ui.features.approvals.decision import field_key
from ui.features.approvals.fields import ABSENT, JSON_FIELD, Field, fields_of
from ui.features.approvals.state import deciding
from ui.features.approvals.view import ApprovalView
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

AREA_HEIGHT = 68
JSON_HEIGHT = 200


def show(call: ApprovalView, kind: DecisionType) -> None:
    """Draw the fields of one kind of decision, with buttons to send it and to go back."""
    draw, label, send = FORMS[kind]
    draw(call)
    with st.container(horizontal=True):
        st.button(
            label, key=field_key(call, "send"), type="primary", on_click=send, args=(call,)
        )  # fmt: skip
        st.button(
            "Back",
            key=field_key(call, "back"),
            type="tertiary",
            on_click=decision.begin,
            args=(call, None),
        )


def _arguments(call: ApprovalView) -> None:
    fields = fields_of(call)
    if fields is None:
        _area(call, JSON_FIELD, "Arguments as JSON", lay_out(call.arguments), JSON_HEIGHT)
        return
    for number, field in enumerate(fields):
        _argument(field, field_key(call, f"argument{number}"))
        _error(call, field.name)


def _argument(field: Field, key: str) -> None:
    label = plain(field.name) + ("" if field.is_required else " (optional)")
    help_text = plain(field.help) if field.help else None
    if field.choices:
        st.selectbox(
            label,
            field.choices,
            index=field.choices.index(field.text),
            format_func=_choice,
            key=key,
            help=help_text,
            persist_state="session",
        )
    elif field.kind == "string":
        st.text_area(
            label, field.text, "content", key=key, help=help_text, persist_state="session"
        )  # fmt: skip
    else:
        st.text_input(label, field.text, key=key, help=help_text, persist_state="session")


def _choice(option: str) -> str:
    if option == ABSENT:
        return "not given"
    value = json.loads(option)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _reason(call: ApprovalView) -> None:
    _area(call, "reason", "Reason, shown to the agent (optional)")


def _answer(call: ApprovalView) -> None:
    _area(call, "answer", "Result for the agent, instead of running the call")


def _area(
    call: ApprovalView, name: str, label: str, text: str = "", height: int = AREA_HEIGHT
) -> None:
    st.text_area(label, text, height, key=field_key(call, name), persist_state="session")
    _error(call, name)


def _error(call: ApprovalView, name: str) -> None:
    if reason := deciding(call.approval_id).errors.get(name):
        st.markdown(f":red[:material/error: {plain(reason)}]")


FORMS: dict[
    DecisionType, tuple[Callable[[ApprovalView], None], str, Callable[[ApprovalView], None]]
] = {
    DecisionType.EDIT: (_arguments, "Run with these arguments", decision.edit),
    DecisionType.REJECT: (_reason, "Reject this call", decision.reject),
    DecisionType.RESPOND: (_answer, "Send as the result", decision.respond),
}

"""Decides on calls, in callbacks: what was typed is kept until the service has accepted it."""

from collections.abc import Iterable
from contextlib import suppress

import httpx

from backend.schemas.approvals import (
    MAX_MESSAGE_CHARS,
    ApprovalStatus,
    Decision,
    DecisionType,
    EditedAction,
)
from backend.types import JSON
from ui import state
from ui.client import ClientError
from ui.features.approvals.calls import decide_call, get_approval
from ui.features.approvals.fields import JSON_FIELD, fields_of, read_fields, read_json
from ui.features.approvals.state import deciding, is_ticked, typed
from ui.features.approvals.view import ApprovalView
from ui.shared.text.json_text import lay_out

NO_ANSWER = "Enter the result for the agent."
TOO_LONG = "It has {:,} characters; the maximum is {:,}. Shorten it."


def field_key(call: ApprovalView, name: str) -> str:
    """Return the key of a field on a call's card."""
    return f"call-{name}-{call.approval_id}"


def begin(call: ApprovalView, kind: DecisionType | None) -> None:
    """Open the fields of a decision; None closes them and keeps their text."""
    held = deciding(call.approval_id)
    held.kind, held.problem = kind, None
    held.errors.clear()


def approve(call: ApprovalView) -> None:
    """Let the call run as shown."""
    remember = is_ticked(field_key(call, "remember"))
    _decide(call, Decision(type=DecisionType.APPROVE, remember=remember))


def approve_all(calls: Iterable[ApprovalView]) -> None:
    """Approve each of these calls that may be approved."""
    for call in calls:
        if DecisionType.APPROVE in call.allowed:
            approve(call)


def edit(call: ApprovalView) -> None:
    """Let the call run with the edited arguments, if they are valid."""
    arguments, errors = _written(call)
    deciding(call.approval_id).errors = errors
    if not errors:
        action = EditedAction(name=call.name, args=arguments)
        _decide(call, Decision(type=DecisionType.EDIT, edited_action=action))


def reject(call: ApprovalView) -> None:
    """Refuse the call, and tell the agent why."""
    reason = typed(field_key(call, "reason")).strip()
    if _is_accepted(call, "reason", reason):
        _decide(call, Decision(type=DecisionType.REJECT, message=reason or None))


def respond(call: ApprovalView) -> None:
    """Do not run the call; give the agent the typed text as its result."""
    answer = typed(field_key(call, "answer"))
    if _is_accepted(call, "answer", answer, "" if answer.strip() else NO_ANSWER):
        _decide(call, Decision(type=DecisionType.RESPOND, message=answer))


def _is_accepted(call: ApprovalView, name: str, text: str, fault: str = "") -> bool:
    """Return whether a text has no fault and is not too long; if not, keep why for its field."""
    if len(text) > MAX_MESSAGE_CHARS:
        fault = TOO_LONG.format(len(text), MAX_MESSAGE_CHARS)
    deciding(call.approval_id).errors = {name: fault} if fault else {}
    return not fault


def _written(call: ApprovalView) -> tuple[JSON, dict[str, str]]:
    fields = fields_of(call)
    if fields is None:
        return read_json(typed(field_key(call, JSON_FIELD), lay_out(call.arguments)))
    keys = {field.name: field_key(call, f"argument{n}") for n, field in enumerate(fields)}
    return read_fields(
        fields, {field.name: typed(keys[field.name], field.text) for field in fields}
    )


def _decide(call: ApprovalView, decision: Decision) -> None:
    """Send the decision once: the second click of a double click finds the call ended."""
    held = deciding(call.approval_id)
    if held.ended is not None:
        return
    decision.arguments_hash = call.arguments_hash
    try:
        held.ended, held.problem = decide_call(state.client(), call.approval_id, decision), None
    except ClientError as problem:
        held.problem = problem
        if problem.status == httpx.codes.CONFLICT:
            _take_what_became_of_it(call)


def _take_what_became_of_it(call: ApprovalView) -> None:
    with suppress(ClientError):
        approval = get_approval(state.client(), call.approval_id)
        if approval.status is not ApprovalStatus.PENDING:
            deciding(call.approval_id).ended = approval

"""Checking decisions: which ones a call allows, and edited arguments by the tool's schema."""

from collections.abc import Sequence

from backend.errors.approvals import ArgumentsChanged
from backend.errors.base import InvalidInput
from backend.sandbox.errors import SandboxBusy, SandboxError
from backend.sandbox.sandbox import Sandbox
from backend.schemas.approvals import ApprovalStatus, Decision, DecisionType
from backend.tools.validation import BOUNDS, find_misfit
from backend.types import JSON
from colloquy_kit.messages.clean import clean, clean_text
from db.models.turns.approval import ApprovalRow

TAKES: dict[DecisionType, frozenset[str]] = {
    DecisionType.APPROVE: frozenset({"remember"}),
    DecisionType.EDIT: frozenset({"edited_action", "args"}),
    DecisionType.REJECT: frozenset({"message"}),
    DecisionType.RESPOND: frozenset({"message"}),
}
UNCHECKED = (
    "Whether these arguments fit {tool} could not be checked within {seconds:g} seconds, so "
    "nothing was changed. Send simpler ones, or approve or reject the call."
)


def check_decision(row: ApprovalRow, decision: Decision) -> JSON:
    """Return the decision in its stored form, in LangChain's terms.

    Raise InvalidInput when this call does not allow it, ArgumentsChanged when it was made on other
    arguments than those that would run.
    """
    if decision.arguments_hash not in (None, row.arguments_hash):
        raise ArgumentsChanged
    allowed = row.request["allowed_decisions"]
    if decision.type not in allowed:
        raise InvalidInput(
            f"{decision.type.capitalize()} is not allowed for {row.tool}; it takes "
            f"{' or '.join(allowed)}."
        )
    given = decision.model_fields_set - {"type", "arguments_hash"}
    given = {name for name in given if getattr(decision, name) not in (None, False)}
    if surplus := given - TAKES[decision.type]:
        raise InvalidInput(f"{decision.type.capitalize()} takes no {' and no '.join(surplus)}.")
    return {"type": decision.type.value, **_DETAILS[decision.type](row, decision)}


def refuse_misfits(
    sandbox: Sandbox, rows: Sequence[ApprovalRow], decisions: Sequence[Decision], key: str
) -> None:
    """Check edited arguments by their tools' schemas. This may take seconds: hold no lock.

    Raise what `check_decision` raises, and InvalidInput if they do not fit. `key`: the caller.
    """
    for row, decision in zip(rows, decisions, strict=False):
        if row.status != ApprovalStatus.PENDING:
            continue
        if edited := check_decision(row, decision).get("edited_action"):
            _refuse_misfit(sandbox, row, edited["args"], key)


def _refuse_misfit(sandbox: Sandbox, row: ApprovalRow, arguments: JSON, key: str) -> None:
    schema = row.request["args_schema"]
    try:
        reason = sandbox.run_blocking(find_misfit, schema, arguments, bounds=BOUNDS, key=key)
    except SandboxBusy:
        raise
    except SandboxError:
        raise InvalidInput(UNCHECKED.format(tool=row.tool, seconds=BOUNDS.seconds)) from None
    if reason:
        raise InvalidInput(f"These arguments do not fit {row.tool}: {reason}")


def _approve(_: ApprovalRow, decision: Decision) -> JSON:
    return {"remember": True} if decision.remember else {}


def _edit(row: ApprovalRow, decision: Decision) -> JSON:
    action = decision.edited_action
    if (action is None) == (decision.args is None):
        raise InvalidInput("Edit takes the new arguments, once: edited_action.args.")
    arguments = action.args if action else decision.args or {}
    if action and action.name not in (None, row.tool):
        raise InvalidInput(f"An edit changes the arguments of {row.tool}, not the tool.")
    if clean(arguments) != arguments:
        raise InvalidInput(
            "The arguments hold a value that cannot be stored: NUL, NaN or an unpaired surrogate."
        )
    return {"edited_action": {"name": row.tool, "args": arguments}}


def _reject(_: ApprovalRow, decision: Decision) -> JSON:
    message = clean_text(decision.message or "").strip()
    return {"message": message} if message else {}


def _respond(_: ApprovalRow, decision: Decision) -> JSON:
    message = clean_text(decision.message or "")
    if not message.strip():
        raise InvalidInput("Respond takes a message: what the agent gets as the call's result.")
    return {"message": message}


_DETAILS = {
    DecisionType.APPROVE: _approve,
    DecisionType.EDIT: _edit,
    DecisionType.REJECT: _reject,
    DecisionType.RESPOND: _respond,
}

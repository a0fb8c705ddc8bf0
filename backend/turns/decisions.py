"""What may be decided on a call: pure rules."""

import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from backend.errors import ArgumentsChanged, InvalidInput
from backend.llm.clean import clean
from backend.schemas.approvals import Decision, DecisionType
from backend.text import clean_text
from db.models.approval import ApprovalRow

JSON = dict[str, Any]
MAX_REASON_CHARS = 500
TAKES: dict[DecisionType, frozenset[str]] = {
    DecisionType.APPROVE: frozenset({"remember"}),
    DecisionType.EDIT: frozenset({"edited_action", "args"}),
    DecisionType.REJECT: frozenset({"message"}),
    DecisionType.RESPOND: frozenset({"message"}),
}
NOTHING_BUT_THE_SCHEMA: Registry[Any] = Registry()  # else a schema could have us fetch addresses


def check_decision(row: ApprovalRow, decision: Decision) -> JSON:
    """The decision as it is kept, in LangChain's words.

    Raises InvalidInput when it is not one that this call allows, ArgumentsChanged when it was made
    on other arguments than those that would run.
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


def _approve(_: ApprovalRow, decision: Decision) -> JSON:
    return {"remember": True} if decision.remember else {}


def _edit(row: ApprovalRow, decision: Decision) -> JSON:
    action = decision.edited_action
    if (action is None) == (decision.args is None):
        raise InvalidInput("Edit takes the arguments that are to run, once: edited_action.args.")
    arguments = action.args if action else decision.args or {}
    if action and action.name not in (None, row.tool):
        raise InvalidInput(f"An edit changes the arguments of {row.tool}, not the tool.")
    if clean(arguments) != arguments:
        raise InvalidInput("The arguments hold what cannot be stored: NUL, NaN or half a letter.")
    if reason := find_misfit(row.request["args_schema"], arguments):
        raise InvalidInput(f"These arguments do not fit {row.tool}: {reason}")
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


def find_misfit(schema: JSON, arguments: JSON) -> str | None:
    """Why the arguments do not fit the tool's schema; None if they do, or nobody can tell."""
    try:
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema, registry=NOTHING_BUT_THE_SCHEMA)
        misfit = best_match(validator.iter_errors(arguments))
    except (SchemaError, Unresolvable, re.error, RecursionError):
        return None  # a server's odd schema; the tool itself will say what it does not like
    if misfit is None:
        return None
    place = ".".join(map(str, misfit.absolute_path))
    said = f"{place}: {misfit.message}" if place else str(misfit.message)
    return said if len(said) <= MAX_REASON_CHARS else f"{said[:MAX_REASON_CHARS]}…"

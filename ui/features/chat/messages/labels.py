"""The label of a step's card: name, arguments in brief, and outcome."""

import json
from typing import Any

from backend.schemas.conversations.outcomes import CallOutcome
from colloquy_kit.messages.kinds import MessageStatus
from ui.features.approvals import card as approval_card
from ui.features.approvals.view import ApprovalView
from ui.features.chat.messages.blocks import Block, seconds_taken
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

ARGUMENT_CHARS = 60
NOT_DONE_KEY = "taskComplete"
RUNNING_ICON = "spinner"
DONE_ICON = ":material/check:"
FAILED_ICON = ":material/error:"
STOPPED_ICON = ":material/stop_circle:"
NOT_RUN_ICON = ":material/block:"
UNKNOWN_ICON = ":material/help:"
_WORDS = {RUNNING_ICON: "running", STOPPED_ICON: "stopped", FAILED_ICON: "failed"}


def step_icon(block: Block, asked: ApprovalView | None) -> str:
    """Return the icon for a call's outcome."""
    row, result = block.row, block.result
    if asked is not None and (icon := approval_card.end_icon(asked, row.status)):
        return icon
    if outcome := outcome_of(block):
        return outcome_icon(outcome)
    if row.status is MessageStatus.STOPPED:
        return STOPPED_ICON
    if row.status is MessageStatus.FAILED:
        return FAILED_ICON
    if result is not None:
        return FAILED_ICON if result.content.get("is_error") else DONE_ICON
    return DONE_ICON if row.status is MessageStatus.COMPLETED else RUNNING_ICON


def step_label(block: Block, asked: ApprovalView | None) -> str:
    """Return the name, the arguments in brief, the outcome and the duration."""
    row = block.row
    parts = [f"**{plain(str(row.content.get('name') or 'tool'), 80)}**"]
    if brief := _brief(asked.last_arguments if asked else row.content.get("arguments")):
        parts.append(brief)
    if asked is not None:
        parts.append(approval_card.end_words(asked))
    if outcome := outcome_of(block):
        parts += [outcome.label] if asked is None else []  # else how it was decided is there
    elif word := _WORDS.get(step_icon(block, asked)):
        parts.append(word)
    if (seconds := seconds_taken(block)) is not None:
        parts.append(reader.duration(seconds))
    return " · ".join(parts)


def outcome_of(block: Block) -> CallOutcome | None:
    """Return why the block's call has no result of its tool; None if it has one, or none yet."""
    return CallOutcome.of(block.result.metadata) if block.result else None


def outcome_icon(outcome: CallOutcome) -> str:
    """Return the icon of a call that has no result of its tool."""
    return UNKNOWN_ICON if outcome is CallOutcome.UNKNOWN else NOT_RUN_ICON


def why_not_done(text: str) -> str | None:
    """Return why an agent did not do its task, if its answer says only that.

    The agents of tasks are asked to report it in this form (`backend.planning.results`).
    """
    if NOT_DONE_KEY not in text or not text.lstrip().startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or answer.get(NOT_DONE_KEY) is not False:
        return None
    return str(answer.get("message") or "No reason was given.")


def _brief(arguments: Any) -> str:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return plain(arguments, ARGUMENT_CHARS)
    values = list(arguments.values()) if isinstance(arguments, dict) else []
    flat = [str(value) for value in values if isinstance(value, str | int | float)]
    return plain(", ".join(flat), ARGUMENT_CHARS)

"""A call that waits, or has waited, for approval: what is asked, and its outcome. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from backend.schemas.approvals import (
    Approval,
    ApprovalStatus,
    DecisionType,
    InterruptContent,
    InterruptOutcome,
)
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from ui.shared.formats.times import moment

NOT_GIVEN: Final = object()
MINUTE, HOUR, DAY = 60, 3600, 86_400
_DONE = {
    DecisionType.APPROVE: "approved",
    DecisionType.EDIT: "edited",
    DecisionType.REJECT: "rejected",
    DecisionType.RESPOND: "answered",
}


@dataclass(frozen=True)
class ApprovalView:
    """A call that an agent wants to run; `outcome` is None until it is decided."""

    approval_id: UUID
    name: str
    description: str
    arguments: JSON
    arguments_hash: str
    allowed: tuple[DecisionType, ...]
    args_schema: JSON
    expires_at: datetime | None
    outcome: InterruptOutcome | None

    @property
    def is_edited(self) -> bool:
        """Whether the arguments that run differ from those requested."""
        return self.outcome is not None and self.outcome.edited_arguments is not None

    @property
    def last_arguments(self) -> JSON:
        """The arguments that run: the edited ones, else those requested."""
        edited = self.outcome.edited_arguments if self.outcome else None
        return self.arguments if edited is None else edited

    @property
    def changes(self) -> list[tuple[str, Any, Any]]:
        """Each argument changed by an edit, before and after; absent ones are NOT_GIVEN."""
        before, after = self.arguments, self.last_arguments
        names = dict.fromkeys([*before, *after])
        pairs = [(name, before.get(name, NOT_GIVEN), after.get(name, NOT_GIVEN)) for name in names]
        return [pair for pair in pairs if pair[1] != pair[2] or type(pair[1]) is not type(pair[2])]


def from_row(row: DisplayMessage) -> ApprovalView:
    """Return the call that a display message of type interrupt asks about."""
    content = InterruptContent.read(row.content)
    is_pending = row.status is MessageStatus.PENDING
    return _asked(content, None if is_pending else InterruptOutcome.read(row.metadata))


def from_approval(approval: Approval) -> ApprovalView:
    """Return the call of an approval from the inbox."""
    content = InterruptContent.read(approval.model_dump() | {"approval_id": approval.id})
    if approval.status is ApprovalStatus.PENDING:
        return _asked(content, None)
    decision = approval.decision
    edited = decision.edited_action if decision else None
    outcome = InterruptOutcome(
        outcome=approval.status,
        decision=decision.type if decision else None,
        decided_by=approval.decided_by,
        decided_at=approval.decided_at or approval.created_at,
        message=decision.message if decision else None,
        edited_arguments=edited.args if edited else None,
        remember=bool(decision and decision.remember),
    )
    return _asked(content, outcome)


def pending_calls(rows: Iterable[DisplayMessage]) -> list[ApprovalView]:
    """Return the calls among these display messages that wait for a decision."""
    kind, status = ContentType.INTERRUPT, MessageStatus.PENDING
    return [from_row(row) for row in rows if (row.content_type, row.status) == (kind, status)]


def outcome_words(outcome: InterruptOutcome, user: str, now: datetime) -> str:
    """Return how the approval ended, by whom and when."""
    at = moment(outcome.decided_at, now)
    if outcome.outcome is ApprovalStatus.EXPIRED:
        return f"expired at {at} without a decision"
    if outcome.outcome is ApprovalStatus.WITHDRAWN or outcome.decision is None:
        return f"withdrawn at {at}: the turn was stopped"
    who = "you" if outcome.decided_by == user else outcome.decided_by
    return f"{_DONE[outcome.decision]} by {who} at {at}"


def expiry_words(expires_at: datetime | None, now: datetime) -> str:
    """Return the time left to decide; empty where there is no limit."""
    if expires_at is None:
        return ""
    minutes = int((expires_at - now).total_seconds() // 60)
    if minutes < 1:
        return "expires within a minute"
    if minutes < 60:
        return f"expires in {minutes} min"
    hours = minutes // 60
    return f"expires in {hours} h" if hours < 48 else f"expires in {hours // 24} days"


def expiry_words_hold(expires_at: datetime, now: datetime) -> float:
    """Return the seconds until the result of `expiry_words` changes; at least one."""
    left = (expires_at - now).total_seconds()
    unit = MINUTE if left < HOUR else HOUR if left < 2 * DAY else DAY
    return left % unit + 1


def all_words_hold(calls: Iterable[ApprovalView], now: datetime) -> float | None:
    """Return the seconds until a time shown for one of these calls changes; None: never."""
    held = (expiry_words_hold(call.expires_at, now) for call in calls if call.expires_at)
    return min(held, default=None)


def _asked(content: InterruptContent, outcome: InterruptOutcome | None) -> ApprovalView:
    return ApprovalView(
        approval_id=content.approval_id,
        name=content.name,
        description=content.description,
        arguments=content.arguments,
        arguments_hash=content.arguments_hash,
        allowed=tuple(content.allowed_decisions),
        args_schema=content.args_schema,
        expires_at=content.expires_at,
        outcome=outcome,
    )

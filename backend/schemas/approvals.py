"""The wire contract of approvals: tool calls that wait for a person, and the decisions on them.

The display message of such a call has the content type `interrupt`; its content is InterruptContent
and never changes. Its status is pending, then completed (decided) or stopped (expired, withdrawn);
its metadata holds the outcome: InterruptOutcome.
"""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.bounds import FreeJSON
from backend.schemas.wire import Input, Wire
from backend.types import JSON

MAX_MESSAGE_CHARS = 20_000
MAX_DECISIONS = 200
ASK_SETTINGS = ("decisions", "expires_seconds", "description")  # of a rule; others ask nobody


class DecisionType(StrEnum):
    """What a person may decide on a call; the words are LangChain's."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    RESPOND = "respond"


class ApprovalStatus(StrEnum):
    """The status of an approval: pending -> decided, expired or withdrawn."""

    PENDING = "pending"
    DECIDED = "decided"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class EditedAction(Input):
    """The call that runs in place of the proposed one: the same tool, other arguments."""

    name: str | None = Field(None, description="The tool's name; an edit cannot change it.")
    args: FreeJSON


class Decision(Input):
    """A decision on one call.

    `approve` runs it as proposed; `edit` runs it with other arguments; `reject` does not run it
    and tells the agent why; `respond` does not run it and gives the agent `message` as the result.
    """

    type: DecisionType
    edited_action: EditedAction | None = Field(None, description="For edit.")
    args: FreeJSON | None = Field(None, description="For edit: short for `edited_action.args`.")
    message: str | None = Field(
        None,
        max_length=MAX_MESSAGE_CHARS,
        description="For reject: the reason. For respond: the call's result.",
    )
    arguments_hash: str | None = Field(
        None, description="Hash of the arguments that were shown; a mismatch is refused with 409."
    )
    remember: bool = Field(
        False, description="For approve: do not ask again for this tool in this conversation."
    )


class Decisions(Input):
    """One decision for each pending call of a turn, in order."""

    decisions: list[Decision] = Field(min_length=1, max_length=MAX_DECISIONS)


class Approval(Wire):
    """A call that waits for a person's decision, and what was decided."""

    id: UUID
    session_id: UUID
    session_title: str
    parent_title: str | None = Field(
        None, description="For a task's call: the title of its plan's session."
    )
    owner: str
    turn_id: UUID
    agent: str
    message: str = Field(description="The beginning of the message that started the turn.")
    position: int = Field(description="Position of the display message that asks.")
    call_id: str
    name: str
    arguments: JSON
    arguments_hash: str
    description: str
    allowed_decisions: list[DecisionType]
    args_schema: JSON = Field(description="The JSON Schema of the arguments.")
    status: ApprovalStatus
    decision: Decision | None
    decided_by: str | None
    decided_at: datetime | None
    expires_at: datetime | None
    created_at: datetime


class ApprovalPage(Wire):
    """One page of approvals: the pending ones oldest first, others newest first."""

    items: list[Approval]
    next_cursor: str | None


class ApprovalCount(Wire):
    """How many calls wait for a decision; for a badge."""

    pending: int


class InterruptContent(Wire):
    """The content of the display message that asks about a call; it never changes."""

    approval_id: UUID
    call_id: str
    name: str
    arguments: JSON
    arguments_hash: str
    allowed_decisions: list[DecisionType]
    description: str
    args_schema: JSON
    expires_at: datetime | None


class InterruptOutcome(Wire):
    """The metadata of the display message, once the approval is no longer pending.

    `edited_arguments` are those that run in place of the proposed ones; `message` is what the
    person wrote to reject or respond. `decided_by` is null when no one decided.
    """

    outcome: ApprovalStatus
    decision: DecisionType | None = None
    decided_by: str | None = None
    decided_at: datetime
    message: str | None = None
    edited_arguments: JSON | None = None
    remember: bool = False


class AllowedTools(Wire):
    """The tools that need no further approval in a conversation, because a person allowed them."""

    allowed_tools: list[str]

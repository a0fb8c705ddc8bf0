"""The wire contract of approvals: calls that wait for a person, and what is decided on them.

The display message of such a call has the content type `interrupt`; its content is InterruptContent
and never changes. Its status is pending, then completed (decided) or stopped (expired, withdrawn);
its metadata holds what became of it: InterruptOutcome.
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


class DecisionType(StrEnum):
    """What a person may decide on a call; the words are LangChain's."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    RESPOND = "respond"


class ApprovalStatus(StrEnum):
    """Where an approval stands: pending -> decided, expired or withdrawn."""

    PENDING = "pending"
    DECIDED = "decided"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class EditedAction(Input):
    """The call that runs in place of the one that was shown: the same tool, other arguments."""

    name: str | None = Field(None, description="The tool's name; an edit cannot change it.")
    args: FreeJSON


class Decision(Input):
    """What is decided on one call.

    `approve` runs it as it was shown; `edit` runs it with other arguments; `reject` runs nothing
    and tells the agent why; `respond` runs nothing and gives the agent `message` as the result.
    """

    type: DecisionType
    edited_action: EditedAction | None = Field(None, description="For edit.")
    args: FreeJSON | None = Field(None, description="For edit; short for `edited_action.args`.")
    message: str | None = Field(
        None,
        max_length=MAX_MESSAGE_CHARS,
        description="For reject, why; for respond, the call's result.",
    )
    arguments_hash: str | None = Field(
        None, description="That of the arguments that were shown; others are refused with 409."
    )
    remember: bool = Field(
        False, description="For approve: this tool asks no more in this conversation."
    )


class Decisions(Input):
    """One decision for each pending call of a turn, in order."""

    decisions: list[Decision] = Field(min_length=1, max_length=MAX_DECISIONS)


class Approval(Wire):
    """A call that a turn waits for a person to decide on, and what was decided."""

    id: UUID
    session_id: UUID
    session_title: str
    owner: str
    turn_id: UUID
    agent: str
    message: str = Field(description="What the person asked the agent for, cut to its beginning.")
    position: int = Field(description="The display message that asks.")
    call_id: str
    name: str
    arguments: JSON
    arguments_hash: str
    description: str
    allowed_decisions: list[DecisionType]
    args_schema: JSON = Field(description="What the arguments must look like, as JSON Schema.")
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
    """How many calls wait for a decision, for a badge."""

    pending: int


class InterruptContent(Wire):
    """What the display message of a call that asks says; it never changes."""

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
    """The metadata of such a message, once nothing is to be decided any more.

    `edited_arguments` are those that run in place of the ones that were shown; `message` is what
    the person wrote to reject or respond. `decided_by` is null when nobody did.
    """

    outcome: ApprovalStatus
    decision: DecisionType | None = None
    decided_by: str | None = None
    decided_at: datetime
    message: str | None = None
    edited_arguments: JSON | None = None
    remember: bool = False


class AllowedTools(Wire):
    """The tools that a person has allowed in a conversation once and for all: they ask no more."""

    allowed_tools: list[str]

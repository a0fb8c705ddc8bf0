"""The wire contract of webhooks: what people set, what is sent, and what became of it."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.schemas.bounds import LONGEST_NAME, Name
from backend.schemas.conversations.sessions import Session
from backend.schemas.events import NoTurn
from backend.schemas.people.rights import PrincipalType
from backend.schemas.wire import Change, Input, Wire

LONGEST_URL = 2_000


class WebhookEvent(StrEnum):
    """What a webhook can be told. Those of turns have the names and fields of streamed events."""

    MESSAGE_ADDED = "message_added"
    TURN_FINISHED = "turn_finished"
    INTERRUPT = "interrupt"
    SESSION_CREATED = "session_created"
    SESSION_DELETED = "session_deleted"


class SessionCreated(Wire):
    """A session was created."""

    context: NoTurn
    session: Session


class SessionDeleted(Wire):
    """A session was deleted, and all that it held."""

    context: NoTurn


class WebhookBody(Wire):
    """The body of each request."""

    id: UUID = Field(description="Also `webhook-id`; the same each time this event is sent.")
    type: str
    timestamp: datetime = Field(description="When it happened.")
    data: dict[str, Any]


class PauseReason(StrEnum):
    """Why a webhook is told nothing."""

    PERSON = "person"  # somebody paused it
    FAILING = "failing"  # nothing has reached it for long
    GONE = "gone"  # it answered 410
    RIGHTS = "rights"  # who set it may not read these sessions any more


class NewWebhook(Input):
    """A webhook to be set."""

    name: Name
    url: str = Field(min_length=1, max_length=LONGEST_URL, examples=["https://example.com/hook"])
    events: list[WebhookEvent] = Field(list(WebhookEvent), min_length=1)
    principal_type: PrincipalType = Field(
        PrincipalType.USER,
        description="Whose sessions: one's own, those of a team of the caller's, or everyone's,"
        " which is for those who administer and may review.",
    )
    principal_id: str = Field("", max_length=LONGEST_NAME, description="The team.")
    domain_id: UUID | None = Field(None, description="Only sessions of this domain.")


class WebhookChange(Change):
    """Changes to a webhook. Who resumes one answers for it from then on."""

    name: Name | None = None
    url: str | None = Field(None, min_length=1, max_length=LONGEST_URL)
    events: list[WebhookEvent] | None = Field(None, min_length=1)
    domain_id: UUID | None = None
    is_paused: bool | None = None


class Webhook(Wire):
    """A webhook, without its secret."""

    id: UUID
    name: str
    url: str = Field(description="Of everyone's, others see only where it is.")
    events: list[WebhookEvent]
    principal_type: PrincipalType
    principal_id: str
    principal_name: str
    domain_id: UUID | None
    domain: str | None = Field(description="The domain's name; null also once it is deleted.")
    set_by: str
    set_by_name: str
    paused: PauseReason | None
    failing_since: datetime | None
    old_secret_until: datetime | None = Field(
        description="Until when it is also signed with the secret before."
    )
    created_at: datetime
    can_change: bool


class MadeWebhook(Webhook):
    """A webhook with its new secret, which is shown here only."""

    secret: str


class Webhooks(Wire):
    """The webhooks of the caller, of their teams, and of everyone, the latest first."""

    items: list[Webhook]


class DeliveryStatus(StrEnum):
    """What became of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"
    VOID = "void"  # what it told of is gone, or belongs to somebody else by now


class Delivery(Wire):
    """One event for one webhook."""

    id: UUID
    event: WebhookEvent
    session_id: UUID
    turn_id: UUID | None
    status: DeliveryStatus
    attempts: int
    answer_status: int | None = Field(description="The last answer's; null: there was none.")
    answer: str = Field(description="How the last answer begins, or why there was none.")
    created_at: datetime
    due_at: datetime | None = Field(description="When it is tried next; null: not any more.")
    ended_at: datetime | None


class DeliveryPage(Wire):
    """Deliveries, the latest first."""

    items: list[Delivery]
    next_cursor: str | None


class WebhookTest(Wire):
    """What the receiver answered to a test event."""

    is_delivered: bool
    status: int | None
    answer: str
    seconds: float

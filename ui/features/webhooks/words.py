"""What webhooks, their events and deliveries are called on the page."""

from backend.schemas.people.rights import PrincipalType
from backend.schemas.webhooks import (
    Delivery,
    DeliveryStatus,
    PauseReason,
    Webhook,
    WebhookEvent,
    WebhookTest,
)
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

EVENTS = {
    WebhookEvent.MESSAGE_ADDED: "A message was saved",
    WebhookEvent.TURN_FINISHED: "A turn has ended",
    WebhookEvent.INTERRUPT: "A turn waits for a person",
    WebhookEvent.SESSION_CREATED: "A session was created",
    WebhookEvent.SESSION_DELETED: "A session was deleted",
}
PAUSES = {
    PauseReason.PERSON: "Paused.",
    PauseReason.FAILING: "Paused: nothing has reached it for half a day.",
    PauseReason.GONE: "Paused: it answered that it is gone (410).",
    PauseReason.RIGHTS: "Paused: who set it may not read these sessions any more.",
}
STATUSES = {
    DeliveryStatus.PENDING: "Waiting",
    DeliveryStatus.DELIVERED: "Delivered",
    DeliveryStatus.GIVEN_UP: "Given up",
    DeliveryStatus.VOID: "Not sent: it was deleted, or is somebody else's now",
}
OWN, EVERYONE = "", "*"


def of_whom(one: Webhook) -> str:
    """Return whose sessions a webhook is told of."""
    if one.principal_type is PrincipalType.EVERYONE:
        return "Everyone's sessions"
    name = plain(one.principal_name, 80)
    whose = f"Sessions of the team {name}" if one.principal_type is PrincipalType.TEAM else name
    return whose if one.principal_type is PrincipalType.TEAM else f"Sessions of {whose}"


def state_of(one: Webhook) -> str | None:
    """Return what a person must know of a webhook; None: it works."""
    if one.paused is not None:
        return PAUSES[one.paused]
    if one.failing_since is not None:
        return f"Failing since {reader.moment(one.failing_since)}; it is tried again."
    return None


def delivery(one: Delivery) -> str:
    """Return a delivery in two lines of Markdown."""
    status = STATUSES[one.status]
    if one.status is DeliveryStatus.PENDING and one.due_at is not None and one.attempts:
        status = f"Next try {reader.moment(one.due_at)}"
    tried = reader.counted(one.attempts, "attempt")
    line = f"**{EVENTS[one.event]}** · {reader.moment(one.created_at)} · {status} · {tried}"
    if one.answer_status is None and not one.answer:
        return line
    return f"{line}  \n{answer(one.answer_status, one.answer)}"


def answer(status: int | None, text: str) -> str:
    """Return what a receiver answered."""
    said = plain(" ".join(text.split()), 200)
    return " · ".join(filter(None, [f"Answer {status}" if status else "No answer", said]))


def tested(found: WebhookTest) -> str:
    """Return what came of a test."""
    verdict = "It arrived" if found.is_delivered else "It was not taken"
    return f"{verdict} after {found.seconds:.1f} s. {answer(found.status, found.answer)}"

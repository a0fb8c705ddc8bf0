"""Server-Sent Events: what a viewer receives from connecting until it disconnects."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import Receive, Scope, Send

from backend.api.channels import Channels, catch_up
from backend.errors.conversations import SessionNotFound
from backend.schemas.events import EVENTS
from backend.schemas.wire import Wire
from backend.turns.follow.viewer import Viewer

CONNECTED = b": connected\n\n"
log = logging.getLogger(__name__)
EXAMPLE = (
    "id: 1700000000000-0.3\nevent: text_delta\n"
    'data: {"context": {"session_id": "…", "turn_id": "…"}, "message_id": "…", "text": "Hel"}\n\n'
)


def _item(name: str, data: type[Wire]) -> dict[str, Any]:
    """Return the schema of one event, as OpenAPI 3.2 describes Server-Sent Events."""
    body = {"$ref": f"#/components/schemas/{data.__name__}"}
    written = {"type": "string", "contentMediaType": "application/json", "contentSchema": body}
    properties = {"id": {"type": "string"}, "event": {"const": name}, "data": written}
    return {"type": "object", "required": list(properties), "properties": properties}


ITEM = {"oneOf": [_item(name, data) for name, data in EVENTS.items()]}
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen; a comment after every ten seconds without one.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "x-itemSchema": ITEM,  # without x- it would be no OpenAPI 3.1
                "example": EXAMPLE,
            }
        },
    }
}


class EventResponse(StreamingResponse):
    """An event stream that frees its place when it ends, even if it was never started."""

    def __init__(
        self, stream: AsyncIterator[bytes], headers: Mapping[str, str], place: ExitStack
    ) -> None:
        # By default nginx would collect the events until it has some kilobytes.
        headers = {**headers, "X-Accel-Buffering": "no"}
        super().__init__(stream, media_type="text/event-stream", headers=headers)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or the client disconnects."""
        with self._place:
            await super().__call__(scope, receive, send)


async def follow(viewer: Viewer, channels: Channels, session_id: UUID) -> AsyncIterator[bytes]:
    """Yield what the viewer missed, then live events, until the client disconnects."""
    try:
        with channels.subscription(session_id) as subscription:
            # Subscribe first: events that happen while the viewer catches up are kept for it.
            yield CONNECTED + (await catch_up(viewer))[0]
            while not subscription.is_cut_off:
                for batch in await subscription.take():
                    if written := await batch.tell(viewer):
                        yield written
    except (SQLAlchemyError, SessionNotFound) as error:
        # The response has started, so it can only end; the client resumes after its last event.
        log.info("A follower of %s is cut off: %s", session_id, str(error).splitlines()[0])

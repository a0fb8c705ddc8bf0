"""Server-Sent Events: what a viewer receives from connecting until it disconnects."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from typing import Any

from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import Receive, Scope, Send

from backend.api.access import LongRequest
from backend.api.channels import Channels, catch_up
from backend.errors.base import AppError
from backend.errors.conversations import SessionNotFound
from backend.logs.outages import DATABASE, while_away
from backend.schemas.events import EVENTS, StreamEnded
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
        "description": "Events as they happen; a comment after every ten seconds without one."
        " Once the caller may not read the session any more, the last event is `ended`, without an"
        " id; its data has the status, title and detail of the problem.",
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


def write_end(reason: AppError) -> bytes:
    """Return the last event of a stream that its caller may not follow any more."""
    ended = StreamEnded(status=reason.status, title=reason.title, detail=reason.detail)
    return b"event: ended\ndata: %s\n\n" % ended.model_dump_json().encode()


async def follow(viewer: Viewer, channels: Channels, request: LongRequest) -> AsyncIterator[bytes]:
    """Yield what the viewer missed, then live events, until the client disconnects.

    Once the caller may not follow any more, the last event says so.
    """
    session_id = request.session_id
    try:
        with channels.subscription(session_id) as subscription:
            request.on_end(subscription.wake)
            # Subscribe first: events that happen while the viewer catches up are kept for it.
            yield CONNECTED + (await catch_up(viewer))[0]
            while not subscription.is_cut_off and request.end is None:
                for batch in await subscription.take():
                    viewer.scope = request.scope
                    if request.end is None and (written := await batch.tell(viewer)):
                        yield written
        if request.end is not None:
            yield write_end(request.end)
    except SessionNotFound as error:
        yield write_end(error)
    except SQLAlchemyError as error:
        # The response has started, so it can only end; the client resumes after its last event.
        log.info(
            "A follower is cut off: %s", str(error).splitlines()[0], extra=while_away(DATABASE)
        )

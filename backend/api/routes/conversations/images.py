"""Images: a session's calls by the id of its image, for programs that know that one."""

from collections.abc import Callable
from functools import partial
from inspect import getdoc, signature
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.events import RESPONSES as EVENTS
from backend.api.http.threads import large
from backend.api.routes.conversations import chat, sessions
from backend.auth.acting import as_system
from backend.conversations import reviews
from backend.conversations import service as conversations
from backend.domains.template import image_of, template_of
from backend.schemas.conversations.sessions import Image
from backend.schemas.ids import ImageId
from db.models.conversations.conversation import ConversationRow

router = APIRouter(prefix="/images", tags=["images"])
NO_SESSION = UUID(int=0)


def session_of_image(image_id: ImageId, services: ServicesDep) -> UUID:
    """Return the session that was made with an image, also somebody else's; else one of none.

    Who asks is looked at by the session's own call, which answers as for any session.
    """
    of_image = select(ConversationRow.id).where(ConversationRow.image_id == image_id)
    with services.database.read() as session, as_system(session):
        return session.scalar(of_image) or NO_SESSION


SessionOfImage = Annotated[UUID, Depends(session_of_image)]


@router.get("/{image_id}")
@large
def get_image(session_id: SessionOfImage, services: ServicesDep, scope: ReadScope) -> Image:
    """An image: whose session it is, and the whole configuration that this was made with."""
    found = reviews.read_session(services.database, scope, session_id)
    with services.database.read() as session:
        stored = conversations.get_image(session, scope, session_id)
    return Image(
        id=found.image_id,
        session_id=found.id,
        domain_id=found.domain_id,
        prefixed_ids=found.prefixed_ids,
        configuration=stored | image_of(template_of(stored)),
    )


def _add(path: str, route: Callable[..., Any], method: str, **options: Any) -> None:
    """Add a session's call at an image: the same one, whose session is that of the image."""
    parameters = [
        one.replace(annotation=SessionOfImage) if one.name == "session_id" else one
        for one in signature(route).parameters.values()
    ]
    by_image = partial(route)
    by_image.__signature__ = signature(route).replace(parameters=parameters)  # type: ignore[attr-defined]  # read by FastAPI
    name = f"{route.__name__}_of_image"
    router.add_api_route(
        path, by_image, methods=[method], name=name, description=getdoc(route), **options
    )


_add("/{image_id}/chat", chat.chat_in_session, "POST", responses=chat.ACCEPTED)
_add("/{image_id}/stop", sessions.stop, "POST")
_add("/{image_id}/messages", sessions.get_messages, "GET")
_add(
    "/{image_id}/events",
    sessions.get_events,
    "GET",
    response_class=StreamingResponse,
    responses=EVENTS,
)

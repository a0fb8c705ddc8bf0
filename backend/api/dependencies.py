"""The dependencies of routes: the parts of the application, and the caller's scope.

They are coroutines, because FastAPI would run plain functions in a thread for nothing.
"""

from typing import Annotated, Any

from fastapi import Depends, Header, Request

from backend.api.channels import Channels
from backend.artifacts.documents.service import Documents
from backend.artifacts.service import Artifacts
from backend.auth.scope import LOCAL_USER, Scope
from backend.data.sources import Sources
from backend.events.reader import EventReader
from backend.files.service import Files
from backend.schemas.conversations.sessions import MAX_KEY_CHARS
from backend.turns.follow.waiting import Waits
from backend.turns.process.services import Services


def of_app(name: str) -> Any:
    """Return the dependency on a part of the process's application, made by `create_app`."""

    async def get(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(get)


async def get_scope() -> Scope:
    """Return the caller's scope. With AUTH=none that is the one local user."""
    return LOCAL_USER


ServicesDep = Annotated[Services, of_app("services")]
ReaderDep = Annotated[EventReader, of_app("reader")]
ChannelsDep = Annotated[Channels, of_app("channels")]
SourcesDep = Annotated[Sources, of_app("sources")]
ArtifactsDep = Annotated[Artifacts, of_app("artifacts")]
DocumentsDep = Annotated[Documents, of_app("documents")]
FilesDep = Annotated[Files, of_app("files")]
WaitsDep = Annotated[Waits, of_app("waits")]
ScopeDep = Annotated[Scope, Depends(get_scope)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=MAX_KEY_CHARS,
        description="Repeating a request with the same key and body returns what it made before.",
    ),
]

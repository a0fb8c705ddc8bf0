"""The dependencies of routes: services, event reader and the caller's scope.

They are coroutines, because FastAPI would run plain functions in a thread for nothing.
"""

from typing import Annotated, cast

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


async def get_services(request: Request) -> Services:
    """Return the process's services."""
    return cast(Services, request.app.state.services)


async def get_reader(request: Request) -> EventReader:
    """Return the process's one reader of live events."""
    return cast(EventReader, request.app.state.reader)


async def get_channels(request: Request) -> Channels:
    """Return the channels of the process's event streams."""
    return cast(Channels, request.app.state.channels)


async def get_waits(request: Request) -> Waits:
    """Return the requests of the process that are waiting for turns."""
    return cast(Waits, request.app.state.waits)


async def get_sources(request: Request) -> Sources:
    """Return the sources of the installation."""
    return cast(Sources, request.app.state.sources)


async def get_files(request: Request) -> Files:
    """Return the uploaded files of the installation."""
    return cast(Files, request.app.state.files)


async def get_artifacts(request: Request) -> Artifacts:
    """Return the artifacts of the installation."""
    return cast(Services, request.app.state.services).artifacts


async def get_documents(request: Request) -> Documents:
    """Return the documents among the artifacts."""
    services = cast(Services, request.app.state.services)
    return Documents(services.database, services.sandbox, services.artifacts)


async def get_scope() -> Scope:
    """Return the caller's scope. With AUTH=none that is the one local user."""
    return LOCAL_USER


ServicesDep = Annotated[Services, Depends(get_services)]
ReaderDep = Annotated[EventReader, Depends(get_reader)]
AudiencesDep = Annotated[Channels, Depends(get_channels)]
SourcesDep = Annotated[Sources, Depends(get_sources)]
ArtifactsDep = Annotated[Artifacts, Depends(get_artifacts)]
DocumentsDep = Annotated[Documents, Depends(get_documents)]
FilesDep = Annotated[Files, Depends(get_files)]
WaitsDep = Annotated[Waits, Depends(get_waits)]
ScopeDep = Annotated[Scope, Depends(get_scope)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=MAX_KEY_CHARS,
        description="Repeating a request with the same key and body returns what it made before.",
    ),
]

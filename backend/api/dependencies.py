"""The dependencies of routes: the parts of the application, and the caller's scope.

They are coroutines, because FastAPI would run plain functions in a thread for nothing.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Header, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from backend.api.access import Access
from backend.api.callers import Callers
from backend.api.channels import Channels
from backend.artifacts.documents.service import Documents
from backend.artifacts.service import Artifacts
from backend.auth.acting import act_as
from backend.auth.oidc.metadata import Directory
from backend.auth.rights import read_rights
from backend.auth.scope import Scope
from backend.data.sources import Sources
from backend.errors.people import NotSignedIn
from backend.events.reader import EventReader
from backend.files.service import Files
from backend.imports.service import Imports
from backend.logs.fields import add_fields
from backend.schemas.conversations.sessions import MAX_KEY_CHARS
from backend.schemas.people.account import UNATTENDED
from backend.schemas.people.rights import Allows, Resource
from backend.turns.follow.waiting import Waits
from backend.turns.process.services import Services
from backend.web.identity import proxied_by


def of_app(name: str) -> Any:
    """Return the dependency on a part of the process's application, made by `create_app`."""

    async def get(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(get)


_bearer = HTTPBearer(
    scheme_name="token",
    auto_error=False,
    description="An API token, or that of a sign-in. Where AUTH=none, none is needed.",
)


async def get_token(
    request: Request,
    given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> str | None:
    """Return the token that the caller sent. Raise NotSignedIn for several."""
    if len(request.headers.getlist("authorization")) > 1:
        raise NotSignedIn
    return given.credentials if given else None


GivenToken = Annotated[str | None, Depends(get_token)]


(_UNATTENDED,) = UNATTENDED
Unattended = Annotated[Literal["true"] | None, Header(alias=_UNATTENDED, include_in_schema=False)]


async def get_scope(
    request: Request, needs: SecurityScopes, token: GivenToken, unattended: Unattended = None
) -> Scope:
    """Return the caller's scope: with AUTH=none the local user's, else that of their token.

    Who sends none is whom a trusted proxy names, with AUTH=proxy.

    Raise NotSignedIn, TokenTooNarrow.
    """
    scope = await _find_scope(request, token, is_use=unattended is None)
    add_fields(
        person=scope.user_id,
        session=_id_in_path(request, "session_id"),
        turn=_id_in_path(request, "turn_id"),
    )
    for level in needs.scopes:
        scope.require_token(Allows(level))
    act_as(scope)
    return scope


def _id_in_path(request: Request, name: str) -> UUID | None:
    try:
        return UUID(request.path_params.get(name, ""))
    except ValueError:
        return None


async def _find_scope(request: Request, token: str | None, *, is_use: bool) -> Scope:
    callers: Callers = request.app.state.callers
    if callers.local is not None:
        return callers.local
    if token is not None:
        if (scope := callers.remembered(token, is_use=is_use)) is not None:
            return scope
        return await run_in_threadpool(callers.find, token, is_use=is_use)
    if person := proxied_by(request.scope):
        return await run_in_threadpool(callers.find_proxied, person)
    raise NotSignedIn


def own_sources(services: Services, sources: Sources, scope: Scope) -> Sources:
    """Return the installation's sources that exist for the caller."""

    def withheld() -> frozenset[str]:
        with services.database.read() as session:
            return read_rights(session, scope).withheld_of(Resource.SOURCE)

    return sources.without(withheld)


ServicesDep = Annotated[Services, of_app("services")]
ReaderDep = Annotated[EventReader, of_app("reader")]
ChannelsDep = Annotated[Channels, of_app("channels")]
SourcesDep = Annotated[Sources, of_app("sources")]
ArtifactsDep = Annotated[Artifacts, of_app("artifacts")]
DocumentsDep = Annotated[Documents, of_app("documents")]
ImportsDep = Annotated[Imports, of_app("imports")]
FilesDep = Annotated[Files, of_app("files")]
WaitsDep = Annotated[Waits, of_app("waits")]
AccessDep = Annotated[Access, of_app("access")]
CallersDep = Annotated[Callers, of_app("callers")]
DirectoryDep = Annotated[Directory, of_app("directory")]
# The rule of a route: what the caller's token must allow. What of it is theirs, the service asks.
ReadScope = Annotated[Scope, Security(get_scope, scopes=[Allows.READ])]
AskScope = Annotated[Scope, Security(get_scope, scopes=[Allows.ASK])]
ManageScope = Annotated[Scope, Security(get_scope, scopes=[Allows.MANAGE])]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=MAX_KEY_CHARS,
        description="Repeating a request with the same key and body returns what it made before.",
    ),
]

"""Grants: rights on single resources; and to whom one may grant them."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.api.dependencies import AskScope, ManageScope, ReadScope, ServicesDep, SourcesDep
from backend.api.http.sanitize import Sent, Text, Whole
from backend.data.errors import UnknownSource
from backend.people import grants
from backend.people.reach import reach_of
from backend.schemas.ids import SessionId
from backend.schemas.people.grants import (
    MAX_ID_CHARS,
    Grant,
    Grants,
    NewGrant,
    NewSessionGrant,
    Principals,
    Reach,
)
from backend.schemas.people.rights import PrincipalType, Resource, Right

router = APIRouter(tags=["grants"])
Id = Annotated[Text, Query(min_length=1, max_length=MAX_ID_CHARS)]
PrincipalId = Annotated[Text, Query(max_length=MAX_ID_CHARS, description="Empty for everyone.")]
Limit = Annotated[Whole, Query(ge=1, le=grants.MAX_PAGE)]
Cursor = Annotated[Text | None, Query(max_length=4_000)]


@router.get("/grants")
def list_grants(
    services: ServicesDep,
    scope: ReadScope,
    resource_type: Resource,
    resource_id: Annotated[
        Text | None,
        Query(
            min_length=1,
            max_length=MAX_ID_CHARS,
            description="Only those on this one, with who may use it.",
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = grants.MAX_PAGE,
) -> Grants:
    """Who was granted what of one kind; those on one resource also to who owns or manages it."""
    with services.database.read() as session:
        return grants.list_grants(
            session, scope, resource_type, resource_id, cursor=cursor, limit=limit
        )


@router.put("/grants")
def put_grant(
    body: Sent[NewGrant], services: ServicesDep, sources: SourcesDep, scope: ManageScope
) -> Grant:
    """Grant a right on a resource; repeating it changes nothing.

    From the first grant on, a domain, source, tool server, secret or model exists for those only
    who were granted it.
    """
    if body.resource_type is Resource.SOURCE:
        _check_source(sources.names(), body.resource_id)
    with services.database.transaction() as session:
        return grants.put_grant(session, scope, body)


@router.delete("/grants", status_code=204)
def remove_grant(
    services: ServicesDep,
    scope: ManageScope,
    resource_type: Resource,
    resource_id: Id,
    principal_type: PrincipalType,
    principal_id: PrincipalId = "",
    right: Annotated[Right | None, Query(description="Only this right; absent: any.")] = None,
) -> None:
    """Take a right away; repeating it changes nothing. It holds from the next tool call on."""
    with services.database.transaction() as session:
        grants.remove_grant(
            session, scope, resource_type, resource_id, principal_type, principal_id, right
        )


@router.get("/sessions/{session_id}/grants")
def list_session_grants(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Grants:
    """With whom a session is shared; for whose it is."""
    with services.database.read() as session:
        return grants.list_grants(
            session, scope, Resource.SESSION, str(session_id), may_administer=False
        )


@router.put("/sessions/{session_id}/grants")
def share_session(
    session_id: SessionId, body: Sent[NewSessionGrant], services: ServicesDep, scope: AskScope
) -> Grant:
    """Share a session with a person, a team or everyone, to read or to continue."""
    new = NewGrant(
        resource_type=Resource.SESSION,
        resource_id=str(session_id),
        principal_type=body.principal_type,
        principal_id=body.principal_id,
        right=body.right,
    )
    with services.database.transaction() as session:
        return grants.put_grant(session, scope, new)


@router.delete("/sessions/{session_id}/grants", status_code=204)
def unshare_session(
    session_id: SessionId,
    services: ServicesDep,
    scope: AskScope,
    principal_type: PrincipalType,
    principal_id: PrincipalId = "",
) -> None:
    """Share a session no longer with a person, a team or everyone."""
    with services.database.transaction() as session:
        of_session = (Resource.SESSION, str(session_id), principal_type, principal_id)
        grants.remove_grant(session, scope, *of_session, may_administer=False)


@router.get("/principals")
def list_principals(
    services: ServicesDep,
    scope: ReadScope,
    q: Annotated[Text, Query(max_length=200, description="A part of a name.")] = "",
    limit: Annotated[Whole, Query(ge=1, le=100)] = 20,
) -> Principals:
    """Teams and people to share with, by name."""
    with services.database.read() as session:
        return grants.list_principals(session, scope, q, limit)


@router.get("/people/{user_id}/reach")
def get_reach(user_id: Text, services: ServicesDep, sources: SourcesDep, scope: ReadScope) -> Reach:
    """What a person may see and use; for administrators."""
    with services.database.read() as session:
        return reach_of(session, scope, user_id, sources.names())


def _check_source(names: list[str], wanted: str) -> None:
    """Raise UnknownSource: a grant on a name that is misspelled would protect nothing."""
    if grants.clean_id(Resource.SOURCE, wanted) not in names:
        raise UnknownSource(f"There is no source {wanted!r}. The sources are: {', '.join(names)}.")

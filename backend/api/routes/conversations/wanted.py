"""The parameters that select sessions, for lists and for files of them."""

from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import AwareDatetime

from backend.api.http.sanitize import Flag, Text
from backend.conversations.service import SessionFilter
from backend.schemas.conversations.sessions import SessionOrder

LONGEST_SEARCH = 20_000
Named = Annotated[
    Text | None,
    Query(description="An id, or a part of a name.", min_length=1, max_length=200),
]


async def _wanted(
    q: Annotated[
        Text | None,
        Query(description="Words of the title, or their beginnings.", max_length=LONGEST_SEARCH),
    ] = None,
    domain: Annotated[
        Text | None, Query(description="A domain's name or id.", min_length=1)
    ] = None,
    status: Literal["idle", "queued", "running", "waiting"] | None = None,
    archived: Flag = False,
    pinned: Flag | None = None,
    owner: Named = None,
    team: Named = None,
    has_errors: Annotated[Flag, Query(description="Only with turns that failed.")] = False,
    has_thumbs_down: Annotated[
        Flag, Query(description="Only with answers that somebody disliked.")
    ] = False,
    since: Annotated[
        AwareDatetime | None, Query(description="Used since this moment, with an offset.")
    ] = None,
    until: Annotated[
        AwareDatetime | None, Query(description="Not used since this moment, with an offset.")
    ] = None,
    legacy_id: Annotated[
        Text | None,
        Query(description="Known by this id in the system that it was taken over from."),
    ] = None,
    everyone: Annotated[
        Literal["mine", "all"], Query(alias="scope", description="`all` is for reviewers.")
    ] = "mine",
    order_by: Annotated[
        SessionOrder,
        Query(description="`-`: descending. Titles are sorted ignoring case."),
    ] = SessionOrder.LATEST,
) -> SessionFilter:
    return SessionFilter(
        q,
        domain,
        status,
        archived,
        pinned,
        everyone == "all",
        order_by,
        owner,
        team,
        has_errors,
        has_thumbs_down,
        since,
        until,
        legacy_id,
    )


WantedSessions = Annotated[SessionFilter, Depends(_wanted)]

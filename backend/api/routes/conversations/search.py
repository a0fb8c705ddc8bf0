"""Search in what was said."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import ScopeDep, ServicesDep
from backend.api.http.sanitize import Flag, Text, Whole
from backend.api.http.threads import long_read
from backend.conversations.search.service import MAX_PAGE, Search
from backend.conversations.search.service import search_messages as find_messages
from backend.schemas.conversations.search import SearchPage

LONGEST_SEARCH = 1_000
router = APIRouter(prefix="/search", tags=["search"])


@router.get("")
@long_read
def search_messages(
    services: ServicesDep,
    scope: ScopeDep,
    q: Annotated[
        Text,
        Query(
            description="Words that all are in a message, the last one or its beginning (from two"
            ' letters on). Words in "quotes" follow each other, as those of `CC-1001` do.'
            " Capital letters are small ones; all other signs are spaces.",
            max_length=LONGEST_SEARCH,
        ),
    ],
    limit: Annotated[Whole, Query(ge=1, le=MAX_PAGE)] = 20,
    cursor: Text | None = None,
    session_id: Annotated[UUID | None, Query(description="In this session only.")] = None,
    domain: Annotated[Text | None, Query(description="A domain's name.", min_length=1)] = None,
    archived: Annotated[
        Flag | None, Query(description="In archived sessions only, or in others; default: in all.")
    ] = None,
    everyone: Annotated[
        Literal["mine", "all"], Query(alias="scope", description="`all` is for admins.")
    ] = "mine",
) -> SearchPage:
    """Messages in which all of `q` is said, on any branch; the newest first.

    Searched are what people and agents said (the first 20,000 characters of a message), notices and
    errors, and of tools the name, the arguments and the result (the first 4,000 characters); not
    thinking. A search that takes more than two seconds is refused: 422.
    """
    wanted = Search(q, session_id, domain, archived, everyone == "all")
    with services.database.read() as session:
        return find_messages(session, scope, wanted, cursor=cursor, limit=limit)

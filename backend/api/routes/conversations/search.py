"""Search in the messages of sessions."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Flag, Text, Whole
from backend.api.http.threads import long_read
from backend.conversations.search.service import MAX_PAGE, Search
from backend.conversations.search.service import search_messages as find_messages
from backend.schemas.conversations.search import SearchPage
from backend.schemas.ids import SessionId

LONGEST_SEARCH = 1_000
router = APIRouter(prefix="/search", tags=["search"])


@router.get("")
@long_read
def search_messages(
    services: ServicesDep,
    scope: ReadScope,
    q: Annotated[
        Text,
        Query(
            description="Words that a message must all contain; the last may be incomplete (two"
            ' letters or more). Words in "quotes" must follow each other, as the parts of `CC-1001`'
            " must. Case is ignored; all other signs count as spaces.",
            max_length=LONGEST_SEARCH,
        ),
    ],
    limit: Annotated[Whole, Query(ge=1, le=MAX_PAGE)] = 20,
    cursor: Text | None = None,
    session_id: Annotated[SessionId | None, Query(description="In this session only.")] = None,
    domain: Annotated[
        Text | None, Query(description="A domain's name or id.", min_length=1)
    ] = None,
    archived: Annotated[
        Flag | None, Query(description="True: archived sessions only; false: others; absent: all.")
    ] = None,
    everyone: Annotated[
        Literal["mine", "all"], Query(alias="scope", description="`all` is for admins.")
    ] = "mine",
) -> SearchPage:
    """Messages that match all of `q`, on any branch.

    What people and agents said comes first, then calls, their results, notices and errors; each
    newest first.

    Compatibility forms, accents and case do not count, and words of scripts without spaces are
    found within longer runs. The search covers what people and agents said (the first 16,000
    characters of a message), notices and errors, and the name, arguments and result of tool calls
    (the first 4,000 characters), but not thinking. A search that takes more than two seconds is
    refused with 422.
    """
    wanted = Search(q, session_id, domain, archived, everyone == "all")
    with services.database.read() as session:
        return find_messages(session, scope, wanted, cursor=cursor, limit=limit)

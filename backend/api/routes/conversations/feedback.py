"""What people think of answers, for those who review sessions."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import AwareDatetime

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.files import csv_response
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import long_read
from backend.errors.base import InvalidInput
from backend.schemas.conversations.feedback import FeedbackPage, Rating
from backend.turns import feedback

router = APIRouter(tags=["turns"])
PAGE = 50
FORMATS: dict[int | str, dict[str, Any]] = {
    200: {"model": FeedbackPage, "content": {"text/csv": {"schema": {"type": "string"}}}}
}


@router.get("/feedback", response_model=None, responses=FORMATS)
@long_read
def list_feedback(
    services: ServicesDep,
    scope: ReadScope,
    rating: Rating | None = None,
    since: AwareDatetime | None = None,
    format: Annotated[
        Literal["json", "csv"], Query(description="`csv`: all of it, not a page.")
    ] = "json",
    cursor: Text | None = None,
    limit: Annotated[Whole | None, Query(ge=1, le=feedback.MAX_PAGE)] = None,
) -> FeedbackPage | Response:
    """Everybody's ratings and comments, the latest first, for those who may review sessions."""
    wanted = feedback.FeedbackFilter(rating, since)
    if format == "json":
        with services.database.read_snapshot() as session:
            return feedback.list_given(session, scope, wanted, cursor=cursor, limit=limit or PAGE)
    if cursor is not None or limit is not None:
        raise InvalidInput("A CSV file holds all of it: leave out `cursor` and `limit`.")
    with services.database.transaction() as session:
        table = feedback.export_given(session, scope, wanted)
    return csv_response(table, "feedback")

"""Reviews of sessions: begun by reviewers, seen by owners."""

from fastapi import APIRouter

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.conversations import reviews
from backend.schemas.conversations.reviews import NewReview, Review, Reviews
from backend.schemas.ids import SessionId

router = APIRouter(prefix="/sessions", tags=["reviews"])


@router.post("/{session_id}/reviews", status_code=201)
def begin_review(
    session_id: SessionId,
    services: ServicesDep,
    scope: AskScope,
    body: Sent[NewReview] | None = None,
) -> Review:
    """Open somebody else's session for reading, for an hour. Its owner sees who did, and why."""
    wanted = body or NewReview()
    with services.database.transaction() as session:
        return reviews.begin(session, scope, session_id, wanted.reason)


@router.get("/{session_id}/reviews")
def list_reviews(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Reviews:
    """Who has reviewed a session of the caller's, when and why; the latest first."""
    with services.database.read() as session:
        return reviews.list_reviews(session, scope, session_id)

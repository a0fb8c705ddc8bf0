"""The reviews of the fake API, and the list of everyone's sessions as a file."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from backend.schemas.conversations.reviews import NewReview, Review, Reviews
from backend.schemas.people.rights import SessionRights


class FakeReviews:
    """`needed`: the sessions that are read with a reason only; `made`: what owners see."""

    def __init__(self):
        self.needed: set[UUID] = set()
        self.made: list[Review] = []

    def add(self, name, reason) -> Review:
        now = datetime.now(UTC)
        review = Review(
            id=uuid4(), reviewer=name.lower(), reviewer_name=name, reason=reason, begun_at=now,
            ends_at=now + timedelta(hours=1),
        )  # fmt: skip
        self.made.insert(0, review)
        return review


def add_review_routes(app: FastAPI, store, api: str) -> None:
    held = store.reviews

    @app.post(f"{api}/sessions/{{session_id}}/reviews", status_code=201)
    def begin(session_id: UUID, new: NewReview):
        if not new.reason.strip():
            body = {"title": "Invalid input", "status": 422, "detail": "Say in a few words why."}
            return JSONResponse(body, 422)
        held.needed.discard(session_id)
        review = held.add("Local", new.reason)
        session = store.sessions[session_id]
        session.rights, session.review_ends_at = SessionRights.READ, review.ends_at
        return review

    @app.get(f"{api}/sessions/{{session_id}}/reviews")
    def reviews(session_id: UUID) -> Reviews:
        return Reviews(items=held.made)

    @app.get(f"{api}/sessions/csv")
    def as_csv(owner: str = "") -> Response:
        found = [one.title for one in store.sessions.values() if owner in one.owner]
        return Response("\n".join(["title", *found]), media_type="text/csv")

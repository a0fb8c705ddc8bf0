"""The search of the fake API: a word in the rows of all sessions, the newest first."""

from uuid import UUID

from fastapi.responses import JSONResponse

from backend.schemas.conversations.search import SearchHit, SearchPage, SnippetPart


def add_search_route(app, api, store):
    @app.get(f"{api}/search")
    def search(
        q: str, limit: int = 20, cursor: int = 0, session_id: UUID | None = None,
        domain: str | None = None, archived: bool | None = None, scope: str | None = None,
    ):  # fmt: skip
        if store.search_refusal is not None:
            body = store.search_refusal.model_dump()
            return JSONResponse(body, 422, media_type="application/problem+json")
        hits = [
            _hit(session, row, q)
            for session in store.sessions.values()
            if session_id in (None, session.id) and archived in (None, session.archived)
            and (scope == "all" or session.owner == store.server.user)
            for row in store.rows[session.id] if q in str(row.content)
        ]  # fmt: skip
        hits.sort(key=lambda hit: hit.created_at, reverse=True)
        more = len(hits) > cursor + limit
        return SearchPage(
            items=hits[cursor : cursor + limit],
            next_cursor=str(cursor + limit) if more else None,
            is_complete=store.search_is_complete,
        )


def _hit(session, row, q):
    before, _, after = row.content["text"].partition(q)
    parts = [(before, False), (q, True), (after, False)]
    return SearchHit(
        session_id=session.id, session_title=session.title, domain=session.domain,
        archived=session.archived, owner=session.owner, owner_name=session.owner,
        position=row.position, message_id=row.id,
        turn_id=row.turn_id, message_type=row.message_type, content_type=row.content_type,
        agent=row.agent, created_at=row.created_at, is_on_branch=True,
        snippet=[SnippetPart(text=text, is_hit=is_hit) for text, is_hit in parts if text],
    )  # fmt: skip

"""Sessions in which something was said, and what a search then finds."""

import json
from typing import Any

from backend.types import JSON
from tests.stack import Stack


def say(stack: Stack, session_id: str, *rows: tuple[str, str, JSON]) -> None:
    """Add display messages to a session: type, content type, content."""
    stack.query_and_commit(
        """WITH said AS (
             SELECT n, one->>0 AS speaker, one->>1 AS kind, one->2 AS content
             FROM jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS given (one, n)
           ), counted AS (
             UPDATE conversations SET message_count = message_count + (SELECT count(*) FROM said)
             WHERE id = CAST(:id AS uuid) RETURNING message_count - (SELECT count(*) FROM said) c
           ) INSERT INTO display_messages
             (conversation_id, position, message_type, content_type, status, content, created_at)
           SELECT CAST(:id AS uuid), c + n, speaker, kind, 'completed', content, clock_timestamp()
           FROM said, counted""",
        id=session_id,
        rows=json.dumps(rows),
    )


def texts_of(*said: str) -> list[tuple[str, str, JSON]]:
    return [("user", "text", {"text": one}) for one in said]


def search(stack: Stack, q: str, **params: Any) -> JSON:
    answer = stack.client.get("/search", params={"q": q, **params})
    assert answer.status_code == 200, answer.text
    page: JSON = answer.json()
    return page


def found(stack: Stack, session_id: str, q: str) -> list[int]:
    """The positions at which a session says this, in order."""
    hits = search(stack, q, session_id=session_id, limit=50)["items"]
    return sorted(hit["position"] for hit in hits)

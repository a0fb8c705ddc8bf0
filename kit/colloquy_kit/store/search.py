"""Searching titles and texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from colloquy_kit.store.conversations import Whose
from colloquy_kit.store.errors import NotAllowed
from colloquy_kit.store.tables import C, M, S, Tables

AROUND = 60  # characters before and after the first word
MOST_FOUND = 200


@dataclass(frozen=True)
class Hit(Generic[C, M]):
    """A conversation that was found, by its title or by a message; `text`: around the words."""

    conversation: C
    message: M | None
    text: str


def search(
    session: Session, tables: Tables[C, S, M], whose: Whose, words: str, *, limit: int = 20
) -> Sequence[Hit[C, M]]:
    """Return hits: titles first, then texts, the latest first, that contain all words.

    Case does not matter (on SQLite only that of a to z). Raise NotAllowed without words, or for a
    limit that is not between 1 and MOST_FOUND.
    """
    wanted = words.split()
    if not wanted or not 1 <= limit <= MOST_FOUND:
        raise NotAllowed(f"Search for at least one word, and for at most {MOST_FOUND} hits.")
    own, shown = tables.conversation, tables.display_message
    titles = session.scalars(
        select(own)
        .where(whose, _contains(own.title, wanted))
        .order_by(own.updated_at.desc(), own.id.desc())
        .limit(limit)
    )
    hits: list[Hit[C, M]] = [Hit(one, None, _around(one.title, wanted)) for one in titles]
    said = shown.content["text"].as_string()
    texts = session.execute(
        select(own, shown)
        .join(shown, shown.conversation_id == own.id)
        .where(whose, shown.content_type == "text", _contains(said, wanted))
        .order_by(shown.inserted_at.desc(), shown.sequence.desc())
        .limit(limit)
    )
    hits += [Hit(one, row, _around(row.content["text"], wanted)) for one, row in texts]
    return hits[:limit]


def _contains(text: Any, words: Sequence[str]) -> Any:
    return and_(*(text.icontains(word, autoescape=True) for word in words))


def _around(text: str, words: Sequence[str]) -> str:
    place = max(text.lower().find(words[0].lower()), 0)
    start, end = max(place - AROUND, 0), place + len(words[0]) + AROUND
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")

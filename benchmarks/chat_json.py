"""The peer with one JSON per chat, as in Open WebUI: a row whose JSON holds the whole history.

Its `chat.chat` column is JSON with `history.messages` by id and `history.currentId`; opening a
chat reads all of it (https://github.com/open-webui/open-webui, backend/open_webui/models/chats.py).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import orjson
import psycopg

from benchmarks.ground import Ground, plain_url
from benchmarks.texts import TurnText

PAGE = 50
ROLES = ("user", "assistant", "assistant", "tool", "assistant")


class ChatJson:
    """One chat in one row."""

    def __init__(self, connection: psycopg.Connection[Any], turns: Sequence[TurnText]) -> None:
        self._connection = connection
        connection.execute("CREATE TABLE chat (id text PRIMARY KEY, chat json NOT NULL)")
        body = orjson.dumps(_chat(turns)).decode()
        connection.execute("INSERT INTO chat VALUES ('1', %s::json)", (body,))

    def open(self) -> list[str]:
        """Read the chat as its page does, and return the last messages."""
        row = self._connection.execute("SELECT chat::text FROM chat WHERE id = '1'").fetchone()
        assert row is not None
        history = orjson.loads(row[0])["history"]
        texts: list[str] = []
        message_id = history["currentId"]
        while message_id and len(texts) < PAGE:
            message = history["messages"][message_id]
            texts.append(message["content"])
            message_id = message["parentId"]
        return texts[::-1]


@contextmanager
def chat_json(ground: Ground, turns: Sequence[TurnText]) -> Iterator[ChatJson]:
    """Open the chat in a new database."""
    with psycopg.connect(plain_url(ground.new_database()), autocommit=True) as connection:
        yield ChatJson(connection, turns)


def _chat(turns: Sequence[TurnText]) -> dict[str, Any]:
    messages: dict[str, Any] = {}
    parent: str | None = None
    for said in turns:
        for role, text in zip(ROLES, said.parts, strict=True):
            message_id = str(uuid4())
            if parent:
                messages[parent]["childrenIds"].append(message_id)
            messages[message_id] = {
                "id": message_id,
                "parentId": parent,
                "childrenIds": [],
                "role": role,
                "content": text,
                "timestamp": 1_780_000_000,
            }
            parent = message_id
    return {"title": "A long conversation", "history": {"messages": messages, "currentId": parent}}

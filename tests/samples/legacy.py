"""Files of the older system, written anew in its shape: an app's table beside AgentX's records."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECOND = 1_735_700_000  # 2025-01-01
SCHEMA = """
CREATE TABLE conversations (
    id TEXT PRIMARY KEY, domain_id TEXT NOT NULL, title TEXT, session_id TEXT,
    created_at INTEGER, updated_at INTEGER
);
CREATE TABLE domains (id TEXT PRIMARY KEY, name TEXT, system_prompt TEXT, mcp_servers TEXT);
CREATE TABLE unstorage (
    key TEXT PRIMARY KEY, value TEXT, blob BLOB,
    created_at TEXT DEFAULT CURRENT_TIMESTAMP, updated_at TEXT DEFAULT CURRENT_TIMESTAMP
);
"""


class Sample:
    """A file that is being written; the records are in AgentX's store of keys and values."""

    def __init__(self, path: Path, schema: str = SCHEMA) -> None:
        self.path = path
        self.connection = sqlite3.connect(path)
        self.connection.executescript(schema)

    def row(
        self,
        id: Any,
        session_id: Any = None,
        *,
        domain: str = "d1",
        title: Any = "A title",
        at: Any = SECOND,
    ) -> None:
        values = (id, domain, title, session_id, at, at)
        self.connection.execute("INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?)", values)

    def domain(self, id: str, prompt: str = "You help.", servers: Any = None) -> None:
        values = (id, f"Domain {id}", prompt, json.dumps(servers) if servers else None)
        self.connection.execute("INSERT INTO domains VALUES (?, ?, ?, ?)", values)
        self.put(f"containers:domain_{id}", {"containerId": f"domain_{id}"})

    def image(
        self,
        image_id: str,
        session_id: str,
        *,
        domain: str = "d1",
        messages: Sequence[Any] = (),
        at: int = (SECOND - 60) * 1000,
        **config: Any,
    ) -> None:
        """Write an image with its session, and the session's messages."""
        container = f"domain_{domain}"
        ids = {"imageId": image_id, "containerId": container, "sessionId": session_id}
        times = {"createdAt": at, "updatedAt": at}
        self.put(f"images:{image_id}", {**ids, "name": "", **config, **times})
        self.put(f"idx:images:container:{container}:{image_id}", image_id)
        self.put(f"sessions:{session_id}", {**ids, **times})
        if messages:
            self.put(f"messages:{session_id}", messages)

    def put(self, key: str, value: Any) -> None:
        text = value if isinstance(value, bytes | str) else json.dumps(value)
        self.connection.execute("INSERT INTO unstorage (key, value) VALUES (?, ?)", (key, text))

    def done(self) -> Path:
        self.connection.commit()
        self.connection.close()
        return self.path


def said(*texts: str) -> list[dict[str, Any]]:
    """Return messages of a person and an assistant in turn, as AgentX stores them."""
    return [
        {
            "id": f"msg_{number}",
            "role": role,
            "subtype": role,
            "content": text if role == "user" else [{"type": "text", "text": text}],
            "timestamp": (SECOND + number) * 1000,
        }
        for number, text in enumerate(texts)
        for role in [("user", "assistant")[number % 2]]
    ]


def asked_a_tool(output: Any) -> list[dict[str, Any]]:
    """Return a question that is answered with a call, its result and a text."""
    call = {"type": "tool-call", "id": "call_1", "name": "ledger", "input": {"year": 2024}}
    result = {"type": "tool-result", "id": "call_1", "name": "ledger", "output": output}
    question, answer = said("How much?", "This much.")
    at = {"timestamp": SECOND * 1000}
    return [
        question,
        {"id": "m", "role": "assistant", "subtype": "tool-call", "toolCall": call, **at},
        {"id": "n", "role": "tool", "subtype": "tool-result", "toolCallId": "call_1",
         "toolResult": result, **at},
        answer,
    ]  # fmt: skip

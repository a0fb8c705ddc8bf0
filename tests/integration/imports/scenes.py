"""Uploads of the tests, and what to wait for."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence

import httpx

from backend.types import JSON
from tests.stack import Stack

SECONDS = 60


def lines(*conversations: JSON) -> bytes:
    """A file of JSON Lines."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in conversations)


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """A zip of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def openai(*said: tuple[str, str], **more: object) -> JSON:
    """A line of OpenAI's form: pairs of a role and a text."""
    return {"messages": [{"role": role, "content": text} for role, text in said], **more}


def chatgpt(
    nodes: Sequence[tuple[str, str | None, str, str]], current: str, **more: object
) -> JSON:
    """A conversation in ChatGPT's form: nodes as id, parent, role and text."""
    children: dict[str | None, list[str]] = {}
    for node, parent, _, _ in nodes:
        children.setdefault(parent, []).append(node)
    mapping = {
        node: {
            "id": node,
            "parent": parent,
            "children": children.get(node, []),
            "message": {
                "id": node,
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": 1_700_000_000 + place,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "weight": 1.0,
                "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
                "recipient": "all",
            },
        }
        for place, (node, parent, role, text) in enumerate(nodes)
    }
    base = {
        "title": "A conversation",
        "conversation_id": "conversation-1",
        "create_time": 1_700_000_000,
        "update_time": 1_700_000_100,
        "default_model_slug": "gpt-4o",
    }
    return {**base, "mapping": mapping, "current_node": current, **more}


def upload(stack: Stack, content: bytes, name: str = "export.zip") -> httpx.Response:
    return stack.client.post("/imports", files={"file": (name, content)})


def inspected(stack: Stack, content: bytes, name: str = "export.zip") -> JSON:
    response = upload(stack, content, name)
    assert response.status_code == 201, response.text
    return dict(response.json())


def ended(stack: Stack, import_id: str) -> JSON:
    def found() -> JSON | None:
        one: JSON = stack.client.get(f"/imports/{import_id}").json()
        return None if one["status"] == "running" else one

    return dict(stack.wait_for(found, "the import does not end", SECONDS))


def imported(
    stack: Stack, content: bytes, name: str = "export.zip", domain: str | None = None
) -> JSON:
    """What became of an upload."""
    import_id = inspected(stack, content, name)["id"]
    started = stack.client.post(f"/imports/{import_id}/start", json={"domain": domain})
    assert started.status_code == 200, started.text
    return ended(stack, import_id)


def session_of(stack: Stack, source_id: str) -> str:
    """The session that a conversation was imported to."""
    (found,) = stack.query(
        "SELECT conversation_id FROM imported_conversations WHERE source_id = :id", id=source_id
    )
    return str(found[0])

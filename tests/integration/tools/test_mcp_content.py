"""What a tool gives beside words reaches people, bounded, and the model as a line."""

import base64
from typing import Any
from uuid import uuid4

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, check_views, make_session, tool_domain
from tests.stack import Stack

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA = base64.b64encode(PNG).decode()
ALL_KINDS = CallToolResult(
    content=[
        TextContent(type="text", text="Here it is."),
        ImageContent(type="image", data=DATA, mimeType="image/png"),
        AudioContent(type="audio", data=DATA, mimeType="audio/wav"),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(uri="file:///a.svg", blob=DATA, mimeType="image/svg+xml"),
        ),
        ResourceLink(type="resource_link", name="report", uri="https://h/r.pdf"),
    ],
    structuredContent={"total": 42},
)


def result_rows(stack: Stack, session_id: str) -> list[JSON]:
    rows, _ = check_views(stack, session_id)
    return [row for row in rows if row["message_type"] == "tool"]


def fetch(stack: Stack, session_id: str, row: JSON, form: str) -> Any:
    path = f"/sessions/{session_id}/results/{row['metadata']['result_id']}"
    return stack.client.get(path, params={"format": form})


def test_blocks_of_all_kinds_are_shown_and_told(stack: Stack, model: ScriptedModel) -> None:
    with tool_domain(stack, lambda *_: ALL_KINDS, "plot") as (domain, _):
        session_id = make_session(stack, domain["id"])
        stack.chat(script({"tools": [{"name": "plot"}]}, {"text": "There."}), session_id)

    result, image, sound, svg = result_rows(stack, session_id)
    assert result["metadata"]["structured"] == {"total": 42}
    assert [row["content_type"] for row in (image, sound, svg)] == ["image", "file", "image"]
    assert image["content"]["bytes"] == len(PNG) and DATA not in str(result_rows)
    read = model.messages[-1][-1]["content"].splitlines()
    assert read[0] == "Here it is."
    assert read[1].startswith("[image image/png") and "you cannot see it" in read[1]
    assert read[4] == "[link report https://h/r.pdf]"

    picture = fetch(stack, session_id, image, "file")
    assert (picture.content, picture.headers["content-type"]) == (PNG, "image/png")
    assert picture.headers["content-disposition"].startswith("attachment")
    drawn = fetch(stack, session_id, svg, "file")
    assert drawn.headers["content-type"] == "application/octet-stream"
    assert drawn.headers["x-content-type-options"] == "nosniff"
    check_problem(fetch(stack, session_id, image, "csv"), 422)
    stranger = f"/sessions/{uuid4()}/results/{image['metadata']['result_id']}"
    check_problem(stack.client.get(stranger), 404)


def test_an_error_result_keeps_its_picture(stack: Stack) -> None:
    said = [
        TextContent(type="text", text="The page did not load."),
        ImageContent(type="image", data=DATA, mimeType="image/png"),
    ]
    broken = CallToolResult(content=said, isError=True)
    with tool_domain(stack, lambda *_: broken, "browse") as (domain, _):
        session_id = make_session(stack, domain["id"])
        stack.chat(script({"tools": [{"name": "browse"}]}, {"text": "So be it."}), session_id)

    result, image = result_rows(stack, session_id)
    assert result["content"]["is_error"] and "did not load" in result["content"]["content"]
    assert fetch(stack, session_id, image, "file").content == PNG


def test_the_session_goes_on_after_pictures_and_is_rebuilt_with_them(stack: Stack) -> None:
    with tool_domain(stack, lambda *_: ALL_KINDS, "plot") as (domain, _):
        session_id = make_session(stack, domain["id"])
        for _ in range(2):
            turn = stack.chat(script({"tools": [{"name": "plot"}]}, {"text": "There."}), session_id)
            assert turn["status"] == "succeeded"

    assert stack.client.delete(f"/sessions/{session_id}").status_code == 204
    kept = stack.query(
        "SELECT count(*) FROM tool_results WHERE conversation_id = :id", id=session_id
    )
    assert kept[0][0] == 0

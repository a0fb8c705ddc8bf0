"""Pictures and files that are kept: what tools gave, and what people uploaded."""

import base64
import hashlib
from collections.abc import Iterator

import pytest
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
)

from backend.types import JSON
from tests.fakes import script
from tests.integration.api.test_files import uploaded
from tests.integration.artifacts.scenes import call, download, made, version
from tests.integration.scenes import make_domain, make_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
PLAN = b"cc,plan\nCC-1,100\nCC-2,200\n"


def picture(raw: bytes) -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(raw).decode(), mimeType="image/png")


def resource(raw: bytes, uri: str, media_type: str) -> EmbeddedResource:
    blob = base64.b64encode(raw).decode()
    held = BlobResourceContents.model_validate({"uri": uri, "blob": blob, "mimeType": media_type})
    return EmbeddedResource(type="resource", resource=held)


@pytest.fixture
def given() -> list[bytes]:
    """What the tool `plot` draws, call by call; the last one from then on."""
    return [PNG]


@pytest.fixture
def session_id(stack: Stack, given: list[bytes]) -> Iterator[str]:
    """A session whose agent keeps files, with a tool that gives a picture and two files."""

    def answer(_name: str, _arguments: JSON) -> CallToolResult:
        raw = given.pop(0) if len(given) > 1 else given[0]
        svg = resource(SVG, "file:///d/drawing.png", "image/png")
        page = resource(b"<html>x</html>", "file:///d/report.pdf", "application/pdf")
        return CallToolResult(content=[picture(raw), svg, page])

    with ToolServer([tool("plot"), tool("say")], answer) as server:
        domain = make_domain(
            stack,
            mcp_servers={"drawing": server.template},
            tools=["make_artifact", "revise_artifact", "read_artifact", "keep_file"],
        )
        yield make_session(stack, domain["name"])


def plot(stack: Stack, session_id: str) -> None:
    stack.chat(script({"tools": [{"name": "plot"}]}, {"text": "Drawn."}), session_id)


def test_a_picture_of_a_tool_is_kept_and_revised(
    stack: Stack, session_id: str, given: list[bytes]
) -> None:
    other = PNG + b"more"
    given[:] = [PNG, PNG, other]
    plot(stack, session_id)
    said = call(stack, session_id, "keep_file", call="plot", title="Spend, drawn")
    named = made(stack, session_id)
    found, saved = version(stack, named), download(stack, named, "file")
    plot(stack, session_id)
    same = call(stack, session_id, "keep_file", call="plot", artifact_id=named["artifact_id"])
    plot(stack, session_id)
    call(stack, session_id, "keep_file", call="plot", artifact_id=named["artifact_id"])
    second = made(stack, session_id)

    assert "artifact:" in said
    assert (named["kind"], named["title"], named["version"]) == ("image", "Spend, drawn", 1)
    assert (found["media_type"], found["bytes"]) == ("image/png", len(PNG))
    digest = hashlib.sha256(PNG).hexdigest()
    assert (found["hash"], found["origin"]["fingerprint"]) == (digest, digest)
    calls = [r for r in stack.messages(session_id) if r["content_type"] == "tool_call"]
    assert found["origin"]["of_tool"] == "plot"
    assert found["origin"]["of_call"] == calls[0]["content"]["call_id"]
    assert (saved.content, saved.headers["content-type"]) == (PNG, "image/png")
    assert "content is equal" in same
    assert (second["artifact_id"], second["version"]) == (named["artifact_id"], 2)
    assert second["title"] == "Spend, drawn"
    assert download(stack, second, "file").content == other


def test_what_runs_scripts_is_a_file_whatever_it_is_called(stack: Stack, session_id: str) -> None:
    plot(stack, session_id)
    call(stack, session_id, "keep_file", call="plot", number=2)
    drawing = made(stack, session_id)
    call(stack, session_id, "keep_file", call="plot", number=3)
    page = made(stack, session_id)
    saved = [download(stack, one, "file") for one in (drawing, page)]

    assert (drawing["kind"], drawing["title"]) == ("file", "drawing.png")
    assert version(stack, drawing)["media_type"] == "image/svg+xml"
    assert version(stack, drawing)["preview"] == {"name": "drawing.png"}
    assert (page["kind"], version(stack, page)["media_type"]) == ("file", "text/html")
    assert saved[0].content == SVG
    for answer in saved:
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_uploaded_file_is_kept_after_it_is_deleted(stack: Stack, session_id: str) -> None:
    file = uploaded(stack, "Plan 2026.csv", PLAN, session_id=session_id)
    call(stack, session_id, "keep_file", file="plan 2026.csv")
    named = made(stack, session_id)
    same = call(
        stack, session_id, "keep_file", file=file["source"], artifact_id=named["artifact_id"]
    )
    stack.client.delete(f"/files/{file['id']}")
    found, saved = version(stack, named), download(stack, named, "file")
    gone = call(stack, session_id, "keep_file", file="Plan 2026.csv")

    assert (named["kind"], named["title"]) == ("file", "Plan 2026.csv")
    assert (found["media_type"], found["hash"]) == ("text/csv", file["sha256"])
    told = {"file": "Plan 2026.csv", "file_id": file["id"], "fingerprint": file["sha256"]}
    assert told.items() <= found["origin"].items()
    assert saved.content == PLAN
    assert 'filename="Plan 2026.csv"' in saved.headers["content-disposition"]
    assert "content is equal" in same
    assert "no uploaded file “Plan 2026.csv”" in gone


def test_what_another_branch_has_brought_is_not_kept(stack: Stack, session_id: str) -> None:
    drawn = stack.chat(script({"tools": [{"name": "plot"}]}, {"text": "Drawn."}), session_id)
    keep = {"tools": [{"name": "keep_file", "args": {"call": "plot"}}]}
    message = {"message": script(keep, {"text": "Done."})}
    answer = stack.client.post(f"/turns/{drawn['turn_id']}/edit", json=message)
    assert answer.is_success, answer.text
    stack.finished(answer.json()["id"])

    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    assert "No result of “plot”" in results[-1]["content"]["content"]


def test_what_cannot_be_kept_is_told(stack: Stack, session_id: str) -> None:
    for content in (PLAN, b"cc,plan\nCC-3,300\n"):
        uploaded(stack, "twice.csv", content, session_id=session_id)
    early = call(stack, session_id, "keep_file", call="plot")
    plot(stack, session_id)
    call(stack, session_id, "keep_file", call="plot")
    image = made(stack, session_id)["artifact_id"]
    other = make_session(stack)
    uploaded(stack, "secret.csv", PLAN, session_id=other)

    def said(**arguments: object) -> str:
        return call(stack, session_id, "keep_file", **arguments)

    assert "No result of “plot”" in early and "No tool has given one" in early
    assert "Files came from: plot" in said(call="say")
    assert "holds 3 files; there is no 4" in said(call="plot", number=4)
    assert "either `call` or `file`" in said()
    assert "either `call` or `file`" in said(call="plot", file="twice.csv")
    assert "`number` counts" in said(file="twice.csv", number=1)
    assert "Several files" in said(file="twice.csv")
    assert "There are: twice.csv" in said(file="secret.csv")
    assert "of the kind image" in said(call="plot", number=2, artifact_id=image)
    revised = call(stack, session_id, "revise_artifact", artifact_id=image, content="x")
    assert "Call keep_file" in revised

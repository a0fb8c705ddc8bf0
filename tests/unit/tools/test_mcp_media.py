"""Pictures and files that a tool's result holds encoded: people get them, models read of them."""

import base64
import json
import random
from typing import Any

import pytest
from mcp.types import CallToolResult, EmbeddedResource, ImageContent, TextContent
from mcp.types import TextResourceContents as TextResource

from backend.tools.mcp.results.content import Content, read_result
from tests.patience import ends_within

NOISE = random.Random(7).randbytes(300_000)
PNG = b"\x89PNG\r\n\x1a\n" + NOISE
DATA = base64.b64encode(PNG).decode()
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0" + NOISE).decode()
LINE = "[image image/png, 300.0 KB: shown to people, you cannot see it]"
SMALL = base64.b64encode(PNG[:70]).decode()


def read(*blocks: Any, structured: Any = None) -> Content:
    return read_result(CallToolResult(content=list(blocks), structuredContent=structured))


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def image(data: str = DATA) -> ImageContent:
    return ImageContent(type="image", data=data, mimeType="image/png")


def attached(content: Content) -> list[bytes]:
    return [base64.b64decode(one["data"]) for one in (content.artifact or {})["attachments"]]


DUMPED = {"type": "image", "data": DATA, "mimeType": "image/png"}


@pytest.mark.parametrize(
    "structured",
    [
        {"result": [DUMPED]},
        {"result": {**DUMPED, "annotations": None, "_meta": None}},
        {"result": {**DUMPED, "annotations": None}},
        {"result": DATA},
        {"result": f"data:image/png;base64,{DATA}"},
        {"picture": {"mime_type": "image/png", "data": DATA}, "total": 42},
        {"a": [{"b": {"media_type": "image/png", "base64": DATA}}], "total": 42},
        {"html": f'<img src="data:image/png;charset=utf-8;base64,{DATA}">', "total": 42},
    ],
)
def test_a_picture_in_structured_content_is_told_in_a_line(structured: Any) -> None:
    content = read(image(), structured=structured)

    assert LINE in content.text
    assert len(content.text) < 500
    assert attached(content) == [PNG]
    assert ("42" in content.text) == ("total" in structured)
    assert DATA[:200] not in json.dumps(content.artifact["structured"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (DATA, LINE),
        (f"Before.\n{DATA}\nAfter.", f"Before.\n{LINE}\nAfter."),
        (f"![plot](data:image/png;base64,{DATA})", f"![plot]({LINE})"),
        (json.dumps({"picture": DATA, "n": 1}), json.dumps({"picture": LINE, "n": 1})),
        (DATA.replace("/", "\\/"), LINE),
        (base64.encodebytes(PNG).decode(), f"{LINE}\n"),
        (json.dumps(base64.encodebytes(PNG).decode()).replace("/", "\\/"), f'"{LINE}\\n"'),
    ],
)
def test_a_picture_in_a_text_is_told_in_a_line(said: str, kept: str) -> None:
    content = read(text(said))

    assert content.text == kept
    assert attached(content) == [PNG]


def test_one_picture_that_is_said_thrice_is_kept_once() -> None:
    content = read(image(), text(DATA), structured={"again": DATA, "other": JPEG})

    assert content.text == f"{LINE}\n{LINE}"
    assert len(attached(content)) == 2
    assert content.artifact is not None
    assert content.artifact["structured"]["again"] == LINE


def test_a_small_picture_is_set_apart_where_its_kind_is_said() -> None:
    content = read(structured={"type": "image", "mimeType": "image/png", "data": SMALL})

    assert SMALL not in content.text
    assert attached(content) == [PNG[:70]]


def test_a_resource_with_a_picture_in_it_is_a_text_with_a_line() -> None:
    page = TextResource(uri="file:///a.html", text=f"<p>data:image/png;base64,{DATA}</p>")

    content = read(EmbeddedResource(type="resource", resource=page))

    assert content.text == f"<p>{LINE}</p>"


@pytest.mark.parametrize(
    "said",
    [
        "ACGT" * 5_000,
        "9" * 40_000,
        "a" * 39 + "/" * 3_000,
        base64.b64encode(NOISE[:700]).decode(),
        "ssh-ed25519 " + base64.b64encode(NOISE[:64]).decode(),
        "iVBORw0KGgo is how each PNG begins",
        SMALL,
        "data:text/plain;base64,aGVsbG8=",
        "/9j/" + "path/" * 10,
    ],
)
def test_what_is_no_picture_is_read_as_it_was_said(said: str) -> None:
    assert read(text(said)) == Content(said, None)
    assert read(text("x"), structured={"a": said}).artifact == {
        "kind": "content", "structured": {"a": said}, "attachments": [],
    }  # fmt: skip


def test_an_address_of_a_picture_stays() -> None:
    structured = {"mimeType": "image/png", "data": "https://example.org/" + "plot" * 30}

    assert json.loads(read(structured=structured).text) == structured


@pytest.mark.parametrize(
    "said",
    [
        "data:" * 1_000_000,
        "A" * 5_000_000,
        ("A" * 59 + " ") * 80_000,
        ("A" * 60 + "\n") * 80_000 + "!",
        ("data:a/b;" + "x=y;" * 10) * 80_000,
        "\\" * 5_000_000,
        "A" * 60 + ("\n" + "B" * 59) * 80_000,
    ],
    ids=["schemes", "one run", "short runs", "lines", "parameters", "backslashes", "short lines"],
)
def test_no_text_is_slow_to_look_through(said: str) -> None:
    with ends_within(20):
        assert read(text(said)).text == said

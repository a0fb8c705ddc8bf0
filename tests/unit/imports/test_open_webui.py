"""Open WebUI's export, in samples written for these tests in its shape."""

import html
import json
from typing import Any

from backend.imports.formats import open_webui
from tests.unit.imports.uploads import branch, read_all, single

JSON = dict[str, Any]


def message(key: str, parent: str | None, role: str, content: Any, **more: Any) -> JSON:
    return {
        "id": key,
        "parentId": parent,
        "childrenIds": [],
        "role": role,
        "content": content,
        "timestamp": 1_760_000_000,
    } | more


def chat(*messages: JSON, current: str | None = None, **more: Any) -> JSON:
    history = {
        "messages": {one["id"]: one for one in messages},
        "currentId": current or messages[-1]["id"],
    }
    return {
        "id": "chat-1",
        "user_id": "u",
        "title": "Cranes",
        "chat": {"title": "Cranes", "models": ["llama3:8b"], "history": history},
        "created_at": 1_760_000_000,
        "updated_at": 1_760_000_100_000,
    } | more


def details(kind: str, inner: str, **attributes: str) -> str:
    written = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
    return f'<details type="{kind}"{written}>\n<summary>Done</summary>\n{inner}\n</details>\n'


def test_answers_of_several_models_are_branches_and_both_units_of_time_are_read(tmp_path):
    upload = single(
        tmp_path,
        [
            chat(
                message("a", None, "user", "Which crane?", models=["x", "y"]),
                message("b", "a", "assistant", "Crane 1", model="x", modelIdx=0),
                message("c", "a", "assistant", "Crane 2", model="y", timestamp=1_760_000_001_000),
                current="b",
            )
        ],
    )

    [read], skipped = read_all(upload, open_webui)

    assert (skipped, read.notes, read.model) == ([], [], "llama3:8b")
    assert branch(read) == ["user: Which crane?", "assistant: Crane 1"]
    assert branch(read, "c") == ["user: Which crane?", "assistant: Crane 2"]
    assert [one.model for one in read.messages] == [None, "x", "y"]
    times = {one.id: one.created_at for one in read.messages}
    assert (times["c"] - times["b"]).total_seconds() == 1
    assert (read.updated_at - read.created_at).total_seconds() == 100


def test_calls_that_are_written_twice_are_read_from_the_output(tmp_path):
    twice = details(
        "tool_calls", "", done="true", id="c1", name="load", arguments='"{}"', result='"cut…"'
    )
    output = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "Ask the scale."}]},
        {"type": "function_call", "call_id": "c1", "name": "load", "arguments": '{"crane": 1}'},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "9 t, in full"}],
        },
        {"type": "message", "content": [{"type": "output_text", "text": "Nine tonnes."}]},
        {"type": "open_webui:code_interpreter", "code": "9 * 2", "output": {"result": "18"}},
    ]
    upload = single(
        tmp_path,
        [
            chat(
                message("a", None, "user", "How heavy?"),
                message("b", "a", "assistant", f"{twice}Nine tonnes.", output=output),
            )
        ],
    )

    [read], _ = read_all(upload, open_webui)

    assert branch(read) == [
        "user: How heavy?",
        'assistant: (Ask the scale.) | load({"crane": 1})',
        "tool: load=9 t, in full",
        'assistant: Nine tonnes. | code_interpreter({"code": "9 * 2"})',
        "tool: code_interpreter=18",
    ]


def test_calls_and_thoughts_are_read_from_html_where_there_is_no_output(tmp_path):
    call = details(
        "tool_calls",
        "",
        done="true",
        id="c1",
        name="load",
        arguments=json.dumps('{"crane": 2}'),
        result=json.dumps("7 t & <more>"),
    )
    running = details("tool_calls", "", done="false", id="c2", name="hoist", arguments="{}")
    thought = details("reasoning", "&gt; Is it \n&gt; windy?", done="true", duration="3")
    upload = single(
        tmp_path,
        [chat(message("a", None, "assistant", f"{thought}First. {call}Then.{running}<details>x"))],
    )

    [read], _ = read_all(upload, open_webui)

    assert branch(read) == [
        'assistant: (Is it \nwindy?) | \nFirst.  | load({"crane": 2})',
        "tool: load=7 t & <more>",
        "assistant: \nThen. | hoist({}) | \n<details>x",
    ]


def test_lists_and_chats_inside_of_chats_are_read(tmp_path):
    listed = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    nested = {"id": "n", "chat": {"chat": {"title": "Old", "models": [], "messages": listed}}}

    read, _ = read_all(
        single(tmp_path, [nested, {"title": "Bare", "models": [], "messages": listed}]), open_webui
    )

    assert [one.title for one in read] == ["Old", "Bare"]
    assert [branch(one) for one in read] == [["user: Hi", "assistant: Hello"]] * 2
    assert read[1].source_id != read[0].source_id


def test_pictures_inside_are_files_and_references_are_missing(tmp_path):
    inside = "data:image/png;base64,iVBORw0KGgo="
    files = [
        {"type": "image", "url": inside},
        {"type": "image", "url": "/api/v1/files/9/content"},
        {
            "type": "file",
            "file": {"filename": "plan.pdf", "meta": {"content_type": "application/pdf"}},
        },
    ]
    content = [
        {"type": "text", "text": "See these"},
        {"type": "image_url", "image_url": {"url": inside}},
        {"type": "video_url"},
    ]
    upload = single(
        tmp_path,
        [
            chat(
                message("a", None, "user", content, files=files),
                message("b", "a", "assistant", "", error={"content": "model is gone"}),
            )
        ],
    )

    [read], _ = read_all(upload, open_webui)

    assert branch(read) == [
        f"user: See these | [picture image/png {inside}]"
        " | [/api/v1/files/9/content image/* missing] | [plan.pdf application/pdf missing]",
        "assistant: Error: model is gone",
    ]
    assert read.notes == ["A part of the unknown kind 'video_url' was left out."]

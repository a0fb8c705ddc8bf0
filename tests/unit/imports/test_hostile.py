"""Exports that are wrong on purpose: huge, deep, and with values of the wrong kinds everywhere."""

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.imports.formats import chainlit, chatgpt, claude, langgraph, librechat, open_webui
from backend.imports.langgraph_dump import HEAD
from backend.imports.model import ImportedConversation
from backend.imports.registry import Format
from backend.imports.upload import Upload
from backend.imports.values import moment
from tests.unit.imports.uploads import read_all, single

JSON = dict[str, Any]
# For each format, a conversation that uses every field its reader knows.
SAMPLES: dict[Format, JSON] = {
    chatgpt: {
        "conversation_id": "c",
        "title": "t",
        "create_time": 1,
        "current_node": "a",
        "mapping": {
            "a": {
                "parent": "b",
                "children": ["c"],
                "message": {
                    "author": {"role": "assistant", "name": "n"},
                    "create_time": 2,
                    "recipient": "python",
                    "status": "finished",
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": [
                            {"content_type": "image_asset_pointer", "asset_pointer": "file-a"}
                        ],
                        "thoughts": [{"summary": "s", "content": "c", "chunks": ["x"]}],
                        "text": "x",
                    },
                    "metadata": {
                        "model_slug": "m",
                        "attachments": [{"id": "file-b", "name": "n", "mime_type": "a/b"}],
                        "content_references": [{"matched_text": "x", "url": "u", "title": "t"}],
                    },
                },
            }
        },
    },
    claude: {
        "uuid": "c",
        "name": "t",
        "created_at": "2026-01-01",
        "chat_messages": [
            {
                "uuid": "a",
                "sender": "human",
                "parent_message_uuid": "b",
                "text": "x",
                "attachments": [{"file_name": "f", "extracted_content": "x", "file_type": "t"}],
                "files": [{"file_uuid": "u", "file_name": "f"}],
                "content": [
                    {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}},
                    {"type": "tool_result", "tool_use_id": "i", "content": [{"type": "text"}]},
                    {"type": "thinking", "thinking": "", "summaries": [{"summary": "s"}]},
                ],
            }
        ],
    },
    open_webui: {
        "id": "c",
        "title": "t",
        "created_at": 1,
        "chat": {
            "models": ["m"],
            "params": {"system": "s"},
            "history": {
                "currentId": "a",
                "messages": {
                    "a": {
                        "parentId": "b",
                        "childrenIds": [],
                        "role": "assistant",
                        "content": [{"type": "image_url", "image_url": {"url": "data:x"}}],
                        "error": {"content": "e"},
                        "timestamp": 1,
                        "files": [{"type": "file", "file": {"meta": {"name": "n"}}}],
                        "output": [
                            {"type": "function_call", "call_id": "i", "arguments": "{}"},
                            {
                                "type": "function_call_output",
                                "call_id": "i",
                                "output": [{"text": "x"}],
                            },
                        ],
                    }
                },
            },
        },
    },
    librechat: {
        "conversationId": "c",
        "endpoint": "e",
        "title": "t",
        "options": {"model": "m"},
        "messages": [
            {
                "messageId": "a",
                "parentMessageId": "b",
                "sender": "User",
                "createdAt": "2026",
                "children": [{"messageId": "d"}],
                "files": [{"filename": "f"}],
                "content": [
                    {"type": "text", "text": {"value": "x"}},
                    {"type": "tool_call", "tool_call": {"function": {"name": "n", "output": "x"}}},
                    {"type": "image_file", "image_file": {"filename": "f"}},
                ],
            }
        ],
    },
    chainlit: {
        "id": "t",
        "name": "n",
        "userIdentifier": "u",
        "createdAt": "2026",
        "steps": [
            {
                "id": "a",
                "type": "tool",
                "input": "{}",
                "output": "x",
                "createdAt": 1,
                "isError": True,
            },
            {"id": "b", "type": "user_message", "output": "x"},
        ],
        "elements": [{"forId": "a", "name": "n", "url": "u", "objectKey": "k", "mime": "m"}],
    },
    langgraph: {
        "thread_id": "t",
        "inside": 1,
        "others": ["x"],
        "checkpoints": [
            {
                "id": "1",
                "parent": None,
                "at": "2026-01-01",
                "added": [
                    {
                        "id": "a",
                        "type": "ai",
                        "content": [
                            {"type": "reasoning", "summary": [{"text": "x"}]},
                            {"type": "image_url", "image_url": {"url": "data:a/b;base64,"}},
                            {"type": "text", "text": "x"},
                        ],
                        "tool_calls": [{"id": "i", "name": "n", "args": {"a": 1}}],
                        "model": "m",
                    },
                    {"id": "b", "type": "tool", "content": "x", "tool_call_id": "i", "name": "n"},
                ],
            },
            {"id": "2", "parent": "1", "added": [{"id": "a", "type": "ai", "content": "y"}]},
            {"id": "3", "parent": "1", "added": [{"id": "a", "type": "ai", "content": "z"}]},
        ],
    },
}
BAD = [
    None,
    True,
    0,
    -1,
    1e300,
    10**400,
    "",
    "\x00\ud800",
    "x" * 300,
    [],
    {},
    [[[]]],
    {"a": {}},
    [None, 5],
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for key, one in inside for found in places(one, (*path, key)))]


def upload_of_all(folder: Any, module: Format, conversations: list[JSON]) -> Upload:
    if module is langgraph:
        return single(folder, "\n".join([HEAD, *map(json.dumps, conversations)]))
    return single(folder, conversations)


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("module", SAMPLES, ids=lambda module: module.NAME)
def test_wrong_value_in_any_place_loses_no_other_conversation(module, tmp_path):
    sample = SAMPLES[module]
    bad = [replaced(sample, path, value) for path in places(sample)[1:] for value in BAD]

    found = list(module.read(upload_of_all(tmp_path, module, [sample, *bad, sample])))

    # An entry gives one conversation, or says why it gives none.
    assert len(found) >= len(bad) + 2
    assert found[0] == found[-1] or module is chainlit
    for one in found:
        json.dumps([one.title, *getattr(one, "notes", [])], ensure_ascii=False).encode()
        if isinstance(one, ImportedConversation):
            assert one.source_id
            repr(one).encode()
            assert "\x00" not in "".join(
                getattr(part, "text", "") for message in one.messages for part in message.parts
            )


@pytest.mark.parametrize("module", SAMPLES, ids=lambda module: module.NAME)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_two_wrong_values_are_read_too(module, tmp_path, data):
    sample = SAMPLES[module]
    for _ in range(2):
        path = data.draw(st.sampled_from(places(sample)[1:]))
        sample = replaced(sample, path, data.draw(st.sampled_from(BAD)))

    assert len(list(module.read(upload_of_all(tmp_path, module, [sample, SAMPLES[module]])))) >= 1


def test_chain_of_ten_thousand_nodes_and_a_circle_of_them_take_seconds(tmp_path):
    count = 10_000

    def nodes(first: str | None) -> JSON:
        made = {
            str(number): {
                "parent": str(number - 1) if number else first,
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"content_type": "text", "parts": ["x"]},
                },
            }
            for number in reversed(range(count))
        }
        return {"title": "", "id": str(first), "mapping": made}

    started = time.monotonic()
    read, _ = read_all(single(tmp_path, [nodes(None), nodes(str(count - 1))]), chatgpt)

    assert [len(one.messages) for one in read] == [count, count]
    assert read[0].messages[-1].id == str(count - 1)
    assert time.monotonic() - started < 60


def test_many_calls_with_one_id_stay_fast_and_distinct(tmp_path):
    block = {"type": "tool_use", "id": "same", "name": "n", "input": {}}
    messages = [
        {"uuid": str(number), "sender": "assistant", "content": [block] * 100}
        for number in range(300)
    ]

    started = time.monotonic()
    [read], _ = read_all(single(tmp_path, [{"uuid": "c", "chat_messages": messages}]), claude)

    ids = [part.call_id for message in read.messages for part in message.parts]
    assert len(set(ids)) == len(ids) == 30_000
    assert time.monotonic() - started < 20


def test_unclosed_html_stays_fast(tmp_path):
    content = '<details type="reasoning">' * 200_000
    item = {"id": "c", "chat": {"models": [], "messages": [{"role": "user", "content": content}]}}

    started = time.monotonic()
    [read], _ = read_all(single(tmp_path, [item]), open_webui)

    assert len(read.messages) == 1
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_760_000_000, "2025-10-09T08:53:20+00:00"),
        (1_760_000_000_123, "2025-10-09T08:53:20.123000+00:00"),
        ("1760000000.5", "2025-10-09T08:53:20.500000+00:00"),
        (1_760_000_000_000_000_000, "2025-10-09T08:53:20+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02 03:04:05.6+02", "2026-01-02T01:04:05.600000+00:00"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00"),
        (float("inf"), None),
        (float("nan"), None),
        ("1e400", None),
        (10**400, None),
        (-5, None),
        (True, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ([], None),
    ],
)
def test_times_of_all_units_are_read_and_what_is_none_is_none(value, expected):
    found = moment(value)

    assert (found.isoformat() if found else None) == expected

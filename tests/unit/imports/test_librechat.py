"""LibreChat's exports, in samples written for these tests in their shape."""

import json
from typing import Any

from backend.imports.formats import librechat
from tests.unit.imports.uploads import branch, read_all, single, upload_of

JSON = dict[str, Any]
TOP = "00000000-0000-0000-0000-000000000000"


def message(key: str, parent: str, text: str, *, person: bool = False, **more: Any) -> JSON:
    return {
        "messageId": key,
        "conversationId": "libre-1",
        "parentMessageId": parent,
        "createdAt": "2026-05-01T16:35:11.530Z",
        "isCreatedByUser": person,
        "sender": "User" if person else "Harbour agent",
        "model": None if person else "gpt-6",
        "text": text,
        "error": False,
        "unfinished": False,
    } | more


def export(messages: Any, **more: Any) -> JSON:
    return {
        "conversationId": "libre-1",
        "endpoint": "openAI",
        "title": "Locks",
        "exportAt": "13:18:04 GMT-0400",
        "branches": True,
        "recursive": False,
        "options": {"model": "gpt-6", "promptPrefix": "Be brief."},
        "messages": messages,
    } | more


def test_flat_lists_are_trees_by_their_parents(tmp_path):
    upload = single(
        tmp_path,
        export(
            [
                message("a", TOP, "When does the lock open?", person=True),
                message("b", "a", "At six."),
                message("c", "a", "At sev", unfinished=True),
                message("d", TOP, "When does it close?", person=True),
            ]
        ),
    )

    [read], skipped = read_all(upload, librechat)

    assert skipped == []
    assert branch(read, "b") == ["user: When does the lock open?", "assistant: At six."]
    assert branch(read, "c")[-1] == "assistant: At sev"
    assert branch(read) == ["user: When does it close?"]
    assert read.messages[1].author == "Harbour agent"
    assert read.notes == [
        "An answer was not finished.",
        "The conversation's own instructions to the model were left out.",
    ]


def test_trees_keep_their_branches_also_without_parents_ids(tmp_path):
    inner = message("b", TOP, "At six.", children=[message("c", TOP, "Thanks", person=True)])
    del inner["parentMessageId"]
    other = message("d", "a", "At seven.")
    tree = [message("a", TOP, "When?", person=True, children=[inner, other])]
    item = export(None, recursive=True, messagesTree=tree)
    del item["messages"]

    [read], _ = read_all(single(tmp_path, item), librechat)

    assert branch(read, "c") == ["user: When?", "assistant: At six.", "user: Thanks"]
    assert branch(read, "d") == ["user: When?", "assistant: At seven."]


def test_tree_that_is_deeper_than_python_parses_is_read(tmp_path):
    opened = "".join(
        json.dumps({"messageId": number, "text": number, "isCreatedByUser": number % 2 == 0})[:-1]
        + ', "children": ['
        for number in range(3_000)
    )
    head = '{"conversationId": "deep", "endpoint": "openAI", "recursive": true, "messages": ['

    [read], _ = read_all(single(tmp_path, head + opened + "]}" * 3_001), librechat)

    assert len(branch(read)) == 3_000
    assert branch(read)[-2:] == ["user: 2998", "assistant: 2999"]


def test_content_is_read_before_text_with_calls_and_their_outputs(tmp_path):
    content = [
        {"type": "think", "think": "The log has it."},
        {"type": "text", "text": {"value": "Looking."}},
        {
            "type": "tool_call",
            "tool_call": {
                "id": "c1",
                "name": "log",
                "args": '{"gate": 2}',
                "output": "opened 06:00",
            },
        },
        {
            "type": "tool_call",
            "tool_call": {"id": "c2", "name": "log", "args": "", "progress": 0.1},
        },
        {"type": "image_file", "image_file": {"file_id": "f", "filepath": "/images/u/gate.png"}},
        {"type": "agent_update", "agent_update": {"agentId": "x"}},
        {"type": "error", "error": "out of credit"},
    ]
    files = [{"file_id": "f2", "filename": "log.csv", "type": "text/csv"}]
    upload = single(
        tmp_path,
        export(
            [
                message("a", TOP, "Gate 2?", person=True, files=files),
                message("b", "a", "old text", content=content),
            ],
            branches=False,
        ),
    )

    [read], _ = read_all(upload, librechat)

    assert branch(read) == [
        "user: Gate 2? | [log.csv text/csv missing]",
        'assistant: (The log has it.) | Looking. | log({"gate": 2})',
        "tool: log=opened 06:00",
        "assistant: log({}) | [gate.png image/* missing] | Error: out of credit",
    ]
    assert "A part is of the unknown kind 'agent_update'; it was left out." in read.notes
    assert "It was exported without its other branches." in read.notes


def test_an_archive_may_have_many_conversations(tmp_path):
    one = export([message("a", TOP, "Hi", person=True)])
    files = {f"{key}.json": one | {"conversationId": key} for key in range(150)}

    read, _ = read_all(upload_of(tmp_path, {"other.json": "{", **files}), librechat)

    assert [one.source_id for one in read] == [str(key) for key in range(150)]

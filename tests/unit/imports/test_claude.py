"""Claude's export, in samples written for these tests in its shape."""

import base64
from typing import Any

from backend.imports.formats import claude
from backend.imports.model import Attachment, Call, Result
from tests.unit.imports.uploads import branch, read_all, single, upload_of

JSON = dict[str, Any]
TOP = "00000000-0000-4000-8000-000000000000"


def message(key: str, parent: str | None, sender: str, content: Any, **more: Any) -> JSON:
    blocks = (
        [{"type": "text", "text": content, "citations": []}]
        if isinstance(content, str)
        else content
    )
    return {
        "uuid": key,
        "text": "",
        "content": blocks,
        "sender": sender,
        "created_at": "2026-03-01T08:00:00.000000Z",
        "attachments": [],
        "files": [],
        "parent_message_uuid": parent,
    } | more


def conversation(*messages: JSON, **more: Any) -> JSON:
    return {
        "uuid": "claude-1",
        "name": "Pilots",
        "summary": "",
        "created_at": "2026-03-01T08:00:00.000000Z",
        "updated_at": "2026-03-01T09:00:00+02:00",
        "account": {"uuid": "acc"},
        "chat_messages": list(messages),
    } | more


def test_branches_follow_the_ids_of_parents(tmp_path):
    upload = single(
        tmp_path,
        [
            conversation(
                message("a", TOP, "human", "Who is on duty?"),
                message("b", "a", "assistant", "Ana."),
                message("c", "a", "assistant", "Bo."),
                message("d", "c", "human", "Until when?"),
                current_leaf_message_uuid="b",
            )
        ],
    )

    [read], skipped = read_all(upload, claude)

    assert (skipped, read.notes) == ([], [])
    assert branch(read) == ["user: Who is on duty?", "assistant: Ana."]
    assert branch(read, "d") == ["user: Who is on duty?", "assistant: Bo.", "user: Until when?"]
    assert read.updated_at.isoformat() == "2026-03-01T07:00:00+00:00"


def test_blocks_become_thoughts_calls_and_results_also_without_ids(tmp_path):
    blocks = [
        {"type": "thinking", "thinking": "", "summaries": [{"summary": "Checking the roster"}]},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": None, "name": "roster", "input": {"day": "Mon"}},
        {"type": "tool_use", "id": "t2", "name": "tides", "input": {}},
        {
            "type": "tool_result",
            "tool_use_id": "t2",
            "name": "tides",
            "is_error": True,
            "content": [{"type": "text", "text": "no station"}],
        },
        {
            "type": "tool_result",
            "tool_use_id": None,
            "name": "roster",
            "content": [
                {"type": "knowledge", "title": "Roster", "url": "https://r.example", "text": "Ana"},
                {"type": "image", "url": None},
            ],
        },
        {"type": "token_budget"},
        {"type": "text", "text": "Ana."},
    ]
    upload = single(
        tmp_path,
        [conversation(message("a", TOP, "human", "Who?"), message("b", "a", "assistant", blocks))],
    )

    [read], _ = read_all(upload, claude)

    assert branch(read) == [
        "user: Who?",
        'assistant: (Checking the roster) | Let me look. | roster({"day": "Mon"}) | tides({})',
        "tool: tides!=no station",
        "tool: roster=Roster\nhttps://r.example\nAna | [image application/octet-stream missing]",
        "assistant: Ana.",
    ]
    calls = [part.call_id for one in read.messages for part in one.parts if isinstance(part, Call)]
    answered = [
        part.call_id for one in read.messages for part in one.parts if isinstance(part, Result)
    ]
    assert answered == calls[::-1]
    assert read.notes == ["A block is of the unknown kind 'token_budget'; it was left out."]


def test_texts_taken_from_files_are_files_and_files_without_them_are_missing(tmp_path):
    pasted = {"file_name": "", "file_type": "txt", "file_size": 9, "extracted_content": "Pier 7 é"}
    scan = {"file_name": "scan.pdf", "file_type": "application/pdf", "file_size": 1}
    picture = {"file_uuid": "f1", "file_name": "quay.png"}
    upload = single(
        tmp_path,
        [
            conversation(
                message(
                    "a",
                    TOP,
                    "human",
                    [],
                    attachments=[pasted, scan],
                    files=[picture],
                    files_v2=[picture],
                )
            )
        ],
    )

    [read], _ = read_all(upload, claude)

    [first, second, third] = read.messages[0].parts
    assert isinstance(first, Attachment) and first.where is not None
    assert first.name == "pasted.txt"
    assert base64.b64decode(first.where.partition(",")[2]).decode() == "Pier 7 é"
    assert second == Attachment("scan.pdf", "application/pdf", None)
    assert third == Attachment("quay.png", "application/octet-stream", None)
    assert read.notes == [
        "Of an attached file, the export has only the text that was taken from it."
    ]


def test_old_exports_are_a_list_and_have_their_text_beside_the_blocks(tmp_path):
    first = message("a", None, "human", [], text="Hello")
    second = message("b", None, "assistant", [], text="Good day")
    del first["parent_message_uuid"], second["parent_message_uuid"]

    [read], _ = read_all(single(tmp_path, [conversation(first, second, name="")]), claude)

    assert read.title == ""
    assert branch(read) == ["user: Hello", "assistant: Good day"]


def test_what_is_beside_the_conversations_is_left_out_and_empty_ones_are_said(tmp_path):
    upload = upload_of(
        tmp_path,
        {
            "users.json": [{"uuid": "u", "full_name": "A"}],
            "projects.json": [{"uuid": "p", "docs": []}],
            "design_chats/1.json": {"uuid": "d"},
            "conversations.json": [
                conversation(uuid="empty", name=""),
                conversation(message("a", TOP, "human", "Hello")),
            ],
        },
    )

    read, skipped = read_all(upload, claude)

    assert [one.source_id for one in read] == ["claude-1"]
    assert [(one.source_id, one.reason) for one in skipped] == [("empty", "It has no messages.")]
    assert upload.notes == [
        "Left out, because they have no conversations:"
        " users.json, projects.json, design_chats/1.json."
    ]

"""ChatGPT's export, in samples written for these tests in its shape."""

import json
from typing import Any

from backend.imports.formats import chatgpt
from backend.imports.model import Call, Result
from tests.unit.imports.uploads import branch, read_all, single, upload_of

JSON = dict[str, Any]


def node(key: str, parent: str | None, role: str, content: JSON | str, **more: Any) -> JSON:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": key, "author": author, "create_time": 1_760_000_000.5, "content": content}
    message |= {"recipient": "all", "metadata": {}, "weight": 1.0} | more
    return {"id": key, "parent": parent, "message": message}


def conversation(*nodes: JSON, **more: Any) -> JSON:
    mapping = {one["id"]: one for one in nodes}
    return {
        "title": "Harbour fees",
        "create_time": 1_760_000_000.25,
        "update_time": 1_760_000_900,
        "mapping": mapping,
        "current_node": nodes[-1]["id"],
        "conversation_id": "conv-1",
        "default_model_slug": "gpt-6",
    } | more


ROOT = {"id": "root", "message": None, "parent": None, "children": ["a"]}


def test_branches_stand_as_siblings_and_the_current_node_ends_the_active_one(tmp_path):
    upload = single(
        tmp_path,
        [
            conversation(
                ROOT,
                node("a", "root", "user", "What does berth 4 cost?"),
                node("b", "a", "assistant", "120 a day.", metadata={"model_slug": "gpt-6-mini"}),
                node("c", "a", "assistant", "140 a day."),
                current_node="b",
            )
        ],
    )

    [read], skipped = read_all(upload, chatgpt)

    assert skipped == []
    assert (read.source_id, read.title, read.model) == ("conv-1", "Harbour fees", "gpt-6")
    assert branch(read) == ["user: What does berth 4 cost?", "assistant: 120 a day."]
    assert branch(read, "c")[-1] == "assistant: 140 a day."
    assert [one.model for one in read.messages] == [None, "gpt-6-mini", None]
    assert read.created_at.isoformat() == "2025-10-09T08:53:20.250000+00:00"


def test_null_messages_circles_and_children_before_their_parents_are_read(tmp_path):
    shuffled = conversation(
        node("answer", "question", "assistant", "At high tide.", create_time=1_700_000_000),
        node("question", "empty", "user", "When can she leave?", create_time=1_800_000_000),
        {"id": "empty", "message": None, "parent": "root"},
        ROOT,
        node("x", "y", "user", "round"),
        node("y", "x", "assistant", "and round"),
        current_node="answer",
    )

    [read], _ = read_all(single(tmp_path, [shuffled]), chatgpt)

    assert branch(read) == ["user: When can she leave?", "assistant: At high tide."]
    assert {"x", "y"} <= {message.id for message in read.messages}


def test_parents_are_found_also_where_only_children_are_listed(tmp_path):
    first, second = node("a", None, "user", "Hi"), node("b", None, "assistant", "Hello")
    del second["parent"]

    [read], _ = read_all(
        single(tmp_path, [conversation(first | {"children": ["b"]}, second)]), chatgpt
    )

    assert branch(read) == ["user: Hi", "assistant: Hello"]


def test_thoughts_code_and_its_output_become_thinking_call_and_result(tmp_path):
    upload = single(
        tmp_path,
        [
            conversation(
                node("u", None, "user", "Sum the fees."),
                node(
                    "t",
                    "u",
                    "assistant",
                    {
                        "content_type": "thoughts",
                        "thoughts": [{"summary": "Adding", "content": "Two fees.", "chunks": []}],
                    },
                ),
                node(
                    "c",
                    "t",
                    "assistant",
                    {"content_type": "code", "language": "unknown", "text": "print(120 + 140)"},
                    recipient="python",
                ),
                node(
                    "o",
                    "c",
                    "tool",
                    {"content_type": "execution_output", "text": "260"},
                    name="python",
                ),
                node(
                    "r",
                    "o",
                    "assistant",
                    {"content_type": "reasoning_recap", "content": "Thought for 3s"},
                ),
                node("e", "r", "assistant", "260 in all."),
            )
        ],
    )

    [read], _ = read_all(upload, chatgpt)

    assert branch(read) == [
        "user: Sum the fees.",
        "assistant: (Adding\n\nTwo fees.)",
        'assistant: python({"code": "print(120 + 140)"})',
        "tool: python=260",
        "assistant: (Thought for 3s)",
        "assistant: 260 in all.",
    ]
    [call] = [part for one in read.messages for part in one.parts if isinstance(part, Call)]
    [result] = [part for one in read.messages for part in one.parts if isinstance(part, Result)]
    assert call.call_id == result.call_id
    assert read.notes == []


def test_second_output_of_a_call_gets_a_call_of_its_own_and_that_is_said(tmp_path):
    quote = {
        "content_type": "tether_quote",
        "url": "https://a.example",
        "title": "Tides",
        "text": "Low.",
    }
    found = {"content_type": "tether_browsing_display", "result": "two pages", "summary": ""}
    upload = single(
        tmp_path,
        [
            conversation(
                node("u", None, "user", "Look it up."),
                node("s", "u", "assistant", '{"q": "tides"}', recipient="web.search"),
                node("d", "s", "tool", found, name="web.search"),
                node("q", "d", "tool", quote, name="web.search"),
            )
        ],
    )

    [read], _ = read_all(upload, chatgpt)

    assert branch(read) == [
        "user: Look it up.",
        'assistant: web.search({"q": "tides"})',
        "tool: web.search=two pages",
        "assistant: web.search({})",
        "tool: web.search=Tides\n\nhttps://a.example\n\nLow.",
    ]
    assert "A result stands without its call" in read.notes[0]


def test_hidden_messages_are_left_out_and_custom_instructions_kept(tmp_path):
    hidden = {"is_visually_hidden_from_conversation": True}
    context = {
        "content_type": "user_editable_context",
        "user_profile": "Harbour master.",
        "user_instructions": "Be brief.",
    }
    upload = single(
        tmp_path,
        [
            conversation(
                node("s", None, "system", "", metadata=hidden),
                node("i", "s", "user", context, metadata=hidden),
                node("h", "i", "tool", "Cite your files.", metadata=hidden, name="file_search"),
                node("u", "h", "user", "Hello"),
            )
        ],
    )

    [read], _ = read_all(upload, chatgpt)

    assert branch(read) == ["system: Harbour master.\n\nBe brief.", "user: Hello"]
    assert read.notes == ["A message that ChatGPT hides was left out."]


def test_files_are_found_by_pointers_under_all_their_names(tmp_path):
    def picture(pointer: str) -> JSON:
        return {"content_type": "image_asset_pointer", "asset_pointer": pointer, "width": 9}

    sound = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "audio_asset_pointer": {"asset_pointer": "sediment://file_00cc#x"},
    }
    parts = [
        picture("file-service://file-AA11"),
        picture("sediment://file_00bb"),
        picture("file-service://file-GONE"),
        {"content_type": "audio_transcription", "text": "said aloud"},
        sound,
        "Compare.",
    ]
    attached = {"attachments": [{"id": "file-AA11", "name": "quay.png", "mime_type": "image/png"}]}
    multimodal = {"content_type": "multimodal_text", "parts": parts}
    made = {"content_type": "multimodal_text", "parts": [picture("file-service://file-DD44")]}
    upload = upload_of(
        tmp_path,
        {
            "conversations.json": [
                conversation(
                    node("u", None, "user", multimodal, metadata=attached),
                    node("d", "u", "assistant", "A quay", recipient="dalle.text2im"),
                    node("p", "d", "tool", made, name="dalle.text2im"),
                )
            ],
            "file-AA11.dat": b"1",
            "user-1/file_00bb-77.webp": b"2",
            "conv-1/audio/file_00cc-12.wav": b"3",
            "dalle-generations/file-DD44-1f.webp": b"4",
            "file-spare.dat": b"5",
            "conversation_asset_file_names.json": {"file_00bb.dat": "plan.webp"},
            "user.json": {"email": "a@example.com"},
        },
    )

    [read], _ = read_all(upload, chatgpt)

    assert branch(read) == [
        "user: said aloud\n\nCompare. | [quay.png image/png file-AA11.dat]"
        " | [plan.webp image/webp user-1/file_00bb-77.webp]"
        " | [file-GONE image/* missing] | [12.wav audio/x-wav conv-1/audio/file_00cc-12.wav]",
        'assistant: dalle.text2im({"input": "A quay"})',
        "tool: dalle.text2im= | [1f.webp image/webp dalle-generations/file-DD44-1f.webp]",
    ]
    assert upload.notes == [
        "Left out, because they have no conversations: user.json.",
        "Left out, because no message has them: 1 file.",
    ]


def test_parts_of_an_export_are_read_in_order_and_missing_ones_are_said(tmp_path):
    def part(key: str) -> list[JSON]:
        return [conversation(node("u", None, "user", key), conversation_id=key)]

    files = ["conversations-000.json", "conversations-002.json", "conversations-010.json"]
    upload = upload_of(
        tmp_path,
        {
            "x/conversations-010.json": part("ten"),
            "x/conversations-000.json": part("zero"),
            "x/export_manifest.json": {
                "version": 1,
                "logical_files": {"conversations.json": {"files": files, "sharded": True}},
            },
        },
    )

    read, skipped = read_all(upload, chatgpt)

    assert [one.source_id for one in read] == ["zero", "ten"]
    assert [one.source_id for one in skipped] == ["conversations-002.json"]


def test_marks_of_sources_become_links(tmp_path):
    mark, lost = "\ue200cite\ue202turn0search0\ue201", "\ue200cite\ue202turn0search9\ue201"
    reference = {"matched_text": mark, "url": "https://tides.example", "title": "Tides"}
    upload = single(
        tmp_path,
        [
            conversation(
                node(
                    "u",
                    None,
                    "assistant",
                    f"Low at six.{mark} High at noon.{lost}",
                    metadata={"content_references": [reference]},
                )
            )
        ],
    )

    [read], _ = read_all(upload, chatgpt)

    assert branch(read) == ["assistant: Low at six.([Tides](https://tides.example)) High at noon."]
    assert len(read.notes) == 1


def test_unknown_kinds_are_said_and_broken_entries_lose_no_other(tmp_path):
    good = conversation(
        node("u", None, "user", {"content_type": "super_widget", "text": "a page"}),
        node("v", "u", "assistant", {"content_type": "hologram", "voxels": [1]}),
        node("w", "v", "assistant", "fine"),
    )
    whole = json.dumps(good)
    upload = single(tmp_path, f'[{{"mapping": {{}}, "id": 7}}, {{"mapping": oops}}, [5], {whole}]')

    [read], skipped = read_all(upload, chatgpt)

    assert branch(read) == ["user: a page", "assistant: fine"]
    assert read.notes == [
        "A message is of the unknown kind 'super_widget'; its text was kept.",
        "A message is of the unknown kind 'hologram'; it was left out.",
    ]
    assert [(one.source_id, one.reason) for one in skipped] == [
        ("7", "It has no messages."),
        ("export.json, entry 2", "It is no valid JSON."),
        ("export.json, entry 3", "It is no object."),
    ]

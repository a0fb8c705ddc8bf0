"""Chainlit's tables of both data layers, in samples written for these tests in their shape."""

import sqlite3
from typing import Any

from backend.imports.formats import chainlit
from tests.unit.imports.uploads import branch, read_all, single, upload_of

JSON = dict[str, Any]


def step(key: str, kind: str, at: str | None, **more: Any) -> JSON:
    return {
        "id": key,
        "threadId": "t1",
        "parentId": None,
        "name": "Agent",
        "type": kind,
        "input": "",
        "output": "",
        "metadata": {},
        "createdAt": at,
        "isError": False,
    } | more


STEPS = [
    step("m2", "assistant_message", "2026-01-02T10:00:09Z", output="Berth 4.", parentId="r"),
    step("m1", "user_message", "2026-01-02T10:00:00Z", output="Where to?", name="ana"),
    step("r", "run", "2026-01-02T10:00:01Z", name="on_message"),
    step(
        "c",
        "tool",
        "2026-01-02T10:00:02Z",
        name="berths",
        input='{"free": true}',
        output='["4"]',
        parentId="r",
    ),
    step("l", "llm", "2026-01-02T10:00:03Z", output="draft", parentId="r"),
]
SAID = [
    "user: Where to?",
    'assistant: berths({"free": true})',
    'tool: berths=["4"]',
    "assistant: Berth 4.",
]


def test_threads_of_both_layers_are_read_in_the_order_of_time(tmp_path):
    thread = {
        "id": "t1",
        "createdAt": "2026-01-02T10:00:00",
        "name": "Berths",
        "userIdentifier": "ana",
        "metadata": "{}",
        "steps": STEPS,
        "elements": [
            {"id": "e", "threadId": "t1", "forId": "m1", "name": "map.png", "mime": "image/png"}
        ],
    }

    [read], skipped = read_all(single(tmp_path, [thread]), chainlit)

    assert (skipped, read.title) == ([], "Berths")
    assert branch(read) == ["user: Where to? | [map.png image/png missing]", *SAID[1:]]
    assert read.notes == ["The output of a step of the kind 'llm' was left out."]


def test_tables_of_the_official_layer_are_joined_and_deleted_threads_left_out(tmp_path):
    def official(one: JSON) -> JSON:
        return {"startTime" if key == "createdAt" else key: value for key, value in one.items()}

    failed = step("x", "tool", None, threadId="t9", name="radio", output="no answer", isError=True)
    upload = upload_of(
        tmp_path,
        {
            "Thread.json": [
                {"id": "t1", "name": "Berths", "userId": "u", "deletedAt": None},
                {"id": "t2", "name": "Gone", "userId": "u", "deletedAt": "2026-01-03T00:00:00"},
            ],
            "Step.json": [*map(official, STEPS), failed],
            "Element.json": [
                {
                    "id": "e",
                    "threadId": "t1",
                    "stepId": "m2",
                    "name": "plan.pdf",
                    "mime": "application/pdf",
                    "objectKey": "threads/t1/files/e",
                }
            ],
            "bucket/threads/t1/files/e": b"%PDF",
        },
    )

    read, skipped = read_all(upload, chainlit)

    assert [one.reason for one in skipped] == ["It was deleted there."]
    assert branch(read[0])[:-1] == SAID[:-1]
    assert branch(read[0])[-1] == (
        "assistant: Berth 4. | [plan.pdf application/pdf bucket/threads/t1/files/e]"
    )
    assert branch(read[1]) == ["assistant: radio({})", "tool: radio!=no answer"]
    assert read[1].notes == ["Its row in the table of threads is missing, so that it has no title."]


def test_file_of_sqlite_is_read_with_json_in_texts_and_broken_utf8(tmp_path):
    path = tmp_path / "chainlit.db"
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute('CREATE TABLE threads ("id" TEXT, "createdAt" TEXT, "name" TEXT, "metadata" TEXT)')
    base.execute(
        'CREATE TABLE steps ("id" TEXT, "threadId" TEXT, "type" TEXT, "name" TEXT, "input" TEXT,'
        ' "output" TEXT, "createdAt" TEXT, "isError" BOOLEAN)'
    )
    base.execute("INSERT INTO threads VALUES ('t1', '2026-01-02T10:00:00Z', 'Berths', '{}')")
    for one in STEPS:
        values = [one[key] for key in ("id", "threadId", "type", "name", "input", "output")]
        base.execute(
            "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, 0)", [*values, one["createdAt"]]
        )
    base.execute(
        "INSERT INTO steps VALUES ('z', 't1', 'user_message', '', '', CAST(X'4FFF' AS TEXT),"
        " '2026-01-02T11:00:00Z', 0)"
    )
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()

    [read], skipped = read_all(single(tmp_path, path.read_bytes(), "chainlit.db"), chainlit)

    assert skipped == []
    assert branch(read) == [*SAID, "user: O\ufffd"]


def test_damaged_database_is_said(tmp_path):
    upload = single(tmp_path, b"SQLite format 3\0" + b"\x7f" * 5_000, "chainlit.db")

    read, skipped = read_all(upload, chainlit)

    assert read == []
    assert [one.reason for one in skipped] == ["chainlit.db is no readable database of SQLite."]

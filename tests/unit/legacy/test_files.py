"""Files of the older system: damaged, locked, logged; the file itself never changes."""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.legacy.errors import LegacyRefused
from backend.legacy.file import open_copy
from backend.legacy.rows import LegacyRow, read_rows
from backend.legacy.store import Store
from tests.samples.legacy import SCHEMA, Sample, said

NOW = datetime.now(UTC)
HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def rows_of(path: Path) -> tuple[list[LegacyRow], list[str]]:
    with open_copy(path) as file:
        return list(read_rows(file.connection, NOW, file.notes)), file.notes


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 no database", "is no SQLite database"),
        (b"SQLite format 3\x00" + b"\x01" * 20, "is cut off after 36 bytes"),
        (b"SQLite format 3\x00" + b"\x01" * 600, "is damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "old.sqlite"
    path.write_bytes(content)

    with pytest.raises(LegacyRefused, match=sentence), open_copy(path):
        pass


@pytest.mark.parametrize("place", ["missing.sqlite", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, place: str) -> None:
    with (
        pytest.raises(LegacyRefused, match=r"cannot be read|is no file"),
        open_copy(tmp_path / place),
    ):
        pass


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ("CREATE TABLE chats (id)", "no table `conversations`"),
        ("CREATE TABLE conversations (id, title)", "lacks one of the columns"),
    ],
)
def test_a_file_of_another_system_is_refused(tmp_path: Path, schema: str, sentence: str) -> None:
    path = Sample(tmp_path / "old.sqlite", schema).done()

    with pytest.raises(LegacyRefused, match=sentence):
        rows_of(path)


def test_a_locked_file_is_refused(tmp_path: Path) -> None:
    path = Sample(tmp_path / "old.sqlite").done()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdin and holder.stdout
    assert holder.stdout.readline() == b"held\n"

    try:
        with pytest.raises(LegacyRefused, match="locked by another program"), open_copy(path):
            pass
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def test_the_log_beside_a_file_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.connection.execute("PRAGMA journal_mode = WAL")
    sample.row("c1", "img_1")
    sample.connection.commit()
    away = tmp_path / "away"
    away.mkdir()
    for name in ("old.sqlite", "old.sqlite-wal"):
        shutil.copy(tmp_path / name, away / name)
        (away / name).chmod(0o400)
    away.chmod(0o500)
    before = {one.name: one.read_bytes() for one in away.iterdir()}

    rows, notes = rows_of(away / "old.sqlite")

    assert [row.id for row in rows] == ["c1"]
    assert notes == ["The file has a write-ahead log beside it, which was read, too."]
    assert {one.name: one.read_bytes() for one in away.iterdir()} == before
    away.chmod(0o700)
    sample.done()


def test_what_a_crashed_system_had_begun_is_not_taken(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.row("kept", "img_1")
    sample.connection.commit()
    sample.connection.execute("PRAGMA cache_size = 1")
    sample.connection.execute("PRAGMA cache_spill = 1")
    for number in range(2_000):
        sample.row(f"begun{number}", "img_1")
    crashed = tmp_path / "crashed.sqlite"
    for end in ("", "-journal"):
        shutil.copy(f"{sample.path}{end}", f"{crashed}{end}")

    rows, notes = rows_of(crashed)

    assert [row.id for row in rows] == ["kept"]
    assert notes[0].startswith("The older system ended in the middle")
    sample.done()


def test_of_a_file_that_is_cut_off_the_rest_is_read_and_the_lost_are_named(tmp_path: Path) -> None:
    path = make_long(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])

    rows, notes = rows_of(path)

    read = [row for row in rows if not row.is_lost]
    assert 500 < len(read) < 1_000
    assert [row.title for row in read] == [f"A title of some length {row.id}" for row in read]
    assert len({row.number for row in rows}) == len(rows) > len(read) + 100
    assert notes == [
        f"The file is cut off: it has {path.stat().st_size:,} of {len(whole):,} bytes."
        " What can still be read of it is taken.",
        "Not all of the index can be read either: there may have been more conversations.",
    ]


def test_a_damaged_page_in_the_middle_loses_its_own_rows_only(tmp_path: Path) -> None:
    path = make_long(tmp_path)
    whole = bytearray(path.read_bytes())
    place = whole.find(b"A title of some length c0500")
    start = place // 4096 * 4096
    whole[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(whole)

    rows, _ = rows_of(path)

    lost = [row.id for row in rows if row.is_lost]
    assert "c0500" in lost  # the index of ids still names it
    assert 2 < len(lost) < 100
    assert len({row.id for row in rows}) == 1_000


def make_long(tmp_path: Path) -> Path:
    sample = Sample(tmp_path / "old.sqlite")
    for number in range(1, 1_001):
        id = f"c{number * 7919 % 1_000:04}"  # in the index in another order than in the table
        sample.row(id, "img_1", title=f"A title of some length {id}")
    return sample.done()


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE images (image_id TEXT, container_id TEXT, session_id TEXT, config TEXT);"
        "INSERT INTO images VALUES ('img_1', 'domain_d1', 'sess_1', '{\"systemPrompt\": \"Be\"}');"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT);"
        "INSERT INTO messages VALUES (2, 'sess_1', 'assistant', 'Yes');"
        "INSERT INTO messages VALUES (1, 'sess_1', 'user', 'Do');",
        "CREATE TABLE images (id TEXT, containerId TEXT, systemPrompt TEXT);"
        "INSERT INTO images VALUES ('img_1', 'domain_d1', 'Be');"
        "CREATE TABLE sessions (id TEXT, imageId TEXT, messages TEXT);"
        "INSERT INTO sessions VALUES ('sess_1', 'img_1', "
        '\'[{"role": "user", "content": "Do"}, {"role": "assistant", "content": "Yes"}]\');',
    ],
)
def test_tables_of_other_shapes_are_understood(tmp_path: Path, schema: str) -> None:
    path = Sample(tmp_path / "old.sqlite", schema).done()

    with open_copy(path) as file:
        store = Store(file.connection)
        messages = store.messages(store.session_of_image("img_1"), store.notes)

    assert store.images["img_1"]["systemprompt"] in (b"Be", "Be")
    assert store.images_of_session("sess_1") == ["img_1"]
    assert store.images_of_container("domain_d1") == ["img_1"]
    contents = [one["content"] for one in messages]
    assert [c.decode() if isinstance(c, bytes) else c for c in contents] == ["Do", "Yes"]
    assert store.notes == []


def test_agentx_own_store_is_understood(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.image("img_2", "sess_2", at=2, systemPrompt="Be kind")
    sample.image("img_1", "sess_1", at=1, messages=said("Do", "Yes"))
    sample.put("messages:sess_9", "[{broken")

    with open_copy(sample.done()) as file:
        store = Store(file.connection)
        notes: list[str] = []
        assert store.images_of_container("domain_d1") == ["img_1", "img_2"]
        assert [one["role"] for one in store.messages("sess_1", notes)] == ["user", "assistant"]
        assert notes == []
        assert store.messages("sess_9", notes) == []
        assert notes == ["Messages could not be read: it is no JSON."]


def test_the_ids_of_rows_are_the_same_in_each_reading(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite", SCHEMA.replace("id TEXT PRIMARY KEY, d", "id TEXT, d"))
    for title in ("one", "two", "two"):
        sample.row("same", "img_1", title=title)
    path = sample.done()

    first, second = rows_of(path)[0], rows_of(path)[0]

    assert [row.session_id for row in first] == [row.session_id for row in second]
    assert len({row.session_id for row in first}) == 3
    assert [row.twin for row in first] == [None, None, 2]

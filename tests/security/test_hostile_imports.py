"""Hostile files to import: nothing is exhausted, everything refused is said."""

import io
import json
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from backend.imports.errors import ImportRefused
from backend.imports.json_stream import LONGEST_ITEM, TooLong, items
from backend.imports.model import ImportedConversation, ImportedMessage, Text
from backend.imports.prepare import prepare
from backend.imports.reading import INSPECTING, inspect
from backend.imports.tree import MOST_BRANCHES, MOST_MESSAGES, TooManyMessages
from backend.imports.upload import MOST_ENTRIES, MOST_OF_ENTRY, Upload
from backend.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.security
MEGABYTE = 1 << 20


def archive(path: Path, entries: int = 1, size: int = 0) -> Path:
    """A zip of so many entries of so many zeros each."""
    zeros = bytes(MEGABYTE)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for number in range(entries):
            with made.open(f"{number}.json", "w", force_zip64=True) as entry:
                for _ in range(size // MEGABYTE):
                    entry.write(zeros)
    return path


def read_all(upload: Upload) -> int:
    read = 0
    for entry in upload.entries:
        with upload.open(entry.name) as file:
            while piece := file.read(MEGABYTE):
                read += len(piece)
    return read


def tree(count: int, parent: object, role: str = "assistant") -> ImportedConversation:
    messages = [
        ImportedMessage(str(n), None if not n else str(parent(n)), "user" if not n else role,  # type: ignore[operator, arg-type]
                        [Text("x")])
        for n in range(count)
    ]  # fmt: skip
    return ImportedConversation("test", "1", "", messages)


def test_an_archive_may_have_only_so_many_entries(tmp_path: Path) -> None:
    assert len(Upload(archive(tmp_path / "most.zip", MOST_ENTRIES), "x").entries) == MOST_ENTRIES
    with pytest.raises(ImportRefused, match="20,001 files"):
        Upload(archive(tmp_path / "more.zip", MOST_ENTRIES + 1), "x")


def test_an_entry_may_unpack_to_only_so_much(tmp_path: Path) -> None:
    upload = Upload(archive(tmp_path / "bomb.zip", 1, MOST_OF_ENTRY + 2 * MEGABYTE), "x")

    with pytest.raises(ImportRefused, match="more than 512 MiB"):
        read_all(upload)


def test_an_archive_may_unpack_to_only_so_much(tmp_path: Path) -> None:
    upload = Upload(archive(tmp_path / "bombs.zip", 9, MOST_OF_ENTRY - MEGABYTE), "x")

    with pytest.raises(ImportRefused, match="more than 4 GiB"):
        read_all(upload)


def test_sizes_in_headers_are_not_believed(tmp_path: Path) -> None:
    path = archive(tmp_path / "lies.zip", 1, MOST_OF_ENTRY + 2 * MEGABYTE)
    content = bytearray(path.read_bytes())
    # The size in the central directory: of the entry that is said to have three bytes.
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 3)
    path.write_bytes(content)

    upload = Upload(path, "x")
    assert upload.entries[0].size == 3
    with suppress(ImportRefused):
        assert read_all(upload) <= MOST_OF_ENTRY


@pytest.mark.parametrize("name", ["../x.json", "a/../../x.json", "/x.json", "C:/x.json", "..\\x"])
def test_names_do_not_leave_the_archive(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(name, "[]")

    with pytest.raises(ImportRefused, match="leave its folder"):
        Upload(path, "x")


def test_links_and_inner_archives_are_not_followed(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("conversations.json", "[]")
    link = zipfile.ZipInfo("link.json")
    link.external_attr = 0o120777 << 16
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(link, "/etc/passwd")
        made.writestr("inner.zip", inner.getvalue())

    upload = Upload(path, "x")

    assert [entry.name for entry in upload.entries] == ["inner.zip"]
    assert "link" in upload.notes[0]
    with pytest.raises(ImportRefused, match="no export"):
        inspect(path, "x")


def test_a_damaged_archive_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", 3, MEGABYTE)
    content = bytearray(path.read_bytes())
    content[60:200] = zlib.compress(b"x" * 200)[:10] * 14
    path.write_bytes(content)

    with pytest.raises(ImportRefused):
        read_all(Upload(path, "x"))


def test_an_item_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(f'[{{"a": "{"x" * LONGEST_ITEM}"}}, {{"b": 1}}]')

    first, second = items(Upload(path, "x.json"), "x.json")

    assert isinstance(first, TooLong)
    assert second == {"b": 1}


def test_deep_json_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text("[" * 1_000_000)
    with pytest.raises(ImportRefused):
        inspect(path, "conversations.json")


def test_a_tree_of_a_million_nodes_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(TooManyMessages):
        prepare(tree(1_000_000, lambda n: n - 1), "agent", "Test")
    path = tmp_path / "conversations.json"
    nodes = ({"id": str(n), "parent": str(n - 1), "children": []} for n in range(1_000_000))
    mapping = ",".join(f'"{n}":{json.dumps(node)}' for n, node in enumerate(nodes))
    path.write_text(f'[{{"title":"Big","mapping":{{{mapping}}},"current_node":"5"}}]')

    found = sandbox.run_blocking(inspect, path, path.name, bounds=INSPECTING)

    assert (found.conversations, found.skipped_count) == (0, 1)
    assert found.skipped[0]["reason"]


@pytest.mark.parametrize(
    "parent",
    [lambda n: n - 1, lambda n: 0, lambda n: (n - 1) // 2 * 2, lambda n: n // 2, lambda n: n + 1],
    ids=["chain", "star", "comb", "binary", "upside down"],
)
def test_trees_of_any_shape_are_bounded(parent: object) -> None:
    made = prepare(tree(MOST_MESSAGES, parent), "agent", "Test")

    assert len(made.rows) <= 4 * MOST_MESSAGES
    assert len(made.branches) <= MOST_BRANCHES + 1
    assert made.state["messages"]


def test_a_circle_is_cut_and_said() -> None:
    messages = [
        ImportedMessage("a", "b", "user", [Text("a")]),
        ImportedMessage("b", "a", "assistant", [Text("b")]),
    ]
    made = prepare(ImportedConversation("t", "1", "", messages), "agent", "Test")

    assert any("circle" in note for note in made.notes)
    assert len(made.rows) == 3

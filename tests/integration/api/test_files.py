"""Files over the API: uploaded, read, corrected, deleted; theirs who sent them alone."""

import os
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, make_session
from tests.stack import Stack

GERMAN = """Umsätze der Gruppe;;;
Stand 30.09.2026;;;
Datum;Kunde;Betrag;Nr
01.07.2026;Müller;1.234,50;0012
15.07.2026;Groß;200,25;0013
03.08.2026;Öztürk;99,00;0014
Summe;;1.533,75;
""".encode("cp1252")


def upload(stack: Stack, name: str, content: bytes, **fields: str) -> httpx.Response:
    return stack.client.post("/files", files={"file": (name, content)}, data=fields)


def uploaded(stack: Stack, name: str, content: bytes, **fields: str) -> JSON:
    answer = upload(stack, name, content, **fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def check_refusal(answer: httpx.Response, status: int, said: str) -> None:
    check_problem(answer, status)
    assert said in answer.json()["detail"]


def kept_bytes(stack: Stack) -> list[str]:
    data = Path(stack.environment["DATA_DIR"])
    copies = [path.name for path in (data / "cache" / "files").glob("*")]
    return [path.name for path in (data / "files").glob("*")] + copies


def test_an_upload_says_how_it_was_read(stack: Stack) -> None:
    made = uploaded(stack, "Umsätze 2026.csv", GERMAN)
    found = stack.client.get(f"/files/{made['id']}").json()
    sample = stack.client.get(f"/files/{made['id']}/sample", params={"limit": 1}).json()

    assert found == made
    assert made["source"].startswith("umsätze_2026")
    assert (made["kind"], made["is_read"], made["rows"]) == ("table", True, 3)
    assert made["summary"] == (
        "Read as Windows-1252, separated by semicolons, decimal comma; two title lines and "
        "the total in line 7 skipped."
    )
    (table,) = made["content"]
    assert (table["encoding"], table["separator"], table["decimal"]) == ("Windows-1252", ";", ",")
    assert (table["header"], table["titles"][0]["text"]) == ([3], "Umsätze der Gruppe")
    types = {column["name"]: column["type"] for column in table["columns"]}
    assert types == {"Datum": "DATE", "Kunde": "VARCHAR", "Betrag": "DOUBLE", "Nr": "VARCHAR"}
    assert sample["rows"] == [["2026-07-01", "Müller", 1234.5, "0012"]]
    assert not sample["complete"]


def test_a_correction_changes_the_reading_and_one_that_fits_not_is_refused(stack: Stack) -> None:
    path = f"/files/{uploaded(stack, 'u.csv', GERMAN)['id']}"
    preview = stack.client.post(f"{path}/preview", json={"types": {"Nr": "integer"}}).json()
    before = stack.client.get(path).json()
    refused = stack.client.patch(path, json={"types": {"Kunde": "number"}})
    changed = stack.client.patch(path, json={"types": {"Nr": "integer"}}).json()
    also = stack.client.patch(path, json={"header_row": 3, "encoding": "Windows-1252"}).json()
    back = stack.client.patch(path, json={"types": {"Nr": None}, "header_row": None}).json()

    assert preview["sample"]["rows"][0][3] == 12
    assert before["corrections"]["types"] == {}
    check_refusal(refused, 422, "'Müller' (line 4)")
    assert changed["content"][0]["columns"][3]["type"] == "BIGINT"
    assert also["corrections"]["types"] == {"Nr": "integer"}
    assert back["corrections"]["types"] == {}
    assert back["content"][0]["columns"][3]["type"] == "VARCHAR"


@pytest.mark.parametrize(
    "change",
    [
        {"encoding": "UTF-8"},
        {"separator": "|"},
        {"header_row": 900},
        {"sheet": "Tabelle1"},
        {"decimal": "."},
        {"types": {"Nope": "text"}},
        {"encoding": "zip"},
        {"colour": "red"},
    ],
)
def test_what_cannot_be_applied_changes_nothing(stack: Stack, change: JSON) -> None:
    before = uploaded(stack, "u.csv", GERMAN)

    check_problem(stack.client.patch(f"/files/{before['id']}", json=change), 422)
    assert stack.client.get(f"/files/{before['id']}").json() == before


@pytest.mark.parametrize(
    ("name", "content", "change"),
    [
        ("a.md", b"# A text\n\nOf one sentence.\n", {"separator": ";", "header_row": 1}),
        ("a.txt", b"A text of one sentence.\n", {"decimal": ","}),
        ("a.json", b'[{"a": "1,5"}]', {"decimal": ","}),
    ],
)
def test_a_correction_without_effect_is_refused(
    stack: Stack, name: str, content: bytes, change: JSON
) -> None:
    before = uploaded(stack, name, content)

    check_problem(stack.client.patch(f"/files/{before['id']}", json=change), 422)
    assert stack.client.get(f"/files/{before['id']}").json() == before


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a\\b.csv", "عربي‮.csv", "📈 Zahlen.csv", 'a"b;c%20.csv', "a" * 255],
)
def test_a_name_is_any_text_and_no_path(stack: Stack, name: str) -> None:
    made = uploaded(stack, name, b"a,b\n1,2\n")
    content = stack.client.get(f"/files/{made['id']}/content")

    assert made["name"] == name
    assert UUID(made["id"]).hex in kept_bytes(stack)
    assert content.content == b"a,b\n1,2\n"
    assert content.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "empty"),
        ("a.csv", b"\x89PNG\r\n\x1a\n", "an image"),
        ("\u200b", b"a,b\n1,2\n", "name"),
        ("a" * 256, b"a,b\n1,2\n", "255"),
    ],
)
def test_what_nobody_can_read_is_refused(
    stack: Stack, name: str, content: bytes, said: str
) -> None:
    before = kept_bytes(stack)

    check_refusal(upload(stack, name, content), 422, said)
    assert kept_bytes(stack) == before


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"json": {"file": "x"}}, 422),
        ({"data": {"file": "x"}, "files": {"other": ("a", b"1")}}, 422),
        ({"files": {"file": ("a.csv", b"a\n1\n")}, "data": {"colour": "red"}}, 422),
        ({"files": {"file": ("a.csv", b"a\n1\n")}, "data": {"session_id": "x"}}, 422),
        ({"files": {"file": ("a.csv", b"a\n1\n")}, "data": {"if_exists": "ask"}}, 422),
        ({"files": {"file": ("a.csv", b"a\n1\n")}, "data": {"session_id": str(uuid4())}}, 404),
        ({"files": [("file", ("a.csv", b"a")), ("file", ("b.csv", b"b"))]}, 422),
    ],
)
def test_a_form_of_another_shape_is_refused(stack: Stack, request_: Any, status: int) -> None:
    before = kept_bytes(stack)

    check_problem(stack.client.post("/files", **request_), status)
    assert kept_bytes(stack) == before


def test_a_damaged_file_is_kept_and_says_why_it_cannot_be_read(stack: Stack) -> None:
    made = uploaded(stack, "a.xlsx", b"PK\x03\x04 no workbook at all")

    assert made["is_read"]
    assert "cannot be read as a workbook" in made["problem"]
    check_refusal(stack.client.get(f"/files/{made['id']}/sample"), 422, "workbook")


def test_files_come_in_pages_and_a_session_has_its_own(stack: Stack) -> None:
    session_id, other = make_session(stack), make_session(stack)
    mine = uploaded(stack, "mine.csv", b"a\n1\n", session_id=session_id)
    for_all = uploaded(stack, "all.csv", b"a\n1\n")
    page = stack.client.get("/files", params={"limit": 1}).json()
    following = stack.client.get("/files", params={"limit": 1, "cursor": page["next_cursor"]})

    def ids(session: str) -> list[str]:
        found = stack.client.get("/files", params={"session_id": session, "limit": 200}).json()
        return [item["id"] for item in found["items"]]

    assert [page["items"][0]["id"]] == [for_all["id"]]
    assert following.json()["items"][0]["id"] == mine["id"]
    assert mine["id"] in ids(session_id)
    assert mine["id"] not in ids(other)
    assert for_all["id"] in ids(other)


def test_a_name_that_is_taken_is_refused_or_replaced_in_its_own_place(stack: Stack) -> None:
    session_id = make_session(stack)
    for_all = uploaded(stack, "taken.csv", b"a\n1\n")
    own = uploaded(stack, "taken.csv", b"a\n2\n", session_id=session_id, if_exists="refuse")
    before = kept_bytes(stack)

    refused = upload(stack, "TAKEN.csv", b"a\n3\n", if_exists="refuse")

    check_refusal(refused, 409, "You already have a file “TAKEN.csv” for all sessions, uploaded on")
    assert kept_bytes(stack) == before

    replaced = uploaded(stack, "taken.csv", b"a\n3\n", if_exists="replace")

    assert replaced["source"] == for_all["source"] != own["source"]
    assert stack.client.get(f"/files/{own['id']}").status_code == 200
    assert not [name for name in kept_bytes(stack) if UUID(for_all["id"]).hex in name]


@pytest.mark.parametrize("ranges", ["bytes=0-1", "bytes=2-1", "bytes=99-", "lines=1"])
def test_a_file_is_sent_whole_whatever_part_is_asked_for(stack: Stack, ranges: str) -> None:
    path = f"/files/{uploaded(stack, 'whole.csv', b'a,b')['id']}/content"

    got = stack.client.get(path, headers={"Range": ranges})
    head = stack.client.head(path)

    assert (got.status_code, got.content) == (200, b"a,b")
    assert (head.status_code, head.headers["content-length"]) == (200, "3")


def test_another_owners_file_is_not_found(stack: Stack) -> None:
    made = uploaded(stack, "a.csv", b"a\n1\n")
    stack.query_and_commit("UPDATE files SET owner_id = 'somebody' WHERE id = :id", id=made["id"])
    path = f"/files/{made['id']}"

    for answer in (
        stack.client.get(path),
        stack.client.get(f"{path}/sample"),
        stack.client.get(f"{path}/content"),
        stack.client.patch(path, json={}),
        stack.client.post(f"{path}/preview", json={}),
        stack.client.delete(path),
    ):
        check_problem(answer, 404)


def test_a_deleted_file_and_a_deleted_session_leave_no_bytes(stack: Stack) -> None:
    session_id = make_session(stack)
    before = set(kept_bytes(stack))
    alone = uploaded(stack, "a.csv", b"a\n1\n")
    of_session = uploaded(stack, "b.csv", b"a\n1\n", session_id=session_id)
    added = set(kept_bytes(stack)) - before
    deleted = stack.client.delete(f"/files/{alone['id']}")
    stack.client.delete(f"/sessions/{session_id}")

    assert len(added) == 4  # bytes and a copy of each
    assert deleted.status_code == 204
    check_problem(stack.client.get(f"/files/{of_session['id']}"), 404)
    assert set(kept_bytes(stack)) == before
    assert not stack.query("SELECT * FROM erased_files")


def test_integrity_finds_files_without_content_and_content_without_a_file(stack: Stack) -> None:
    lost = uploaded(stack, "lost.csv", b"a\n1\n")["id"]
    folder = Path(stack.environment["DATA_DIR"]) / "files"
    (folder / UUID(lost).hex).unlink()
    stray = folder / uuid4().hex
    stray.write_bytes(b"nobody's")
    os.utime(stray, (0, 0))
    _, said = stack.run("-m", "backend.operations.integrity")
    _, mended = stack.run("-m", "backend.operations.integrity", "--repair")
    stack.client.delete(f"/files/{lost}")

    assert f"file {lost}: its content is gone" in said
    assert f"file {UUID(hex=stray.name)}: this content belongs to no file; proposed" in said
    assert f"file {UUID(hex=stray.name)}: this content belongs to no file; done" in mended
    assert not stray.exists()


def test_a_large_file_in_another_encoding_is_read_whole(stack: Stack) -> None:
    lines = "".join(f"01.07.2026;Müller {n};1.234,50\n" for n in range(200_000))
    made = uploaded(stack, "large.csv", f"Datum;Kunde;Betrag\n{lines}".encode("cp1252"))
    path = f"/files/{made['id']}"
    found = stack.wait_for(lambda: _read(stack, path), "the file is not read")

    assert (found["rows"], found["content"][0]["encoding"]) == (200_000, "Windows-1252")
    assert stack.client.get(f"{path}/sample").json()["rows"][1][1] == "Müller 1"


def _read(stack: Stack, path: str) -> JSON | None:
    found = stack.client.get(path).json()
    return found if found["is_read"] else None


def test_too_large_a_file_and_too_much_in_all_are_refused(own_stack: Stack) -> None:
    stack = own_stack
    stop = stack.api
    assert stop is not None
    stack.environment |= {"MAX_FILE_MB": "1", "MAX_FILES_MB": "1"}
    stop.terminate()
    stop.wait()
    stack.start_api()
    content = b"a,b\n" + b"1,2\n" * 200_000

    def pieces() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        yield from (b"1,2\n" * 10_000 for _ in range(30))

    assert upload(stack, "a.csv", content).status_code == 201
    check_refusal(upload(stack, "b.csv", content), 413, "MAX_FILES_MB")
    sent = stack.client.post(
        "/files", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    check_problem(sent, 413)
    assert len(kept_bytes(stack)) == 2

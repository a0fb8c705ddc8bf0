"""Colloquy's own JSON Lines: what leaves comes in again, but no rights and no owners do."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.imports.scenes import imported
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack

CSV = b"name,amount\nCC-1,5.25\n"


@pytest.fixture
def session_id(stack: Stack, model: ScriptedModel) -> str:
    """A session with two branches, a file, and an artifact with two versions."""
    domain = make_domain(stack, tools=["query_source"], system_prompt="Be exact.")
    session_id = make_session(stack, title="Größer / “quoted”", domain=domain["name"])
    model.steps = [{"text": "First answer " + "x" * 100}]
    first = stack.chat("First question", session_id)["turn_id"]
    stack.chat("Second question", session_id)
    edit = stack.client.post(f"/turns/{first}/edit", json={"message": "Edited question"})
    assert edit.is_success, edit.text
    stack.finished(edit.json()["id"])
    file = stack.client.post(
        "/files", files={"file": ("costs.csv", CSV)}, data={"session_id": session_id}
    )
    assert file.status_code == 201, file.text
    query = {"source": file.json()["source"], "sql": "SELECT * FROM costs", "title": "Costs"}
    kept = stack.client.post(f"/sessions/{session_id}/query/artifact", json=query)
    assert kept.is_success, kept.text
    return session_id


def export(stack: Stack, session_id: str) -> bytes:
    answer = stack.client.get(f"/sessions/{session_id}/export", params={"format": "jsonl"})
    assert answer.status_code == 200, answer.text
    return answer.content


def records(exported: bytes) -> list[JSON]:
    return [json.loads(line) for line in exported.splitlines()]


def test_a_session_comes_back_with_branches_files_and_artifacts(
    stack: Stack, session_id: str, own_stack: Stack
) -> None:
    exported = export(stack, session_id)
    kinds = {next(iter(record)) for record in records(exported)}
    assert kinds >= {"colloquy", "turn", "message", "delta", "state", "branch", "artifact", "file"}
    assert b"owner" not in exported

    report = imported(own_stack, exported, "session.jsonl")

    assert report["counts"] == {"imported": 1}, report["report"]
    assert export(own_stack, session_id) == exported
    branches = [
        one.client.get(f"/sessions/{session_id}/branches").json() for one in (stack, own_stack)
    ]
    assert branches[0] == branches[1] and branches[0]["items"]
    (artifact,) = own_stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    assert artifact["title"] == "Costs"
    again = imported(own_stack, exported, "session.jsonl")
    assert again["counts"] == {"known": 1}


def test_a_damaged_session_is_left_out_and_the_next_is_taken(
    stack: Stack, session_id: str, own_stack: Stack
) -> None:
    lines = export(stack, session_id).splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith(b'{"message"'))

    def changed(key: str, value: object) -> bytes:
        record = json.loads(lines[place])
        record["message"][key] = value
        return b"".join([*lines[:place], json.dumps(record).encode() + b"\n", *lines[place + 1 :]])

    broken = [
        b"".join(lines[:place] + lines[place + 1 :]),
        b"".join(lines[:-1]),
        changed("position", 7),
        changed("turn_id", str(uuid4())),
        changed("content", {"text": 5}),
        changed("owner_id", "admin"),
    ]
    report = imported(own_stack, b"".join([*broken, *lines]), "sessions.jsonl")

    assert report["counts"] == {"imported": 1, "skipped": len(broken)}
    assert all(one["notes"] for one in report["report"] if one["outcome"] == "skipped")


@pytest.fixture
def accounts(own_stack: Stack) -> Iterator[Accounts]:
    with accounts_of(own_stack, Path(own_stack.environment["DATA_DIR"])) as made:
        yield made


def import_as(client: TestClient, stack: Stack, content: bytes) -> JSON:
    made = client.post("/imports", files={"file": ("x.jsonl", content)})
    assert made.status_code == 201, made.text
    path = f"/imports/{made.json()['id']}"
    assert client.post(f"{path}/start", json={}).status_code == 200

    def ended() -> JSON | None:
        one: JSON = client.get(path).json()
        return None if one["status"] == "running" else one

    return dict(stack.wait_for(ended, "the import does not end"))


def test_no_rights_and_no_configuration_come_in_by_a_file(
    stack: Stack, session_id: str, own_stack: Stack, accounts: Accounts
) -> None:
    exported = export(stack, session_id)
    imported(own_stack, exported, "session.jsonl")  # the local person holds these ids now
    _, member = accounts.person()

    report = import_as(member, own_stack, exported)

    assert report["counts"] == {"imported": 1}, report
    (line,) = report["report"]
    notes = " ".join(line["notes"])
    assert "Its ids were taken" in notes
    assert "configuration in the file was not taken" in notes
    assert line["session_id"] != session_id
    theirs = member.get(f"/sessions/{line['session_id']}").json()
    assert theirs["rights"] == "own"
    image = member.get(f"/sessions/{line['session_id']}/image").json()
    assert "Be exact." not in json.dumps(image)
    check_problem(member.get(f"/sessions/{session_id}"), 404)
    _, other = accounts.person()
    check_problem(other.get(f"/imports/{report['id']}"), 404)
    check_problem(other.post(f"/imports/{report['id']}/start", json={}), 404)
    check_problem(other.post(f"/imports/{report['id']}/cancel"), 404)
    assert other.get("/imports").json()["items"] == []


def test_all_sessions_are_exported_and_named_ones_must_be_ones_own(
    stack: Stack, session_id: str, own_stack: Stack
) -> None:
    ids = [make_session(own_stack, title=title) for title in ("One", "Two")]
    answer = own_stack.client.get("/export")

    heads = [record["session"]["id"] for record in records(answer.content) if "colloquy" in record]
    assert heads == ids
    chosen = own_stack.client.get("/export", params={"session_id": [ids[1]]})
    assert [r["session"]["id"] for r in records(chosen.content) if "colloquy" in r] == [ids[1]]
    check_problem(own_stack.client.get("/export", params={"session_id": [session_id]}), 404)


def test_the_command_exports_and_imports(stack: Stack, session_id: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    module = "backend.operations.exchange"

    status, said = stack.run(
        "-m", module, "export", str(file), "--session", session_id, "--url", stack.base_url
    )
    assert status == 0, said
    assert file.read_bytes() == export(stack, session_id)
    status, said = stack.run("-m", module, "import", str(file), "--url", stack.base_url)
    assert status == 0, said
    assert "1 conversation with" in said and "Already here: 1." in said and "1 known" in said
    status, said = stack.run(
        "-m", module, "import", str(tmp_path / "none"), "--url", stack.base_url
    )
    assert status == 1 and "No such file" in said

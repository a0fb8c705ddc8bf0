"""`colloquy migrate-legacy` takes over conversations of all kinds, once, and says what became."""

import base64
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.legacy.kinds import (
    LEFT_OUT,
    Kinds,
    check_report,
    check_stored,
    make_kinds,
    read_report,
)
from tests.processes import kill_process
from tests.samples.legacy import Sample, asked_a_tool, said
from tests.stack import Stack

PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
PATIENCE_SECONDS = 900  # for ten thousand conversations on a busy machine
OF_RUNS = ("dry_run", "made_at")


def new_name() -> str:
    return f"old{uuid4().hex[:6]}"


def migrate(stack: Stack, file: Path, *options: str) -> JSON:
    """Run the command; give its report."""
    path = file.with_name(f"report-{uuid4().hex[:6]}.json")
    words = path.with_suffix(".log")
    command = ("-m", "backend.legacy", str(file), "--report", str(path), *options)
    status = Stack.launch(command, stack.environment, words).wait(timeout=PATIENCE_SECONDS)
    assert status == 0, words.read_text()
    return read_report(path)


def refused(stack: Stack, file: Path, *options: str) -> str:
    """Run the command, which fails; give its words."""
    status, words = stack.run("-m", "backend.legacy", str(file), *options)
    assert status == 1, words
    return words


def take(stack: Stack, sample: Sample, *options: str) -> dict[str, JSON]:
    """Take a file over; give the report's rows by their ids."""
    return {row["id"]: row for row in migrate(stack, sample.done(), *options)["rows"]}


def without(report: JSON, *names: str) -> JSON:
    rows = [{key: row[key] for key in row if key not in names} for row in report["rows"]]
    return {key: value for key, value in report.items() if key not in names} | {"rows": rows}


def counts(stack: Stack) -> dict[str, Any]:
    """Give the number of rows in each table that a migration writes to."""
    tables = (
        "conversations", "display_messages", "turns", "domains", "domain_versions", "legacy_ids",
        "legacy_domains", "agent_state_snapshots", "agent_state_deltas",
    )  # fmt: skip
    return {name: stack.query(f"SELECT count(*) FROM {name}")[0][0] for name in tables}


def test_rows_of_all_kinds_become_what_they_are(stack: Stack, tmp_path: Path) -> None:
    kinds = make_kinds(tmp_path / "old.sqlite", 26, new_name())
    content = kinds.sample.path.read_bytes()
    before = counts(stack)

    tried = migrate(stack, kinds.sample.path, "--dry-run")

    assert counts(stack) == before
    check_report(tried, kinds)

    done = migrate(stack, kinds.sample.path)
    after = counts(stack)

    assert without(done, *OF_RUNS) == without(tried, *OF_RUNS)
    check_stored(stack, done, kinds)

    taken = [one for row in done["rows"] if row["session"] for one in ("--session", row["session"])]
    status, words = stack.run("-m", "backend.operations.integrity", *taken)
    assert (status, words.count("\n")) == (0, 1), words

    again = migrate(stack, kinds.sample.path)

    assert counts(stack) == after
    assert without(again, "taken", *OF_RUNS) == without(done, "taken", *OF_RUNS)
    assert {row["taken"] for row in again["rows"] if row["session"]} == {"before"}
    assert kinds.sample.path.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir() if "old" in one.name] == ["old.sqlite"]


def test_each_conversation_has_an_image_of_its_own(stack: Stack, tmp_path: Path) -> None:
    kinds = make_kinds(tmp_path / "old.sqlite", 13, new_name())
    report = migrate(stack, kinds.sample.path)
    rows = {row["id"]: row for row in report["rows"]}
    images = {}
    for id, row in rows.items():
        if row["session"]:
            session = stack.client.get(f"/sessions/{row['session']}").json()
            images[id] = session["image_id"]
            found = stack.query(f"SELECT image FROM conversations WHERE id = '{session['id']}'")
            image = found[0][0]
            of_domain = row["outcome"] == "recreated"
            shared = f"{kinds.name}-8" if id == f"{kinds.name}-9" else id
            prompt = f"You help {row['domain']}." if of_domain else f"You are {shared}."
            assert image["system_prompt"] == prompt
            assert list(image["mcp_servers"]) == (["clock"] if of_domain else [])

    assert len(set(images.values())) == len(images) == 9
    made = stack.client.get("/domains", params={"limit": 200}).json()["items"]
    [domain] = [one for one in made if one["name"] == f"Domain {kinds.name}-d2"]
    assert domain["system_prompt"] == f"You help {kinds.name}-d2."
    assert f"{domain['name']}: {LEFT_OUT}" in report["notes"]


def test_a_domain_that_was_changed_here_is_copied_as_it_is_now(
    stack: Stack, tmp_path: Path
) -> None:
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name, "You help as you did.")
    sample.row(f"{name}-1", "agent_1", domain=name)
    sample.connection.commit()
    first = migrate(stack, sample.path)["rows"][0]
    domain_id = stack.client.get(f"/sessions/{first['session']}").json()["domain_id"]
    stack.client.patch(
        f"/domains/{domain_id}", json={"name": f"{name} renamed", "system_prompt": "You help now."}
    ).raise_for_status()
    sample.row(f"{name}-2", "agent_2", domain=f"domain_{name}")

    rows = take(stack, sample)

    prompts = {
        id: stack.query(f"SELECT image ->> 'system_prompt' FROM conversations WHERE id = '{s}'")
        for id, s in ((id, row["session"]) for id, row in rows.items())
    }
    assert prompts == {
        f"{name}-1": [("You help as you did.",)],
        f"{name}-2": [("You help now.",)],
    }


def test_a_conversation_is_found_by_each_of_its_old_ids(stack: Stack, tmp_path: Path) -> None:
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name)
    sample.image(f"img_{name}", f"sess_{name}", domain=name)
    sample.row(f"{name}_A", f"sess_{name}", domain=name)
    sample.row(f" {name}_a ", f"agent_{name}", domain=name)
    rows = take(stack, sample)
    one, other = rows[f"{name}_A"]["session"], rows[f" {name}_a "]["session"]

    def found(legacy_id: str) -> set[str]:
        page = stack.client.get("/sessions", params={"legacy_id": legacy_id}).json()
        return {session["id"] for session in page["items"]}

    assert found(f"img_{name}") == found(f"SESS_{name} ") == {one}
    assert found(f" Agent_{name}") == {other}
    assert found(f"{name}_a") == {one, other}
    assert found(f"{name}_b") == set()


def test_the_agent_goes_on_where_the_older_system_ended(
    stack: Stack, model: ScriptedModel, tmp_path: Path
) -> None:
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name)
    sample.image(
        f"img_{name}", f"sess_{name}", domain=name, systemPrompt="You know the ledger.",
        messages=asked_a_tool({"type": "text", "value": "42"}),
    )  # fmt: skip
    sample.row(f"{name}-1", f"img_{name}", domain=name)
    session_id = take(stack, sample)[f"{name}-1"]["session"]
    model.steps = [{"text": "Gladly."}]

    turn = stack.client.post(f"/sessions/{session_id}/chat", json={"message": "Go on"}).json()

    assert turn["status"] == "succeeded", turn
    sent = model.requests[-1]["messages"]
    assert [message["role"] for message in sent] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert "You know the ledger." in sent[0]["content"]
    assert sent[3]["content"] == "42"


def test_attachments_are_kept_and_a_dry_run_leaves_none(stack: Stack, tmp_path: Path) -> None:
    name = new_name()
    table = base64.b64encode(b"year,sum\n2024,3\n2025,4\n").decode()
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "file", "data": table, "mediaType": "text/csv", "filename": f"{name}.csv"},
        {"type": "image", "data": PIXEL, "mediaType": "image/gif", "name": "dot.gif"},
    ]
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name)
    asked = [{"id": "m", "role": "user", "subtype": "user", "content": parts, "timestamp": 0}]
    sample.image(f"img_{name}", f"sess_{name}", domain=name, messages=asked)
    sample.row(f"{name}-1", f"img_{name}", domain=name)
    folder = Path(stack.environment["DATA_DIR"]) / "files"

    def files() -> int:
        return len([one for one in folder.rglob("*") if one.is_file()])

    before = files()
    migrate(stack, sample.done(), "--dry-run")
    assert files() == before

    session_id = migrate(stack, sample.path)["rows"][0]["session"]

    assert files() == before + 1
    query = f"SELECT name FROM files WHERE conversation_id = '{session_id}'"
    assert stack.query(query) == [(f"{name}.csv",)]
    messages = stack.client.get(f"/sessions/{session_id}/messages").json()["items"]
    [picture] = [one for one in messages if one["content_type"] == "image"]
    assert "result_id" in picture["metadata"]


def test_who_shares_a_history_is_told_so(stack: Stack, tmp_path: Path) -> None:
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name)
    sample.image(f"img_{name}", f"sess_{name}", domain=name, messages=said("Hello"))
    sample.row(f"{name}-1", f"img_{name}", domain=name)
    sample.row(f"{name}-2", "agent_2", domain=name)

    rows = take(stack, sample)

    for row in rows.values():
        messages = stack.client.get(f"/sessions/{row['session']}/messages").json()["items"]
        notices = [m["content"]["text"] for m in messages if m["content_type"] == "notice"]
        assert any("1 other conversation" in notice for notice in notices), notices
        assert row["is_mixed"]


def test_rows_of_an_unknown_domain_get_one_that_is_named(stack: Stack, tmp_path: Path) -> None:
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.row(f"{name}-1", "agent_1", domain=f"{name}-nowhere")
    sample.connection.commit()
    row = migrate(stack, sample.path)["rows"][0]
    assert (row["outcome"], row["reason"]) == ("reported", "its domain is unknown")
    assert "--domain NAME" in row["notes"][0]

    row = take(stack, sample, "--domain", "finance")[f"{name}-1"]

    assert row["outcome"] == "recreated"
    assert stack.client.get(f"/sessions/{row['session']}").json()["domain"] == "finance"


def test_images_and_messages_may_be_in_agentx_own_file(stack: Stack, tmp_path: Path) -> None:
    name = new_name()
    beside = Sample(tmp_path / "agentx.sqlite")
    beside.image(f"img_{name}", f"sess_{name}", domain=name, messages=said("Hello", "Hi"))
    sample = Sample(tmp_path / "old.sqlite")
    sample.row(f"{name}-1", f"sess_{name}", domain=name)

    row = take(stack, sample, "--agentx", str(beside.done()))[f"{name}-1"]

    assert (row["outcome"], row["messages"]) == ("bound", 2)


def test_the_report_is_a_page_too_for_its_owner_only(stack: Stack, tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.row("<b>c1</b>", None, title="<script>alert(1)</script>")
    path = tmp_path / "said.json"

    status, words = stack.run(
        "-m", "backend.legacy", str(sample.done()), "--dry-run", "--report", str(path)
    )

    assert status == 0, words
    assert "1 conversation in old.sqlite" in words
    assert "1  reported: it names no image, session or agent" in words
    assert "Nothing was changed: this was a dry run." in words
    page = path.with_suffix(".html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert {one.stat().st_mode & 0o777 for one in (path, path.with_suffix(".html"))} == {0o600}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--owner", "nobody-of-this-name"],
            "Nobody is called 'nobody-of-this-name'. Say for whom",
        ),
        (["--report", "/nowhere/report.json"], "The report cannot be written"),
    ],
)
def test_a_call_that_is_wrong_is_refused(
    stack: Stack, tmp_path: Path, options: list[str], sentence: str
) -> None:
    sample = Sample(tmp_path / "old.sqlite")

    assert sentence in refused(stack, sample.done(), *options)


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.chaos)])
@pytest.mark.timeout(2 * PATIENCE_SECONDS)
def test_a_migration_that_is_killed_twice_continues(
    stack: Stack, tmp_path: Path, count: int
) -> None:
    kinds = make_kinds(tmp_path / "old.sqlite", count, new_name())
    for part in (count // 4, count // 2):
        kill_after(stack, kinds, part, tmp_path)

    report = migrate(stack, kinds.sample.path)

    check_report(report, kinds)
    check_stored(stack, report, kinds)
    taken = {row["taken"] for row in report["rows"] if row["session"]}
    assert taken == {"now", "before"}
    assert len(report["rows"]) == count


def kill_after(stack: Stack, kinds: Kinds, part: int, folder: Path) -> None:
    """Start the command, and kill it when so many conversations are there."""
    process = stack.start(
        "-m", "backend.legacy", str(kinds.sample.path), "--report", str(folder / "never.json")
    )
    asked = (
        "SELECT count(*) FROM conversations WHERE metadata -> 'legacy' ->> 'id'"
        f" LIKE '{kinds.name}-%'"
    )

    def is_there() -> bool:
        assert process.poll() is None
        return stack.query(asked)[0][0] >= part

    stack.wait_for(is_there, "the migration does not proceed", PATIENCE_SECONDS)
    kill_process(process)
    assert not (folder / "never.json").exists()

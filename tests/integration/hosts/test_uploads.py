"""Uploads where each host has a folder of its own, and all have one bucket."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from backend.storage.stores import MARK
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.imports.scenes import ended, inspected, lines, openai
from tests.integration.scenes import check_views, continued, make_session
from tests.processes import free_port
from tests.servers.bucket import serve_bucket
from tests.stack import Servers, Stack

TABLE = b"day,amount\n2026-07-01,1.50\n2026-08-02,2.25\n"


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    (home := tmp_path / "s3").mkdir()
    with serve_bucket(home) as served:
        yield served


@pytest.fixture
def hosts(
    servers: Servers, model: ScriptedModel, tmp_path: Path, bucket: tuple[Path, dict[str, str]]
) -> Iterator[Stack]:
    """The API on one host, a worker on another."""
    (here := tmp_path / "api").mkdir()
    with make_stack(servers, model, here, RETENTION_HOURS="0.01", **bucket[1]) as stack:
        stack.kill_workers()
        stack.workers.append(stack.start("-m", "worker", DATA_DIR=str(tmp_path / "worker")))
        stack.wait_ready()
        yield stack


def held(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and one.name != MARK]


def test_what_one_host_has_received_another_reads_until_it_is_deleted(
    hosts: Stack, tmp_path: Path, bucket: tuple[Path, dict[str, str]]
) -> None:
    session_id = make_session(hosts)
    sent = {"files": {"file": ("takings.csv", TABLE)}, "data": {"session_id": session_id}}
    file = hosts.client.post("/files", **sent).json()
    query = {"source": file["source"], "sql": f"SELECT sum(amount) AS s FROM {file['source']}"}
    hosts.chat(script({"tools": [{"name": "query_source", "args": query}]}), session_id)

    rows, _ = check_views(hosts, session_id)
    assert "3.75" in str([row["content"] for row in rows])
    assert held(tmp_path / "worker" / "files")
    assert [place.relative_to(bucket[0]).parts[:3] for place in held(bucket[0])] == [
        ("of", "team", "files")
    ]
    port = free_port()
    third = {"DATA_DIR": str(tmp_path / "third")}
    hosts.others.append(hosts.start("-m", "backend.api", "--port", str(port), **third))
    address = f"http://127.0.0.1:{port}/api/v1/files/{file['id']}/content"
    hosts.wait_for(lambda: answers(address), "the other API does not answer")
    assert httpx.get(address).content == TABLE
    assert hosts.run("-m", "backend.operations.integrity")[0] == 0

    assert hosts.client.delete(f"/files/{file['id']}").status_code == 204
    hosts.wait_for(lambda: not held(bucket[0]), "the bucket still has it")
    gone = lambda: not held(tmp_path / "worker" / "files")  # noqa: E731
    hosts.wait_for(gone, "the worker's host still has a copy")
    assert not held(tmp_path / "worker" / "cache" / "files")


def test_a_continued_session_has_files_of_its_own_in_the_bucket(
    hosts: Stack, bucket: tuple[Path, dict[str, str]]
) -> None:
    session_id = make_session(hosts)
    sent = {"files": {"file": ("takings.csv", TABLE)}, "data": {"session_id": session_id}}
    first = hosts.client.post("/files", **sent).json()

    new = continued(hosts, session_id)
    hosts.client.delete(f"/sessions/{session_id}")
    hosts.wait_for(lambda: len(held(bucket[0])) == 1, "the first one's content stays")

    (copy,) = hosts.client.get("/files", params={"session_id": new["id"]}).json()["items"]
    assert copy["id"] != first["id"]
    assert hosts.client.get(f"/files/{copy['id']}/content").content == TABLE
    query = {"source": copy["source"], "sql": f"SELECT sum(amount) AS s FROM {copy['source']}"}
    hosts.chat(script({"tools": [{"name": "query_source", "args": query}]}), new["id"])
    assert "3.75" in str(hosts.messages(new["id"]))


def test_an_export_is_imported_on_another_host(
    hosts: Stack, bucket: tuple[Path, dict[str, str]]
) -> None:
    export = lines(openai(("user", "Hello"), ("assistant", "Good day.")))
    found = inspected(hosts, export, "export.jsonl")
    started = hosts.client.post(f"/imports/{found['id']}/start", json={"domain": None})
    assert started.status_code == 200, started.text

    done = ended(hosts, found["id"])
    assert (done["status"], sum(done["counts"].values())) == ("succeeded", 1), done
    hosts.wait_for(lambda: not held(bucket[0]), "the bucket still has the upload")


def answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False

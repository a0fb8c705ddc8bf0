"""Where contents are, how they go, and that large tables stay small in memory."""

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psutil
import pyarrow.parquet as pq
import pytest

from backend.errors.artifacts import ArtifactContentGone, ArtifactStoreUnavailable
from backend.errors.base import ConfigurationError
from backend.settings import Settings
from backend.storage.stores import MARK, BucketStore, open_store
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.artifacts.scenes import call, desk, download, made, make, version
from tests.processes import free_port
from tests.servers.bucket import CERTIFICATES, serve_bucket
from tests.stack import Servers, Stack

MILLION = """SELECT a.document_number || '-' || b.other AS name, a.amount_group AS amount
FROM documents a, (SELECT document_number AS other FROM documents LIMIT 400) b
LIMIT {rows}"""
MEGABYTE = 2**20


def stored(home: Path) -> list[Path]:
    return [one for one in home.rglob("*") if one.is_file() and one.name != MARK]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    with serve_bucket(tmp_path_factory.mktemp("s3")) as served:
        yield served


def test_large_contents_are_in_a_bucket_and_go_with_their_session(
    servers: Servers, model: ScriptedModel, tmp_path: Path, bucket: tuple[Path, dict[str, str]]
) -> None:
    home, settings = bucket
    with make_stack(servers, model, tmp_path, **settings) as stack:
        session_id = desk(stack)
        named = make(stack, session_id, "document", "Long", content="A line.\n" * 3_000)
        held = stored(home)
        table = make(stack, session_id, "table", "Rows", source="fi",
                     query=MILLION.format(rows=20_000))  # fmt: skip
        page = version(stack, table, offset=19_990, limit=50)
        text = download(stack, named, "md").text
        again = call(stack, session_id, "revise_artifact", artifact_id=named["artifact_id"],
                     content="A line.\n" * 3_000)  # fmt: skip
        kept = stored(home)
        checked = stack.run("-m", "backend.operations.integrity")
        assert stack.client.delete(f"/sessions/{session_id}").status_code == 204
        stack.wait_for(lambda: not stored(home), "the contents are still in the bucket")

    assert [place.relative_to(home).parts[:2] for place in held] == [("of", "team")]
    assert text == "A line.\n" * 3_000
    assert len(page["preview"]["rows"]) == 10
    assert "content is equal" in again
    assert len(kept) == 2
    assert checked[0] == 0 and "of 2 in the store all" in checked[1], checked[1]


def test_an_answerless_bucket_is_told_and_changes_nothing(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    away = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}", "AWS_REGION": "x"}
    keys = {"AWS_ACCESS_KEY_ID": "analyst-key", "AWS_SECRET_ACCESS_KEY": "analyst-secret"}
    settings = {
        "ARTIFACT_STORE": "s3://results",
        "ARTIFACT_INLINE_BYTES": "10",
        **away,
        **keys,
        "SSL_CERT_DIR": CERTIFICATES,
    }
    with make_stack(servers, model, tmp_path, **settings) as stack:
        session_id = desk(stack)
        said = call(
            stack, session_id, "make_artifact", kind="document", title="T", content="x" * 99
        )
        listed = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]

    assert "store does not answer" in said
    assert listed == []


def test_a_missing_bucket_is_not_taken_for_missing_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: tuple[Path, dict[str, str]]
) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", CERTIFICATES)
    store, there = (BucketStore(url, bucket[1]) for url in ("s3://no-such-bucket", "s3://results"))
    place = tmp_path / "content"
    place.write_bytes(b"x")

    for use in (
        lambda: store.put("ab/c", place),
        lambda: store.fetch("ab/c", place),
        lambda: store.erase(["ab/c"]),
        lambda: store.size("ab/c"),
    ):
        with pytest.raises(ArtifactStoreUnavailable, match="check ARTIFACT_STORE"):
            use()
    with pytest.raises(ArtifactContentGone):
        there.fetch("ab/c", place)
    assert there.size("ab/c") is None


@pytest.mark.parametrize("endpoint", ["store.example:9000", "https://", "http://h:port"])
def test_an_endpoint_that_is_no_url_is_refused_at_startup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    settings = Settings(_env_file=None, data_dir=tmp_path, artifact_store="s3://results")

    with pytest.raises(ConfigurationError, match="AWS_ENDPOINT_URL is not usable: "):
        open_store(settings)


@pytest.mark.chaos
def test_any_two_of_twelve_versions_differ_as_except_says(stack: Stack, tmp_path: Path) -> None:
    session_id = desk(stack)
    query = (
        "SELECT document_number, amount_group, fiscal_period % {n} AS part FROM documents LIMIT {m}"
    )
    named = make(stack, session_id, "table", source="fi", query=query.format(n=2, m=300))
    for n in range(3, 14):
        call(stack, session_id, "revise_artifact", artifact_id=named["artifact_id"], source="fi",
             query=query.format(n=n, m=300 + 7 * (n % 5)))  # fmt: skip
    places = {}
    for number in range(1, 13):
        content = download(stack, {**named, "version": number}, "parquet").content
        places[number] = tmp_path / f"{number}.parquet"
        places[number].write_bytes(content)

    assert made(stack, session_id)["version"] == 12
    for before in range(1, 13):
        for after in range(before + 1, 13):
            asked = {"before": before, "after": after}
            told = stack.client.get(f"/artifacts/{named['artifact_id']}/diff", params=asked).json()
            counts = [
                duckdb.sql(
                    f"SELECT count(*) FROM (FROM read_parquet('{places[one]}') EXCEPT ALL "
                    f"FROM read_parquet('{places[other]}'))"
                ).fetchall()[0][0]
                for one, other in ((after, before), (before, after))
            ]
            assert [told["added"], told["removed"]] == counts, asked


@pytest.mark.chaos
def test_a_million_rows_stay_small_in_memory(own_stack: Stack) -> None:
    stack, session_id = own_stack, desk(own_stack)
    small = make(stack, session_id, "table", "Warm", source="fi", query=MILLION.format(rows=5_000))
    for form in ("csv", "parquet"):
        download(stack, small, form)
    watch = _Watch([stack.api.pid, *(worker.pid for worker in stack.workers)])  # type: ignore[union-attr]
    with watch:
        named = make(stack, session_id, "table", "Large", source="fi",
                     query=MILLION.format(rows=1_000_000))  # fmt: skip
        call(stack, session_id, "revise_artifact", artifact_id=named["artifact_id"], source="fi",
             query=MILLION.format(rows=1_000_001))  # fmt: skip
        last = version(stack, named, 1, offset=999_990, limit=50)
        told = stack.client.get(
            f"/artifacts/{named['artifact_id']}/diff", params={"before": 1, "after": 2}, timeout=200
        ).json()
        path = f"/artifacts/{named['artifact_id']}/versions/1/download"
        lines = 0
        with stack.client.stream("GET", path, params={"format": "csv"}, timeout=300) as answer:
            for piece in answer.iter_bytes():
                lines += piece.count(b"\n")
    stored_table = download(stack, {**named, "version": 1}, "parquet").content

    assert last["preview"]["total_rows"] == 1_000_000
    assert len(last["preview"]["rows"]) == 10
    assert (told["added"], told["removed"]) == (1, 0)
    assert lines == 1_000_001
    assert pq.ParquetFile(io.BytesIO(stored_table)).metadata.num_rows == 1_000_000
    assert watch.growth < 60 * MEGABYTE


class _Watch:
    """How much the parts grow at most while a block runs, the sandbox's children aside."""

    def __init__(self, pids: list[int]) -> None:
        self._parts = [psutil.Process(pid) for pid in pids]
        self._before = self._sizes()
        self.growth = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            grown = [a - b for a, b in zip(self._sizes(), self._before, strict=True)]
            self.growth = max(self.growth, *grown)

    def _sizes(self) -> list[int]:
        return [part.memory_info().rss for part in self._parts]

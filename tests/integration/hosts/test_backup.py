"""A backup of a running installation, restored into another one."""

from pathlib import Path

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.artifacts.scenes import desk, download, make
from tests.integration.scenes import texts
from tests.stack import Servers, Stack

TABLE = b"day,amount\n2026-07-01,1.50\n"


def run(stack: Stack, what: str, folder: Path) -> tuple[int, str]:
    return stack.run("-m", "backend.operations.backup", what, str(folder))


def test_what_was_backed_up_is_there_in_another_installation(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    homes = [tmp_path / name for name in ("one", "other")]
    for home in homes:
        home.mkdir()
    folder = tmp_path / "backup"
    with make_stack(servers, model, homes[0], ARTIFACT_INLINE_BYTES="100") as one:
        session_id = desk(one)
        file = one.client.post("/files", files={"file": ("takings.csv", TABLE)}).json()
        named = make(one, session_id, "document", "Long", content="A line.\n" * 300)
        (homes[0] / "sources").mkdir(exist_ok=True)
        (homes[0] / "sources" / "plan.csv").write_bytes(TABLE)
        written = run(one, "backup", folder)
        again = run(one, "backup", folder)
        said = texts(one.messages(session_id), "assistant")

    other = make_stack(servers, model, homes[1], ARTIFACT_INLINE_BYTES="100")
    restored = run(other, "restore", folder)
    twice = run(other, "restore", folder)
    with other:
        assert texts(other.messages(session_id), "assistant") == said
        assert other.client.get(f"/files/{file['id']}/content").content == TABLE
        assert download(other, named, "md").text == "A line.\n" * 300
        query = {"source": "plan", "sql": "SELECT sum(amount) AS s FROM plan"}
        other.chat(script({"tools": [{"name": "query_source", "args": query}]}), session_id)
        assert other.run("-m", "backend.operations.integrity")[0] == 0

    assert written[0] == 0 and "1 uploaded files, 1 contents of artifacts" in written[1], written
    assert again[0] == 2 and "is not empty" in again[1]
    assert restored[0] == 0, restored[1]
    assert twice[0] == 2 and "has sessions or people already" in twice[1]
    assert (homes[1] / "sources" / "plan.csv").read_bytes() == TABLE


def test_what_is_missing_or_damaged_is_named(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    (home := tmp_path / "one").mkdir()
    folder = tmp_path / "backup"
    with make_stack(servers, model, home) as one:
        kept, lost = (
            one.client.post("/files", files={"file": (name, TABLE)}).json()["id"].replace("-", "")
            for name in ("kept.csv", "lost.csv")
        )
        (home / "files" / lost).unlink()
        written = run(one, "backup", folder)
        (folder / "files" / kept).write_bytes(b"another")
        (empty := tmp_path / "other").mkdir()
        other = make_stack(servers, model, empty)
        refused = run(other, "restore", folder)
        nothing = run(other, "restore", tmp_path / "nowhere")
        other.ends_with_it.close()

    assert written[0] == 1 and f"missing: files/{lost}: it is gone" in written[1]
    assert refused[0] == 2 and f"files/{kept} of the backup is not what was written" in refused[1]
    assert nothing[0] == 2 and "holds no complete backup" in nothing[1]

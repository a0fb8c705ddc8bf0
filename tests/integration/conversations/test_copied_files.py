"""Tables and files of a session are copied into the one that goes on from it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.errors.files import FileStoreUnavailable
from backend.files.store import FileStore
from backend.settings import Settings
from backend.turns.history.continue_session import continue_session
from backend.turns.process.services import Services
from backend.types import JSON
from db.session import Database
from tests.fakes import ScriptedModel
from tests.integration.api.test_files import uploaded
from tests.integration.scenes import continued, make_session
from tests.stack import Stack


def look_up(stack: Stack, model: ScriptedModel) -> str:
    """A session with a table that is longer than what its message shows."""
    session_id = make_session(stack)
    sql = "SELECT * FROM documents LIMIT 120"
    call = {"name": "query_source", "id": "q", "args": {"source": "fi", "sql": sql}}
    model.steps = [{"tools": [call]}, {"text": "There."}]
    stack.chat("Show me all.", session_id)
    return session_id


def test_whole_tables_are_copied(stack: Stack, model: ScriptedModel) -> None:
    old_id = look_up(stack, model)
    (old_table,) = tables(stack, old_id)
    whole = stack.client.get(f"/sessions/{old_id}/results/{old_table['result_id']}").json()

    new = continued(stack, old_id)
    stack.client.delete(f"/sessions/{old_id}")

    (table,) = tables(stack, new["id"])
    assert table["result_id"] != old_table["result_id"]
    copied = stack.client.get(f"/sessions/{new['id']}/results/{table['result_id']}").json()
    assert copied == whole


def test_files_that_tools_gave_are_copied(stack: Stack, model: ScriptedModel) -> None:
    old_id = look_up(stack, model)
    # As a message that shows a file names it.
    stack.query_and_commit(
        "UPDATE display_messages"
        " SET metadata = jsonb_build_object('result_id', metadata #> '{table,result_id}')"
        f" WHERE conversation_id = '{old_id}' AND metadata ? 'table'"
    )

    new = continued(stack, old_id)

    old, copied = (
        [
            row["metadata"]["result_id"]
            for row in stack.messages(id_)
            if "result_id" in row["metadata"]
        ]
        for id_ in (old_id, new["id"])
    )
    assert old != copied
    assert stack.client.get(f"/sessions/{new['id']}/results/{copied[0]}").status_code == 200


def test_uploaded_files_are_asked_as_before(stack: Stack, model: ScriptedModel) -> None:
    old_id = make_session(stack)
    content = b"cc,plan\nCC-1,100\nCC-2,200\n"
    file = uploaded(stack, f"{uuid4().hex}.csv", content, session_id=old_id)
    elsewhere = uploaded(stack, f"{uuid4().hex}.csv", content, session_id=make_session(stack))

    new = continued(stack, old_id)
    stack.client.delete(f"/sessions/{old_id}")

    assert stack.client.get(f"/files/{file['id']}").status_code == 404
    kept = stack.client.get("/files", params={"session_id": new["id"]}).json()["items"]
    (copy,) = [one for one in kept if one["session_id"] == new["id"]]
    assert copy["id"] != file["id"]
    assert (copy["name"], copy["source"]) == (file["name"], file["source"])
    assert stack.client.get(f"/files/{copy['id']}/content").content == content
    assert elsewhere["source"] not in [one["source"] for one in kept]
    args = {"source": file["source"], "sql": f"SELECT sum(plan) AS planned FROM {file['source']}"}
    model.steps = [{"tools": [{"name": "query_source", "args": args}]}, {"text": "There."}]
    stack.chat("How much is planned?", new["id"])
    (result,) = [r for r in stack.messages(new["id"]) if r["content_type"] == "tool_result"]
    assert "300" in result["content"]["content"]


class Copying(FileStore):
    """Notes how many connections are in use while contents are copied, which may then fail."""

    def __init__(self, folder: Path, database: Database, fails_after: int = 9) -> None:
        super().__init__(folder)
        self._database, self._fails_after = database, fails_after
        self.in_use: list[int] = []

    def copy(self, file_id: UUID, new_id: UUID) -> None:
        self.in_use.append(self._database.in_use)
        if len(self.in_use) > self._fails_after:
            raise FileStoreUnavailable
        super().copy(file_id, new_id)


@pytest.fixture
def services(stack: Stack) -> Iterator[Services]:
    settings = Settings(
        _env_file=None,
        database_url=stack.database_url,
        redis_url=stack.redis_url,
        data_dir=Path(stack.environment["DATA_DIR"]),
    )
    made = bootstrap(settings, threads=2)
    yield made
    made.database.close()


def with_files(stack: Stack, count: int) -> UUID:
    session_id = make_session(stack)
    for number in range(count):
        uploaded(stack, f"{uuid4().hex}.csv", b"a,b\n1,%d\n" % number, session_id=session_id)
    return UUID(session_id)


def test_no_transaction_is_open_while_contents_are_copied(stack: Stack, services: Services) -> None:
    old_id, folder = with_files(stack, 2), services.settings.data_dir
    store = Copying(folder, services.database)
    before = set(store.ids())

    new_id = continue_session(replace(services, files=store), LOCAL_USER, old_id, None, "once")
    again = continue_session(replace(services, files=store), LOCAL_USER, old_id, None, "once")

    assert new_id == again
    assert store.in_use == [0, 0]
    named = stack.query("SELECT id FROM files WHERE conversation_id = :of", of=new_id)
    assert set(store.ids()) - before == {id_ for (id_,) in named}


def test_contents_that_cannot_all_be_copied_leave_nothing(stack: Stack, services: Services) -> None:
    old_id = with_files(stack, 2)
    store = Copying(services.settings.data_dir, services.database, fails_after=1)
    before = set(store.ids())

    with pytest.raises(FileStoreUnavailable):
        continue_session(replace(services, files=store), LOCAL_USER, old_id, None)

    assert set(store.ids()) == before
    assert not stack.query(
        "SELECT 1 FROM conversations WHERE metadata -> 'continues' ? :old", old=str(old_id)
    )


def tables(stack: Stack, session_id: str) -> list[JSON]:
    """The tables in a history whose whole is stored apart."""
    found = [row["metadata"].get("table", {}) for row in stack.messages(session_id)]
    return [table for table in found if "result_id" in table]

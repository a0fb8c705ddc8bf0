"""Tables and files of a session are copied into the one that goes on from it."""

from uuid import uuid4

from backend.types import JSON
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


def tables(stack: Stack, session_id: str) -> list[JSON]:
    """The tables in a history whose whole is stored apart."""
    found = [row["metadata"].get("table", {}) for row in stack.messages(session_id)]
    return [table for table in found if "result_id" in table]

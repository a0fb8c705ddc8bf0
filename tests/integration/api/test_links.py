"""Links by which others read a session: what they show, to whom, and how they end."""

import json

import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, make_session
from tests.stack import Stack

SAID = [("user", "What is it?"), ("assistant", "It is 42."), ("user", "Of another branch")]


@pytest.fixture
def session_id(stack: Stack) -> str:
    session_id = make_session(stack, title="The answer")
    for position, (speaker, text) in enumerate(SAID, 1):
        stack.query_and_commit(
            """INSERT INTO display_messages
                 (conversation_id, position, message_type, content_type, status, content)
               VALUES (CAST(:session AS uuid), :position, :speaker, 'text', 'completed',
                 CAST(:content AS jsonb))""",
            session=session_id, position=position, speaker=speaker,
            content=json.dumps({"text": text}),
        )  # fmt: skip
    stack.query_and_commit(
        """UPDATE conversations SET message_count = 3, path = '[[1, 2]]'
           WHERE id = CAST(:id AS uuid)""",
        id=session_id,
    )
    return session_id


def make_link(stack: Stack, session_id: str) -> JSON:
    made = stack.client.post(f"/sessions/{session_id}/links")
    assert made.status_code == 201, made.text
    return made.json()


def test_a_link_shows_the_branch_that_is_shown_and_nothing_else(stack: Stack, session_id: str):
    token = make_link(stack, session_id)["token"]

    shared = stack.client.get(f"/shared/{token}").json()
    rows = stack.client.get(f"/shared/{token}/messages").json()["items"]

    assert (shared["title"], shared["owner"]) == ("The answer", "local")
    assert [row["content"]["text"] for row in rows] == ["What is it?", "It is 42."]
    other = make_session(stack)
    check_problem(stack.client.get(f"/shared/{token}/results/{other}"), 404)
    check_problem(stack.client.get(f"/shared/{token}x"), 404)
    assert stack.client.post(f"/shared/{token}/messages", json={}).status_code == 405


def test_a_token_is_told_once_and_stored_as_its_digest(stack: Stack, session_id: str):
    made = make_link(stack, session_id)

    (listed,) = stack.client.get(f"/sessions/{session_id}/links").json()["items"]
    (stored,) = stack.query("SELECT token_hash FROM session_links WHERE conversation_id = "
                            "CAST(:id AS uuid)", id=session_id)  # fmt: skip

    assert listed == {name: value for name, value in made.items() if name != "token"}
    assert len(made["token"]) >= 43
    assert made["token"] not in str(stored)


def test_a_revoked_link_says_when_and_others_go_on(stack: Stack, session_id: str):
    first, second = make_link(stack, session_id), make_link(stack, session_id)
    path = f"/sessions/{session_id}/links/{first['id']}"

    revoked = stack.client.delete(path).json()

    assert stack.client.delete(path).json() == revoked
    for what in ("", "/messages"):
        problem = check_problem(stack.client.get(f"/shared/{first['token']}{what}"), 410)
        assert revoked["revoked_at"][:10] in problem["detail"]
    assert stack.client.get(f"/shared/{second['token']}").status_code == 200
    acts = stack.query(
        "SELECT action FROM audit_events WHERE subject_id = :id ORDER BY id", id=session_id
    )
    assert [act[0] for act in acts][-3:] == ["link_made", "link_made", "link_revoked"]


def test_links_go_with_their_session(stack: Stack, session_id: str):
    token = make_link(stack, session_id)["token"]

    assert stack.client.delete(f"/sessions/{session_id}").status_code == 204

    check_problem(stack.client.get(f"/shared/{token}"), 404)
    assert not stack.query("SELECT 1 FROM session_links WHERE conversation_id = "
                           "CAST(:id AS uuid)", id=session_id)  # fmt: skip


def test_nobody_but_the_owner_makes_sees_or_revokes_links(stack: Stack, session_id: str):
    made = make_link(stack, session_id)
    stack.query_and_commit(
        "UPDATE conversations SET owner_id = 'ann' WHERE id = CAST(:id AS uuid)", id=session_id
    )
    path = f"/sessions/{session_id}/links"

    check_problem(stack.client.post(path), 404)
    check_problem(stack.client.get(path), 404)
    check_problem(stack.client.delete(f"{path}/{made['id']}"), 404)


def test_a_link_gives_each_table_of_an_answer_as_rows_as_a_file_and_as_its_chart(
    stack: Stack, session_id: str
):
    token = make_link(stack, session_id)["token"]
    text = "| Centre | Spent |\n|---|---|\n| A | 1,234.50 |\n| B | 7.00 |"
    put(stack, session_id, {"text": text})
    message = stack.client.get(f"/shared/{token}/messages").json()["items"][1]["id"]
    path = f"/shared/{token}/messages/{message}/tables"

    table = stack.client.get(f"{path}/1").json()
    chart = stack.client.get(f"{path}/1", params={"format": "chart", "locale": "de-CH"}).json()
    csv = stack.client.get(f"{path}/1", params={"format": "csv"})

    assert table["rows"] == [["A", 1234.5], ["B", 7]]
    assert [column["kind"] for column in table["columns"]] == ["text", "money"]
    assert table["columns"][1]["number"]["decimals"] == 2
    assert chart["spec"]["config"]["locale"]["number"]["decimal"] == "."
    assert len(chart["spec"]["data"]["values"]) == 2
    assert csv.headers["content-disposition"].startswith("attachment")
    check_problem(stack.client.get(f"{path}/2"), 404)
    check_problem(stack.client.get(f"{path}/1", params={"locale": "de"}), 422)
    check_problem(stack.client.get(f"/shared/{token}/messages/{session_id}/tables/1"), 404)


def test_a_chart_is_drawn_as_its_reader_chooses(stack: Stack, session_id: str):
    token = make_link(stack, session_id)["token"]
    text = "| Centre | Kind | Spent |\n|---|---|---|\n| A | x | 1,234.50 |\n| B | y | 7.00 |"
    put(stack, session_id, {"text": text})
    message = stack.client.get(f"/shared/{token}/messages").json()["items"][1]["id"]
    path = f"/shared/{token}/messages/{message}/tables/1"

    def drawn(**asked: str) -> JSON:
        return stack.client.get(path, params={"format": "chart", **asked}).json()

    first = drawn()
    assert first["choices"] == {
        "mark": "bar", "x": "Centre", "y": "Spent", "colour": None,
        "columns": ["Centre", "Kind", "Spent"], "values": ["Spent"],
    }  # fmt: skip
    other = drawn(mark="line", x="Kind", colour="Centre")
    assert (other["choices"]["mark"], other["choices"]["x"]) == ("line", "Kind")
    assert other["choices"]["colour"] == "Centre"
    assert other["spec"] != first["spec"]
    assert len(drawn(containing="1234")["spec"]["data"]["values"]) == 1
    for wrong in ({"mark": "arc"}, {"x": "none"}, {"colour": "none"}):
        check_problem(stack.client.get(path, params={"format": "chart", **wrong}), 422)


def test_a_query_is_laid_out_and_of_no_other_message(stack: Stack, session_id: str):
    token = make_link(stack, session_id)["token"]
    sql = "select a, sum(b) from t group by 1"
    put(stack, session_id, {"name": "query_source", "arguments": {"sql": sql}}, "tool_call")
    first, call, *_ = stack.client.get(f"/shared/{token}/messages").json()["items"]
    path = f"/shared/{token}/messages"

    laid_out = stack.client.get(f"{path}/{call['id']}/query").json()["sql"]

    assert laid_out.splitlines()[0] == "SELECT"
    assert laid_out.split() == ["SELECT", "a,", "SUM(b)", "FROM", "t", "GROUP", "BY", "1"]
    check_problem(stack.client.get(f"{path}/{first['id']}/query"), 404)


def put(stack: Stack, session_id: str, content: JSON, content_type: str = "text") -> None:
    """Make the second message another."""
    stack.query_and_commit(
        """UPDATE display_messages SET content = CAST(:content AS jsonb), content_type = :type
           WHERE conversation_id = CAST(:session AS uuid) AND position = 2""",
        session=session_id, content=json.dumps(content), type=content_type,
    )  # fmt: skip

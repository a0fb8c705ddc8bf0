"""Search in what was said: matching, scope, pages, branches, hostile queries, what is erased."""

import json
from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from backend.auth.scope import Role, Scope
from backend.conversations.search.service import Search, search_messages
from backend.errors.base import NotAllowed
from backend.errors.conversations import SearchTooBroad, SessionNotFound
from backend.schemas.conversations.search import SearchPage
from backend.types import JSON
from db.session import Database
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack


def say(stack: Stack, session_id: str, *rows: tuple[str, str, JSON]) -> None:
    """Add display messages to a session: type, content type, content."""
    stack.query_and_commit(
        """WITH said AS (
             SELECT n, one->>0 AS speaker, one->>1 AS kind, one->2 AS content
             FROM jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS given (one, n)
           ), counted AS (
             UPDATE conversations SET message_count = message_count + (SELECT count(*) FROM said)
             WHERE id = CAST(:id AS uuid) RETURNING message_count - (SELECT count(*) FROM said) c
           ) INSERT INTO display_messages
             (conversation_id, position, message_type, content_type, status, content, created_at)
           SELECT CAST(:id AS uuid), c + n, speaker, kind, 'completed', content, clock_timestamp()
           FROM said, counted""",
        id=session_id,
        rows=json.dumps(rows),
    )


def texts_of(*said: str) -> list[tuple[str, str, JSON]]:
    return [("user", "text", {"text": one}) for one in said]


def search(stack: Stack, q: str, **params: Any) -> JSON:
    answer = stack.client.get("/search", params={"q": q, **params})
    assert answer.status_code == 200, answer.text
    page: JSON = answer.json()
    return page


def found(stack: Stack, session_id: str, q: str) -> list[int]:
    """The positions at which a session says this, in order."""
    hits = search(stack, q, session_id=session_id, limit=50)["items"]
    return sorted(hit["position"] for hit in hits)


def test_words_phrases_codes_and_beginnings_are_found(stack: Stack) -> None:
    session_id = make_session(stack)
    say(
        stack,
        session_id,
        *texts_of(
            "What is the budget of CC-1001?",
            "Die GRÖSSE des Budgets für Überstunden: „naïve“ Schätzung 1.200,50 EUR",
            "CC 2002 and 1001 separately, the budget is large",
            "日本語 text, a_b and <b>bold</b>",
        ),
    )

    wanted = {
        "budget": [1, 2, 3],
        "budget of": [1],
        "of budget": [1],
        "CC-1001": [1],
        "cc": [1, 3],
        "1001": [1, 3],
        '"budget of CC-1001"': [1],
        '"of budget"': [],
        "größe": [],  # ss is not ß
        "grösse": [2],
        "ÜBERSTUNDEN schätz": [2],
        "schätz überstunden": [],  # only the last word may go on
        "„schätzung 1.200“": [2],
        '"schätz"': [],
        "naïve": [2],
        "b": [4],  # a single letter is a word, not a beginning
        "日本": [4],
        '"budget': [1, 3],
    }
    assert {q: found(stack, session_id, q) for q in wanted} == wanted


def test_what_people_see_is_searched_and_thinking_is_not(stack: Stack) -> None:
    session_id = make_session(stack)
    call = {"call_id": "kiwi1", "name": "query_source", "arguments": {"sql": ["SELECT\napple", 42]}}
    result = {"tool_call_id": "kiwi1", "name": "query_source", "content": "banana | 7"}
    say(
        stack,
        session_id,
        ("assistant", "thinking", {"text": "secret kiwi1"}),
        ("assistant", "tool_call", call),
        ("tool", "tool_result", {**result, "is_error": False}),
        ("system", "notice", {"text": "cherry"}),
        ("system", "error", {"title": "damson", "detail": "elder"}),
        ("tool", "todos", {"todos": [{"content": "fig", "status": "pending"}]}),
        ("tool", "file", {"name": "grape.pdf", "mime_type": "x", "bytes": 1}),
        ("assistant", "text", {"text": "x " * 9_990 + "honey " + "y" * 20 + " lemon"}),
        ("tool", "todos", {"todos": "not a list"}),
        ("assistant", "tool_call", {"call_id": "1", "name": None, "arguments": "mango {"}),
    )

    wanted = {
        "kiwi1": [],
        "apple": [2],
        "42": [2],
        '"query source"': [2, 3],
        "banana": [3],
        "cherry": [4],
        "damson elder": [5],
        "fig": [6],
        "grape": [7],
        "honey": [8],
        "lemon": [],  # beyond what is searched of one message
        "mango": [10],
    }
    assert {q: found(stack, session_id, q) for q in wanted} == wanted


def test_a_hit_says_where_it_is_and_marks_the_words(stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": "The answer is <b>Zebra-77</b>, said plainly."}
    word = f"w{uuid4().hex}"
    said = stack.chat(f"{'before ' * 30}about {word} and zebra 77 {'after ' * 60}")

    (hit,) = search(stack, word[:20])["items"]
    (answer,) = search(stack, "zebra-77", session_id=said["session_id"], limit=1)["items"]

    rows = {row["id"]: row for row in stack.messages(said["session_id"])}
    assert hit["session_id"] == said["session_id"]
    assert hit["turn_id"] == said["turn_id"]
    assert hit["position"] == rows[hit["message_id"]]["position"]
    assert (hit["message_type"], hit["is_on_branch"]) == ("user", True)
    line = "".join(part["text"] for part in hit["snippet"])
    assert line.startswith("…before") and line.endswith("…") and len(line) < 300
    assert [part["text"] for part in hit["snippet"] if part["is_hit"]] == [word]
    assert (answer["message_type"], answer["agent"]) == ("assistant", said["agent"])
    marked = [(part["text"], part["is_hit"]) for part in answer["snippet"]]
    assert marked == [
        ("The answer is <b>", False),
        ("Zebra-77", True),
        ("</b>, said plainly.", False),
    ]


def test_pages_go_back_in_time_without_gap_or_repeat(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    sessions = [make_session(stack) for _ in range(3)]
    for number in range(4):
        for session_id in sessions:
            say(stack, session_id, *texts_of(f"{word} {number}", f"{word} again"))

    hits, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = search(stack, word, limit=5, **({"cursor": cursor} if cursor else {}))
        hits += page["items"]
        cursor, pages = page["next_cursor"], pages + 1

    places = [(hit["session_id"], hit["position"]) for hit in hits]
    times = [hit["created_at"] for hit in hits]
    assert (len(places), len(set(places)), pages) == (24, 24, 5)
    assert times == sorted(times, reverse=True)


def test_session_domain_and_archived_narrow_it(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    domain = make_domain(stack)["name"]
    plain, archived, other = (make_session(stack, name) for name in (domain, domain, None))
    for session_id in (plain, archived, other):
        say(stack, session_id, *texts_of(word))
    stack.client.patch(f"/sessions/{archived}", json={"archived": True})

    def sessions(**params: Any) -> set[str]:
        return {hit["session_id"] for hit in search(stack, word, **params)["items"]}

    assert sessions() == {plain, archived, other}
    assert sessions(domain=domain) == {plain, archived}
    assert sessions(archived=False) == {plain, other}
    assert sessions(archived=True, domain=domain) == {archived}
    assert sessions(session_id=other) == {other}
    assert sessions(session_id=other, domain=domain) == set()


def test_each_sees_their_own_and_an_admin_all_when_asked(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    mine, theirs = make_session(stack), make_session(stack)
    owner = f"it's \\ {uuid4().hex}"
    stack.query_and_commit(
        "UPDATE conversations SET owner_id = :owner WHERE id = CAST(:id AS uuid)",
        owner=owner, id=theirs,
    )  # fmt: skip
    for session_id in (mine, theirs):
        say(stack, session_id, *texts_of(word))
    database = Database(stack.database_url)

    def seen(scope: Scope, **where: Any) -> list[str]:
        with database.read() as session:
            wanted = Search(word, **where)
            page = search_messages(session, scope, wanted, cursor=None, limit=50)
        return [str(hit.session_id) for hit in page.items]

    with closing(database):
        eve, chief = Scope(owner), Scope("local", Role.ADMIN)
        assert seen(eve) == [theirs]
        assert seen(Scope("stranger")) == []
        assert seen(chief) == [mine]
        assert set(seen(chief, everyone=True)) == {mine, theirs}
        assert seen(chief, session_id=UUID(theirs)) == [theirs]
        for ask, refusal in (
            (lambda: seen(eve, everyone=True), NotAllowed),
            (lambda: seen(eve, session_id=UUID(mine)), SessionNotFound),
        ):
            with pytest.raises(refusal):
                ask()
    check_problem(stack.client.get("/search", params={"q": word, "session_id": uuid4()}), 404)


def test_what_is_on_another_branch_is_found_and_says_so(stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": f"heard {messages[-1]['content']}"}
    first, second = f"w{uuid4().hex}", f"w{uuid4().hex}"
    session_id = make_session(stack, make_domain(stack, middleware=[])["name"])
    turn_id = stack.chat(first, session_id)["turn_id"]
    edited = stack.client.post(f"/turns/{turn_id}/edit", json={"message": second}).json()
    stack.finished(edited["id"])

    left, shown = search(stack, first)["items"], search(stack, second)["items"]
    stack.client.post(f"/sessions/{session_id}/branch", json={"turn_id": left[0]["turn_id"]})
    again = search(stack, first)["items"]

    assert [hit["is_on_branch"] for hit in left] == [False, False]
    assert [hit["is_on_branch"] for hit in shown] == [True, True]
    assert [hit["is_on_branch"] for hit in again] == [True, True]


def test_a_deleted_session_is_not_found_and_leaves_no_entry(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    said = stack.chat(script({"text": word}))
    count = "SELECT count(*) FROM search_entries WHERE conversation_id = CAST(:id AS uuid)"
    assert search(stack, word)["items"]
    assert stack.query(count, id=said["session_id"])[0][0]

    stack.client.delete(f"/sessions/{said['session_id']}")

    assert search(stack, word)["items"] == []
    assert stack.query(count, id=said["session_id"])[0][0] == 0


def test_a_session_that_goes_on_in_a_new_one_is_found_in_both(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    said = stack.chat(script({"text": word}))

    made = stack.client.post(f"/sessions/{said['session_id']}/continue").json()

    sessions = {hit["session_id"] for hit in search(stack, word)["items"]}
    assert sessions == {said["session_id"], made["id"]}


SIGNS = ("", "   ", "&", "!!! | & <-> ()", "'", "\\", ":*", "''':*", '"', '""', "%_", "\u200b")
ODD = (*SIGNS, "'a' & !b", "a" * 1_000, "((" * 500, "😀", "* " * 400, "é̀" * 3, "²½", "owner:local")


@pytest.mark.parametrize("q", ODD)
def test_odd_queries_get_a_page(stack: Stack, q: str) -> None:
    answer = stack.client.get("/search", params={"q": q})

    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"items", "next_cursor", "is_complete"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": "a" * 1_001},
        {"q": "a" * 30_000},
        {"q": "a b " * 11},
        {"q": "a\x00b"},
        {"q": "a", "cursor": "nonsense"},
        {"q": "a", "cursor": "WyJ4IiwgInkiLCAieiJd"},
        {"q": "a", "limit": 51},
        {"q": "a", "limit": 0},
        {"q": "a", "session_id": "x"},
        {"q": "a", "archived": "maybe"},
        {"q": "a", "scope": "none"},
        {"q": "a", "order": "best"},
    ],
)
def test_what_cannot_be_searched_is_refused_in_words(stack: Stack, params: JSON) -> None:
    check_problem(stack.client.get("/search", params=params), 422)


def test_a_search_that_takes_too_long_is_ended(stack: Stack) -> None:
    say(stack, make_session(stack), *texts_of("slow"))
    database = Database(stack.database_url)

    def find() -> SearchPage:
        with database.read() as session:
            return search_messages(session, Scope("local"), Search("slow"), cursor=None, limit=5)

    with closing(database), closing(Database(stack.database_url)) as other:
        with other.transaction() as session:
            session.execute(text("LOCK TABLE search_entries IN ACCESS EXCLUSIVE MODE"))
            with pytest.raises(SearchTooBroad):
                find()
        assert find().items

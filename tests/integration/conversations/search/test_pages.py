"""A search gives pages of what its reader may see, and refuses what it cannot answer."""

from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from backend.auth.scope import Scope
from backend.conversations.search.service import Search, search_messages
from backend.errors.base import NotAllowed
from backend.errors.conversations import SearchTooBroad, SessionNotFound
from backend.schemas.conversations.search import SearchPage
from backend.schemas.people.rights import Review, Role
from backend.types import JSON
from db.session import Database
from tests.integration.conversations.search.spoken import say, search, texts_of
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack


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


def test_what_was_said_comes_before_the_calls_on_every_page(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    session_id = make_session(stack)
    result = {"tool_call_id": "c", "name": "look", "content": f"{word} as a result"}
    say(stack, session_id, *texts_of(f"What about {word}?"))
    say(stack, session_id, ("assistant", "text", {"text": f"It is {word}."}))
    say(stack, session_id, *[("tool", "tool_result", result)] * 5)

    first = search(stack, word, limit=3)
    second = search(stack, word, limit=3, cursor=first["next_cursor"])
    third = search(stack, word, limit=3, cursor=second["next_cursor"])

    positions = [[hit["position"] for hit in page["items"]] for page in (first, second, third)]
    assert positions == [[2, 1, 7], [6, 5, 4], [3]]
    assert third["next_cursor"] is None


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
        eve, chief = Scope(owner), Scope("local", Role.ADMIN, review=Review.ON, reads_all=True)
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


def test_a_search_and_a_list_take_a_domain_by_name_or_id(stack: Stack) -> None:
    domain, other, word = make_domain(stack), make_domain(stack), f"w{uuid4().hex}"
    session_id = make_session(stack, domain["id"].upper())
    make_session(stack, other["name"])
    say(stack, session_id, *texts_of(word))

    def seen(named: str) -> tuple[list[str], list[str]]:
        listed = stack.client.get("/sessions", params={"domain": named}).json()["items"]
        hits = search(stack, word, domain=named)["items"]
        return [item["id"] for item in listed], [hit["session_id"] for hit in hits]

    for named in (domain["name"], domain["id"], domain["id"].upper()):
        assert seen(named) == ([session_id], [session_id])
    assert session_id not in seen(other["id"])[0]
    assert seen(other["id"])[1] == []
    assert seen(str(uuid4())) == ([], [])


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

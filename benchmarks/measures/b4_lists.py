"""B4: one person's list and search in a large installation, with both walls on.

A million sessions of a thousand people, against the thousand of one. Of the sessions that a person
sees nine in ten are their own; the others are their team's, or shared with them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.auth.reach import reaching
from backend.auth.scope import LOCAL_USER, Scope
from backend.conversations.search.service import Search, search_messages
from backend.conversations.service import SessionFilter, list_sessions
from backend.cursor import encode_cursor
from backend.schemas.conversations.sessions import SessionOrder
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import Ground
from db.models.conversations.conversation import ConversationRow
from db.roles import EVERYTHING, DatabaseRole
from db.session import Database

SESSIONS = 1_000  # of each person and their team
FEW, MANY = 1, 1_000  # people
PAGE = 50
RUNS, WARMING = 60, 5
ASKER = Scope("person-0", teams=frozenset({"team-0"}))
COMMON, RARE = "revenue", "plan7"  # in each message; in one of 500
GROWTH, SEARCH = Target(2, 1.2), Target(20, 20, " ms")
Look = Callable[[Session], Any]

# Every tenth session is of a team, each person's own, so that all see the same number; of each
# person twenty are shared with the one before.
FILL = (
    """INSERT INTO conversations
        (id, owner_id, team, title, domain_name, image_id, image, message_count, updated_at)
    SELECT gen_random_uuid(), 'person-' || person,
        CASE WHEN number % 10 = 0 THEN 'team-' || person END,
        'Report ' || number || ' on margin', 'bench', gen_random_uuid(), '{}', 1,
        timestamptz '2026-01-01' - (number * :people + person) * interval '1 second'
    FROM generate_series(0, :sessions - 1) AS number, generate_series(:first, :last) AS person""",
    """INSERT INTO turns (id, conversation_id, owner_id, agent, message, status, finished_at)
    SELECT gen_random_uuid(), id, owner_id, 'assistant', 'How was it?', 'succeeded', updated_at
    FROM conversations JOIN filled USING (owner_id)""",
    """INSERT INTO display_messages
        (conversation_id, position, message_type, content_type, content, status, created_at)
    SELECT id, 1, 'user', 'text', jsonb_build_object('text', format(
        'How did revenue of plan%s develop by region and month, and why?',
        row_number() OVER (PARTITION BY owner_id ORDER BY updated_at) % 500)),
        'completed', updated_at
    FROM conversations JOIN filled USING (owner_id)""",
    """INSERT INTO grants
        (resource_type, resource_id, principal_type, principal_id, "right", granted_by)
    SELECT 'session', id, 'user', 'person-' || (:people + substr(owner_id, 8)::int - 1) % :people,
        'read', owner_id
    FROM (SELECT *, row_number() OVER (PARTITION BY owner_id ORDER BY updated_at) AS number
        FROM conversations JOIN filled USING (owner_id)) AS one
    WHERE number % 50 = 1""",
)
FILLED = """CREATE TEMPORARY TABLE filled ON COMMIT DROP AS
    SELECT 'person-' || one AS owner_id FROM generate_series(:first, :last) AS one"""
COMPLETE = "INSERT INTO search_index (id, is_complete) VALUES (1, true) ON CONFLICT DO NOTHING"
AT_ONCE = 20  # people


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    urls = {people: ground.new_database() for people in (FEW, MANY)}
    for people, url in urls.items():
        _fill(url, people)
        ground.analyze(url)
    principals = reaching(ASKER)
    with _walled(urls[FEW], principals) as few, _walled(urls[MANY], principals) as many:
        yield from _compare(few, many)
    with _walled(urls[MANY], [EVERYTHING]) as all_of_them:
        yield _everyones(all_of_them)


def _compare(few: Database, many: Database) -> Iterator[Figure]:
    databases = few, many
    looks: dict[str, Sequence[Look]] = {
        "first page of the list": [partial(_list, cursor=None)] * 2,
        "its last page": [partial(_list, cursor=_last_page(one)) for one in databases],
        "sessions by a word of all titles": [partial(_list, q="margin", cursor=None)] * 2,
    }
    for what, of_each in looks.items():
        yield _growth(what, *_times(*zip(databases, of_each, strict=True)))
    for what, word in (("a word of all messages", COMMON), ("a rare word", RARE)):
        times = _times(*((one, partial(_search, word)) for one in databases))
        yield _growth(f"search for {what}", *times)
        in_many = f"search for {what} in {SESSIONS * MANY:,} sessions"
        yield Figure("B4", in_many, str(times[1]), "", times[1].median, SEARCH)


def _growth(what: str, few: Samples, many: Samples) -> Figure:
    return Figure(
        "B4",
        f"{what}: of {SESSIONS * MANY:,} sessions ÷ of {SESSIONS * FEW:,}",
        f"{many} ÷ {few}",
        value=many.median / few.median,
        target=GROWTH,
    )


def _everyones(database: Database) -> Figure:
    """Return how the list of everyone's sessions, which reviewers see, grows with depth."""
    row, depth = ConversationRow, SESSIONS * MANY * 9 // 10
    newest_first = select(row.updated_at, row.id).order_by(row.updated_at.desc(), row.id.desc())
    with database.read() as session:
        place = session.execute(newest_first.offset(depth).limit(1)).one()
    deep = encode_cursor(f"sessions by {SessionOrder.LATEST}", *place)
    look = partial(_list, scope=LOCAL_USER, everyone=True)
    first, last = _times(*((database, partial(look, cursor=one)) for one in (None, deep)))
    what = f"list of everyone's: after {depth:,} sessions ÷ the first page"
    return Figure("B4", what, f"{last} ÷ {first}", "", last.median / first.median, GROWTH)


def _list(
    session: Session, *, cursor: str | None, scope: Scope = ASKER, **wanted: Any
) -> str | None:
    page = list_sessions(session, scope, SessionFilter(**wanted), cursor=cursor, limit=PAGE)
    assert len(page.items) == PAGE
    return page.next_cursor


def _last_page(database: Database) -> str | None:
    """Return where a person's last full page begins."""
    places: list[str | None] = [None]
    with database.read() as session:
        for _ in range(SESSIONS * 9 // 10 // PAGE - 1):
            places.append(_list(session, cursor=places[-1]))
    return places[-1]


def _search(word: str, session: Session) -> None:
    found = search_messages(session, ASKER, Search(word), cursor=None, limit=PAGE)
    assert found.items
    assert found.is_complete


def _times(*looks: tuple[Database, Look]) -> list[Samples]:
    """Return how long each takes in a transaction of its own, as a request of the API has one.

    They take turns, so that what else the machine does slows down all of them.
    """
    times = [Samples() for _ in looks]
    for run in range(WARMING + RUNS):
        for samples, (database, look) in zip(times, looks, strict=True):
            once = partial(_in_transaction, database, look)
            if run < WARMING:
                once()
            else:
                samples.add(once)
    return times


def _in_transaction(database: Database, look: Look) -> None:
    with database.read() as session:
        look(session)


@contextmanager
def _walled(url: str, principals: Sequence[str]) -> Iterator[Database]:
    """Open a database as the API does, for a caller with these principals."""
    role = DatabaseRole.API
    with closing(Database(url, role=role, acting=lambda: principals)) as database:
        assert database.has_own_role()
        yield database


def _fill(url: str, people: int) -> None:
    with closing(Database(url)) as database:
        for first in range(0, people, AT_ONCE):
            last = min(first + AT_ONCE, people) - 1
            of = {"people": people, "sessions": SESSIONS, "first": first, "last": last}
            with database.transaction() as session:
                session.execute(text("SET LOCAL statement_timeout = 0"))
                for statement in (FILLED, *FILL):
                    session.execute(text(statement), of)
        with database.transaction() as session:
            session.execute(text(COMPLETE))

"""B3: opening a session's last 50 messages, against one JSON per chat in the same PostgreSQL.

Measured at the service in this process, and over HTTP with a running API process.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from uuid import UUID

from backend.auth.scope import LOCAL_USER
from backend.conversations.messages import list_messages
from benchmarks.chat_json import chat_json
from benchmarks.colloquy import ROWS_PER_TURN, colloquy, fill, new_session, text_of_content
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import Ground
from benchmarks.texts import TurnText, digest, turn_texts
from tests.stack import Stack

SHORT, LONG = 100, 100_000
PAGE = 50
RUNS = 100
PEER_RUNS = 5
TARGET = Target(1.5, 1.1)

Open = Callable[[], list[str]]


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as cases:
        services = cases.enter_context(colloquy(ground))
        sessions = {rows: new_session(services) for rows in (SHORT, LONG)}
        for rows, session_id in sessions.items():
            fill(services, session_id, rows // ROWS_PER_TURN, in_state=100 - 20)
        ground.analyze(services.settings.database_url)
        stack = Stack(services.settings.database_url, ground.redis_url, ground.home)
        cases.callback(stack.__exit__)
        stack.start_api()

        def from_service(session_id: UUID) -> list[str]:
            with services.database.read() as session:
                page = list_messages(session, LOCAL_USER, session_id, limit=PAGE)
            return [text_of_content(item.content) for item in page.items]

        def over_http(session_id: UUID) -> list[str]:
            page = stack.client.get(f"/sessions/{session_id}/messages", params={"limit": PAGE})
            return [text_of_content(item["content"]) for item in page.json()["items"]]

        chats = {
            rows: cases.enter_context(chat_json(ground, _texts(rows))).open
            for rows in (SHORT, LONG)
        }
        for name, open_page in (("the service", from_service), ("HTTP", over_http)):
            opened = {rows: partial(open_page, key) for rows, key in sessions.items()}
            yield from _compare(f"last {PAGE} by {name}", opened, chats)


def _compare(what: str, ours: Mapping[int, Open], theirs: Mapping[int, Open]) -> Iterator[Figure]:
    for rows in (SHORT, LONG):
        expected = digest([part for said in _texts(rows) for part in said.parts][-PAGE:])
        for opened in (ours[rows], theirs[rows]):
            assert digest(opened()) == expected
    times = {key: Samples() for key in ("short", "long", "chat short", "chat long")}
    for run in range(RUNS):
        times["short"].add(ours[SHORT])
        times["long"].add(ours[LONG])
        times["chat short"].add(theirs[SHORT])
        if run < PEER_RUNS:
            times["chat long"].add(theirs[LONG])
    growth = times["long"].median / times["short"].median
    peer = times["chat long"].median / times["chat short"].median
    yield Figure(
        "B3",
        f"{what}: at {LONG:,} messages ÷ at {SHORT}",
        f"{times['long']} ÷ {times['short']}",
        f"one JSON per chat: {peer:,.0f} ({times['chat long']})",
        growth,
        TARGET,
    )


def _texts(rows: int) -> list[TurnText]:
    return list(turn_texts(rows // ROWS_PER_TURN))

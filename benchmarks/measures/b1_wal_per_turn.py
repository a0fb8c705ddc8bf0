"""B1: bytes of write-ahead log per turn ÷ bytes of text, at any length, against LangGraph's saver.

Everything a turn stores is counted: both views, the turn, its leases, indexes, commits. Each window
begins after a checkpoint and a few turns that cause the first full-page images.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from uuid import UUID, uuid4

from backend.conversations.state.store import load_state
from backend.turns.process.services import Services
from benchmarks.colloquy import (
    ROWS_PER_TURN,
    colloquy,
    fill,
    keep_document,
    new_session,
    play_turn,
    read_texts,
    text_of_content,
)
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.peers import langgraph_saver as peer
from benchmarks.texts import MESSAGES_PER_TURN, TurnText, digest, turn_texts

MARKS = (10, 2_000, 20_000)
LONG_MARKS = (100_000,)
PEER_MARK = 2_000
WARM_TURNS = 80  # including a fold
WINDOW_TURNS = 225  # the policy drops a hundred messages nine times, and there are three folds
PEER_WINDOW_TURNS = 10
DELTA_WINDOW_TURNS = 50  # two of its snapshots
SHORT_SESSIONS = 60
ARTIFACTS = 10  # of the session that saves its tool results

Play = Callable[[TurnText], None]


@dataclass(frozen=True)
class Written:
    """The bytes that a window of turns wrote."""

    wal: int
    text: int
    turns: int

    @property
    def ratio(self) -> float:
        """Bytes of log per byte of text."""
        return self.wal / self.text

    def __str__(self) -> str:
        return f"{number(self.ratio)} ({self.wal / self.turns / 1000:,.1f} KB a turn)"


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    ours: dict[int, Written] = {}
    for mark in (*MARKS, *(LONG_MARKS if is_long else ())):
        ours[mark] = _ours(ground, mark)
        what = f"WAL ÷ text of a turn at {mark:,} messages"
        yield Figure("B1", what, str(ours[mark]), value=ours[mark].ratio, target=Target(4, 2))
    lengths = f"{MARKS[1]:,} to {max(ours):,} messages"
    growth = ours[max(ours)].ratio / ours[MARKS[1]].ratio
    yield Figure("B1", f"growth from {lengths}", "", value=growth, target=Target(1.2, 1.05))
    kept = _with_artifacts(ground, PEER_MARK)
    what = f"the same with an artifact version in each turn, at {PEER_MARK:,} messages"
    yield Figure("B1", what, str(kept), value=kept.ratio, target=Target(4, 2))
    at_mark = ours[PEER_MARK].ratio
    for name, schema, window, goal in (
        ("PostgresSaver", peer.WholeState, PEER_WINDOW_TURNS, 1_000),
        ("PostgresSaver, delta channel", peer.DeltaState, DELTA_WINDOW_TURNS, 10),
    ):
        theirs = _peer(ground, schema, window)
        yield Figure(
            "B1",
            f"{name} ÷ Colloquy at {PEER_MARK:,} messages",
            str(ours[PEER_MARK]),
            str(theirs),
            theirs.ratio / at_mark,
            Target(goal / 2, goal, "x", at_least=True),
        )


def _ours(ground: Ground, mark: int) -> Written:
    with colloquy(ground) as services:
        if mark < WINDOW_TURNS:
            return _short_sessions(ground, services)
        turns = mark // MESSAGES_PER_TURN
        texts = list(turn_texts(turns + WARM_TURNS + WINDOW_TURNS))
        session_id = new_session(services)
        fill(services, session_id, turns, in_state=100)
        ground.analyze(services.settings.database_url)

        def play(said: TurnText) -> None:
            play_turn(services, session_id, said)

        written = _window(ground, play, texts[turns:])
        _check(services, session_id, texts)
        return written


def _with_artifacts(ground: Ground, mark: int) -> Written:
    """Save each turn's tool result as the next version of one of a few documents."""
    turns = mark // MESSAGES_PER_TURN
    texts = list(turn_texts(turns + WARM_TURNS + WINDOW_TURNS))
    documents = [uuid4() for _ in range(ARTIFACTS)]
    with colloquy(ground) as services:
        session_id = new_session(services)
        fill(services, session_id, turns, in_state=100)
        ground.analyze(services.settings.database_url)
        queue = cycle(documents)

        def play(said: TurnText) -> None:
            keep_document(services, session_id, said.result, next(queue), str(uuid4()))
            play_turn(services, session_id, said)

        written = _window(ground, play, texts[turns:])
        _check(services, session_id, texts)
    kept = sum(len(said.result) for said in texts[-WINDOW_TURNS:])
    return replace(written, text=written.text + kept)


def _short_sessions(ground: Ground, services: Services) -> Written:
    """Measure the third turn of many sessions; their second turns cause the full-page images."""
    sessions = [new_session(services) for _ in range(SHORT_SESSIONS)]
    first, *later = turn_texts(3)
    for session_id in sessions:
        play_turn(services, session_id, first)
    ground.analyze(services.settings.database_url)
    plan = [(session_id, said) for said in later for session_id in sessions]
    queue = iter(plan)

    def play(said: TurnText) -> None:
        session_id, _ = next(queue)
        play_turn(services, session_id, said)

    written = _window(ground, play, [said for _, said in plan], warm=SHORT_SESSIONS)
    _check(services, sessions[-1], [first, *later])
    return written


def _peer(ground: Ground, schema: type, window: int) -> Written:
    turns = PEER_MARK // MESSAGES_PER_TURN
    texts = list(turn_texts(turns + 2 + window))
    with peer.saved_graph(ground, schema) as graph:
        graph.fill(texts[:turns])
        written = _window(ground, graph.play_turn, texts[turns:], warm=2)
        assert digest(peer.texts_of(graph.read())) == digest(_parts(texts))
    return written


def _window(
    ground: Ground, play: Play, texts: list[TurnText], *, warm: int = WARM_TURNS
) -> Written:
    ground.checkpoint()
    for said in texts[:warm]:
        play(said)
    before = ground.wal_position()
    for said in texts[warm:]:
        play(said)
    wal = ground.wal_position() - before
    return Written(wal, sum(said.size for said in texts[warm:]), len(texts) - warm)


def _check(services: Services, session_id: UUID, texts: list[TurnText]) -> None:
    """Check that people see everything, and that the model reads the end of it."""
    seen = read_texts(services, session_id)
    assert len(seen) == len(texts) * ROWS_PER_TURN
    assert digest(seen) == digest(_parts(texts))
    with services.database.read() as session:
        state = load_state(session, session_id).state
    last = [text_of_content({"content": m["content"]}) for m in state["messages"][-3:]]
    assert last == [texts[-1].remark, texts[-1].result, texts[-1].answer]


def _parts(texts: Iterable[TurnText]) -> Iterator[str]:
    return (part for said in texts for part in said.parts)

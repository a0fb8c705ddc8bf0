"""B2: restoring a conversation for its next turn, against LangGraph's saver.

The measured time is what a turn needs before its model can be called: reading the stored state and
converting it to LangChain's messages. With the bundled domain's policy the state is short while
people see everything; with `middleware: []` the model reads everything, and all of it is restored.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from uuid import UUID, uuid4

from backend.artifacts.messages import of_messages
from backend.conversations.state.store import load_state
from backend.turns.process.services import Services
from benchmarks.colloquy import KEEP, TRIGGER, colloquy, fill, keep_document, new_session
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import DatabaseClock, Ground
from benchmarks.peers import langgraph_saver as peer
from benchmarks.texts import MESSAGES_PER_TURN, TurnText, digest, turn_texts
from colloquy_kit.messages.state import load_values

MARKS = (2_000, 20_000)
BLOCK = 5  # short restores per long one
RUNS = {2_000: 30, 20_000: 10}
GOALS = {2_000: 20.0, 20_000: 200.0}
BOUNDED = (
    (TRIGGER + KEEP) // 2 // MESSAGES_PER_TURN * MESSAGES_PER_TURN
)  # halfway between two cuts, and folds
SHOWN = 20  # messages, the default for a team's agents
ARTIFACTS = (20, 1_000)
DELTA_TAIL_TURNS = 25  # halfway between two of its snapshots

Restore = Callable[[], object]


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    in_database: dict[int, float] = {}
    for mark in MARKS:
        ours, whole, theirs, delta = _run(ground, mark)
        in_database[mark] = ours[0].median
        for name, parts, target in (
            ("summarization", ours, Target(5, GOALS[mark], "x", at_least=True)),
            ("middleware: [], all restored", whole, None),
        ):
            what = f"PostgresSaver ÷ Colloquy ({name}) at {mark:,} messages"
            ratio = theirs.median / parts[1].median
            yield Figure("B2", what, str(parts[1]), str(theirs), ratio, target)
        what = f"delta channel ÷ Colloquy (summarization) at {mark:,} messages"
        yield Figure("B2", what, str(ours[1]), str(delta), delta.median / ours[1].median)
        what = f"of which in the database at {mark:,} messages, ms"
        yield Figure("B2", what, str(ours[0]), "", ours[0].median, Target(5, 2, " ms"))
        what = f"the same with middleware: [] at {mark:,} messages"
        yield Figure("B2", what, str(whole[0]))
    few, many = (_artifacts(ground, count) for count in ARTIFACTS)
    what = f"artifacts of the {SHOWN} newest messages, of {ARTIFACTS[1]:,} in the session"
    yield Figure("B2", what, str(many), "", many.median, Target(10, 5, " ms"))
    what = f"growth of that from {ARTIFACTS[0]:,} to {ARTIFACTS[1]:,} artifacts"
    yield Figure("B2", what, "", "", many.median / few.median, Target(1.5, 1.1))
    growth = in_database[MARKS[1]] / in_database[MARKS[0]]
    what = f"growth in the database from {MARKS[0]:,} to {MARKS[1]:,} messages"
    yield Figure("B2", what, "", "", growth, Target(1.5, 1.1))


def _run(
    ground: Ground, mark: int
) -> tuple[tuple[Samples, Samples], tuple[Samples, Samples], Samples, Samples]:
    texts = list(turn_texts(mark // MESSAGES_PER_TURN))
    with ExitStack() as cases:
        bounded = _Colloquy(ground, cases, texts, BOUNDED, as_deltas=BOUNDED)
        whole = _Colloquy(ground, cases, texts, mark, as_deltas=mark // 3)
        graphs = [_graph(ground, cases, texts, s) for s in (peer.WholeState, peer.DeltaState)]
        theirs, delta = Samples(), Samples()
        for _ in range(RUNS[mark]):
            gc.collect()  # one run's garbage must not be charged to the next
            for _ in range(BLOCK):
                bounded.restore()
            whole.restore()
            theirs.add(graphs[0].read)
            delta.add(graphs[1].read)
    return bounded.samples, whole.samples, theirs, delta


def _artifacts(ground: Ground, count: int) -> Samples:
    """Measure reading the artifacts that are appended to a team agent's messages."""
    samples = Samples()
    with colloquy(ground) as services:
        session_id = new_session(services)
        messages = [str(uuid4()) for _ in range(count)]
        texts = [said.result for said in turn_texts(count)]
        for message_id, text in zip(messages, texts, strict=True):
            keep_document(services, session_id, text, uuid4(), message_id)
        ground.analyze(services.settings.database_url)
        newest = messages[-SHOWN:]
        for _ in range(RUNS[MARKS[0]]):
            with services.database.read() as session:
                found = samples.add(lambda: of_messages(session, session_id, newest))
        assert [found[one][0]["content"] for one in newest] == texts[-SHOWN:]
    return samples


class _Colloquy:
    """One of our conversations; `samples` are the times in the database and in total."""

    def __init__(
        self,
        ground: Ground,
        cases: ExitStack,
        texts: Sequence[TurnText],
        in_state: int,
        as_deltas: int,
    ) -> None:
        self._services: Services = cases.enter_context(colloquy(ground))
        self._session_id: UUID = new_session(self._services)
        fill(
            self._services,
            self._session_id,
            len(texts),
            in_state=in_state,
            as_deltas=as_deltas // MESSAGES_PER_TURN,
        )
        ground.analyze(self._services.settings.database_url)
        self._clock = DatabaseClock(self._services.database.engine)
        self.samples = (Samples(), Samples())
        self._check(texts[-(in_state // MESSAGES_PER_TURN) :])

    def restore(self) -> list[object]:
        """Restore once, and record the time in the database and in total."""
        before = self._clock.seconds
        started = time.perf_counter()
        with self._services.database.read() as session:
            stored = load_state(session, self._session_id)
        values = load_values(stored.state)
        ended = time.perf_counter()
        self.samples[0].seconds.append(self._clock.seconds - before)
        self.samples[1].seconds.append(ended - started)
        messages: list[object] = values["messages"]
        return messages

    def _check(self, texts: Sequence[TurnText]) -> None:
        restored: list[object] = self.restore()
        said = peer.texts_of(restored)  # type: ignore[arg-type]  # both are LangChain's messages
        assert digest(said) == digest(part for turn in texts for part in turn.parts)
        for samples in self.samples:
            samples.seconds.clear()


def _graph(
    ground: Ground, cases: ExitStack, texts: Sequence[TurnText], schema: type
) -> peer.SavedGraph:
    graph: peer.SavedGraph = cases.enter_context(peer.saved_graph(ground, schema))
    graph.fill(texts[:-DELTA_TAIL_TURNS] if schema is peer.DeltaState else texts)
    if schema is peer.DeltaState:
        for said in texts[-DELTA_TAIL_TURNS:]:
            graph.play_turn(said)
    restored = peer.texts_of(graph.read())
    assert digest(restored) == digest(part for turn in texts for part in turn.parts)
    return graph

"""A stack for replays, and the recordings played on it: as they are, and with lost workers."""

from collections.abc import Iterator

import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.replay.player import Replay, play
from tests.replay.recordings import corpus_folder, read_corpus
from tests.replay.ways import Way
from tests.stack import Servers, Stack


@pytest.fixture(scope="package")
def replay_model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture(scope="package")
def replay_stack(
    servers: Servers, replay_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with make_stack(servers, replay_model, tmp_path_factory.mktemp("replay")) as running:
        yield running


@pytest.fixture(scope="package")
def replay(
    request: pytest.FixtureRequest, replay_stack: Stack, replay_model: ScriptedModel
) -> Iterator[Replay]:
    """The recordings of a way, played in it; `request.param` is a Way."""
    way: Way = request.param

    def lose_worker() -> None:
        replay_stack.kill_workers()
        replay_stack.start_worker()

    def leave_alone() -> None:
        pass

    between_turns = lose_worker if way.loses_workers else leave_alone
    with play(replay_stack, replay_model, way.recordings, between_turns) as played:
        yield played


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not read_corpus():
        terminalreporter.write_line(
            f"No recorded conversations in {corpus_folder()}: their replay was skipped."
        )

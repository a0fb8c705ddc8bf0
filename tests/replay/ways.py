"""The ways in which recordings are played: all of them where it matters most, elsewhere a few."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.replay.recordings import Recording, corpus_folder, read_corpus
from tests.replay.synthetic import SYNTHETIC

FEW = 5
ABSENT = pytest.mark.skip(reason=f"no recorded conversations in {corpus_folder()}")
NO_CORPUS = Recording("corpus", [])


@dataclass(frozen=True)
class Way:
    """Whether each turn finds a new worker, and what is played."""

    name: str
    recordings: Sequence[Recording]
    loses_workers: bool = False
    is_long: bool = False


def longest(most: int | None = None) -> list[Recording]:
    """The made-up recordings, and the longest of the corpus, or all of it."""
    corpus = sorted(read_corpus(), key=lambda one: -len(one.messages))
    return [*SYNTHETIC, *corpus[:most]]


# With a new worker for each turn, nothing but what is stored can make the requests what they are.
WAYS = (
    Way("a new worker for each turn", longest(FEW), loses_workers=True),
    Way("one worker", longest(FEW)),
    Way("a new worker for each turn, all recordings", longest(), loses_workers=True, is_long=True),
    Way("one worker, all recordings", longest(), is_long=True),
)


def cases(ways: Sequence[Way]) -> list:
    """Each recording in each way, as pytest's parameters; long ways are for `make chaos`."""
    return [
        pytest.param(
            way, recording, id=f"{way.name}-{recording.name}", marks=_marks(way, recording)
        )
        for way in ways
        for recording in [*way.recordings, *([] if read_corpus() else [NO_CORPUS])]
    ]


def _marks(way: Way, recording: Recording) -> list[pytest.MarkDecorator]:
    return [pytest.mark.chaos] * way.is_long + [ABSENT] * (recording is NO_CORPUS)

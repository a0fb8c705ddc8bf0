"""What a worker counts of its own work: few series, whatever models and tools are called."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest

from backend.api.metrics import Dropped
from backend.telemetry.calls import CallResult, ToolKind, tool_call
from backend.telemetry.figures import MOST_NAMES, OTHER, Names, WorkFigures


@pytest.fixture
def work() -> WorkFigures:
    return WorkFigures()


def counted(work: WorkFigures, name: str) -> dict[tuple[str, ...], float]:
    """How often something was counted, by the values of its labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in work.registry.collect()
        for sample in family.samples
        if sample.name == f"colloquy_{name}_seconds_count" and sample.value
    }


def test_names_that_others_choose_are_told_apart_up_to_a_number():
    names = Names(2)

    told = [names.bounded(name) for name in ("a", "b", "c", "a", "d")]

    assert told == ["a", "b", OTHER, "a", OTHER]


def test_a_thousand_models_and_tools_are_few_series(work):
    for number in range(1_000):
        work.model_called(f"model {number}", CallResult.OK, 1.0)
        work.tool_called(f"mcp:{number}", CallResult.OK, 1.0)

    for name in ("model_call", "tool_call"):
        series = counted(work, name)
        assert len(series) == MOST_NAMES + 1
        assert sum(series.values()) == 1_000
        assert series[OTHER, "ok"] == 1_000 - MOST_NAMES


def test_a_call_is_counted_by_how_it_ended(work):
    with tool_call(ToolKind("look"), "1", work):
        pass
    with tool_call(ToolKind("look"), "1", work) as call:
        call.result = CallResult.TIMED_OUT
    with pytest.raises(asyncio.CancelledError), tool_call(ToolKind("look"), "1", work):
        raise asyncio.CancelledError
    with pytest.raises(ValueError, match="odd"), tool_call(ToolKind("look"), "1", work):
        raise ValueError("odd")

    results = ("ok", "timed_out", "stopped", "failed")
    assert counted(work, "tool_call") == {("look", result): 1 for result in results}


def test_what_workers_could_not_send_adds_up_though_they_come_and_go():
    def worker(name: str, dropped: int) -> Any:
        return SimpleNamespace(name=name, events_dropped=dropped)

    dropped = Dropped()
    scrapes: list[list[Any]] = [
        [worker("a", 70), worker("b", 0)],  # of before
        [worker("a", 75), worker("b", 0)],
        [worker("b", 2)],
        [],  # Redis was emptied
        [worker("b", 2), worker("c", 1)],
    ]

    assert [dropped.add(scrape) for scrape in scrapes] == [0, 5, 7, 7, 8]


def test_nothing_names_the_process_that_counts(work):
    work.turn_ended("succeeded", 3.0)
    work.first_token(0.2)
    work.model_called("scripted", CallResult.OK, 1.0)
    work.tool_called("look", CallResult.OK, 1.0)

    labels = {
        label for family in work.registry.collect() for s in family.samples for label in s.labels
    }

    assert labels == {"status", "model", "tool", "result", "le"}
    assert b'colloquy_turn_seconds_bucket{le="5.0",status="succeeded"} 1.0' in generate_latest(
        work.registry
    )

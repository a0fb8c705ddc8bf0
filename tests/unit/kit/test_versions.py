"""Stored states of every version can be read, and what is no state is called corrupt."""

import orjson
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from backend.types import JSON
from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.state import (
    STATE_VERSION,
    UPGRADES,
    check_state,
    dump_message,
    empty_state,
    load_values,
    upgrade,
)
from tests.processes import ROOT

SAMPLES = ROOT / "tests" / "samples"


def sample(version: int) -> JSON:
    """A state as the software stored it when this was the newest version."""
    state: JSON = orjson.loads((SAMPLES / f"state_v{version}.json").read_bytes())
    return state


@pytest.mark.parametrize("version", range(1, STATE_VERSION + 1))
def test_a_stored_state_of_each_version_is_read_in_the_newest(version: int) -> None:
    state = sample(version)

    current = check_state(state)
    values = load_values(state)

    assert state["version"] == version
    assert current["version"] == STATE_VERSION
    kinds = [type(message) for message in values["messages"]]
    assert kinds == [HumanMessage, AIMessage, ToolMessage, ToolMessage, AIMessage, HumanMessage]
    assert values["messages"][1].tool_calls[0]["args"] == {"cost_centre": "CC-1001"}
    assert values["messages"][3].status == "error"
    assert [dump_message(message) for message in values["messages"]] == current["messages"]
    assert values["todos"] == [{"content": "Compare the ledgers", "status": "in_progress"}]


def test_each_version_before_the_newest_has_its_step() -> None:
    assert sorted(UPGRADES) == list(range(1, STATE_VERSION))


def test_steps_are_taken_one_after_the_other() -> None:
    steps = {
        1: lambda state: {**state, "metadata": {"seen": [1]}},
        2: lambda state: {**state, "metadata": {"seen": [*state["metadata"]["seen"], 2]}},
    }

    newest = upgrade({"version": 1, "messages": []}, steps, wanted=3)

    assert newest == {"version": 3, "messages": [], "metadata": {"seen": [1, 2]}}


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"version": 1},
        {"version": 99, "messages": []},
        {"version": "1", "messages": []},
        {"version": 1, "messages": {}},
        {"version": 1, "messages": ["hello"]},
        {"version": 1, "messages": [{"role": "king", "content": "hello"}]},
        {"version": 1, "messages": [{"role": "user", "content": 7}]},
        {"version": 1, "messages": [{"role": "tool", "content": "no call"}]},
        {"version": 1, "messages": [{"role": "assistant", "content": "", "tool_calls": [{}]}]},
    ],
)
def test_what_is_no_state_is_called_corrupt(state: JSON) -> None:
    with pytest.raises(CorruptState):
        check_state(state)


def test_an_empty_state_is_readable() -> None:
    assert check_state(empty_state()) == empty_state()

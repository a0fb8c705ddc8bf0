"""What a policy keeps is stored as it says, and values of an older shape stop no turn."""

from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState

from backend.types import JSON
from colloquy_kit.runtime.growing import Codec
from tests.fakes import ScriptedModel
from tests.integration.agents.policies.states import later, results, said
from tests.runs import asking, final_state, run


def test_a_policy_goes_on_with_values_of_an_older_shape_and_without_any() -> None:
    odd = {"todos": "buy milk", "files": ["a"], "thread_model_call_count": "3",
           "thread_tool_call_count": 7, "removed_policy": {"kept": True}}  # fmt: skip
    policies = ["todos", "filesystem", {"model_call_limit": {"session": 9}},
                {"tool_call_limit": {"session": 9}}]  # fmt: skip
    script = [{"tools": [{"name": "list_files", "args": {}}]}, {"text": "done"}]
    for before in (odd, {}):
        with ScriptedModel(script) as model:
            events = run(model.url, {**asking("go"), **before}, middleware=policies)

        state = final_state(events)
        assert said(state) == "done"
        assert results(state)[0]["content"] == "There are no files."
        assert state["thread_model_call_count"] == 2
        if before:
            assert (state["todos"], state["removed_policy"]) == ("buy milk", {"kept": True})


class Visited(AgentState[Any]):
    visited: Annotated[set[str], Codec(sorted, set)]


class Travels(AgentMiddleware[Any, Any]):
    """Keeps a set, which JSON does not know."""

    state_schema = Visited

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    async def abefore_agent(self, state: Any, runtime: Any) -> JSON:
        self.found.append(state.get("visited"))
        return {"visited": {*(state.get("visited") or ()), f"turn {len(self.found)}"}}


def test_a_policy_says_how_its_values_are_stored(named: Any) -> None:
    travels = Travels()
    named(travels=travels)
    with ScriptedModel([{"text": "done"}]) as model:
        first = final_state(run(model.url, asking("go"), middleware=["travels"]))
        second = final_state(run(model.url, later(first, "on"), middleware=["travels"]))
        odd = {**later(second, "on"), "visited": 7}
        third = final_state(run(model.url, odd, middleware=["travels"]))

    assert travels.found == [None, {"turn 1"}, None]
    assert (first["visited"], second["visited"]) == (["turn 1"], ["turn 1", "turn 2"])
    assert third["visited"] == ["turn 3"]

"""A stored state goes on exactly where the turn was left, whatever the middleware."""

import asyncio
import itertools
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    TodoListMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.steps.progress import Progress
from backend.llm.provider import ModelProvider
from backend.tools.journal import NoJournal
from colloquy_kit.messages.state import dump_message, empty_state
from colloquy_kit.runtime.growing import each_update
from colloquy_kit.runtime.restore import last_node_of_model_step, new_checkpointer, restore
from tests.fakes import ScriptedModel
from tests.runs import TURN_ID, settings_for

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "turn"}}
CALLS = [{"name": "add", "args": {"n": n}, "id": f"c{n}"} for n in (1, 2, 3)]
OLD = [HumanMessage("old", id="1"), AIMessage("old answer", id="2")]
ASKED = [*OLD, HumanMessage("go", id="3")]
CALLED = [*ASKED, AIMessage("", id="4", tool_calls=CALLS)]


def done(*numbers):
    return [ToolMessage("x", tool_call_id=f"c{n}", name="add", id=f"t{n}") for n in numbers]


STATES = {
    "a person's message last": (ASKED, [1, 2, 3], 2, 1),
    "a first message": ([HumanMessage("go", id="3")], [1, 2, 3], 2, 1),
    "no result yet": (CALLED, [1, 2, 3], 1, 0),
    "one of three": ([*CALLED, *done(2)], [1, 3], 1, 0),
    "two of three": ([*CALLED, *done(3, 1)], [2], 1, 0),
    "all three": ([*CALLED, *done(1, 2, 3)], [], 1, 0),
    "ids used before": (
        [HumanMessage("o", id="0"), AIMessage("", id="9", tool_calls=CALLS[:1]), *done(1), *CALLED],
        [1, 2, 3],
        1,
        0,
    ),
}


class PrivateState(AgentState):
    secret_count: int


class Private(AgentMiddleware):
    """Keeps a key of its own and counts the hooks that ran."""

    state_schema = PrivateState

    def __init__(self):
        super().__init__()
        self.began = 0

    def before_agent(self, state, runtime):
        self.began += 1

    def before_model(self, state, runtime):
        return {"secret_count": state.get("secret_count", 0) + 1}

    def after_model(self, state, runtime):
        return None

    def after_agent(self, state, runtime):
        return {"secret_count": state["secret_count"] + 100}


MIDDLEWARE = {
    "none": list,
    "todos": lambda: [TodoListMiddleware()],
    "todos and approvals": lambda: [
        TodoListMiddleware(),
        HumanInTheLoopMiddleware({"mail": True}),
    ],
    "all hooks": lambda: [
        HumanInTheLoopMiddleware({"mail": True}),
        TodoListMiddleware(),
        ModelCallLimitMiddleware(thread_limit=99),
        Private(),
    ],
}


@pytest.mark.parametrize(
    ("policies", "left"), itertools.product(MIDDLEWARE, STATES), ids=" / ".join
)
def test_only_what_is_missing_runs(policies, left):
    messages, expected_tools, expected_requests, begins = STATES[left]
    ran = []

    @tool
    async def add(n: int) -> str:
        """Add."""
        ran.append(n)
        return "x"

    middleware = [ToolGuard(NoJournal(), TURN_ID, 60), *MIDDLEWARE[policies]()]
    todos = [{"content": "x", "status": "pending"}]
    stored = {**empty_state(), "messages": [dump_message(m) for m in messages], "todos": todos}
    stored = json.loads(json.dumps({**stored, "secret_count": 7, "foreign": {"kept": True}}))

    async def go(url):
        models = ModelProvider(settings_for(url))
        graph = create_agent(
            models.chat_model(), [add], middleware=middleware, checkpointer=new_checkpointer()
        )
        progress = Progress(stored)
        end = last_node_of_model_step(middleware)
        start = await restore(graph, CONFIG, progress.values, end)
        saved = []
        async for update in graph.astream(start, CONFIG, stream_mode="updates"):
            for node, values in each_update(update):
                if node == "tools":
                    progress.take_results(values)
                    saved.append(progress.finish_batch())
                else:
                    progress.take_update(values)
                    saved.append(progress.finish_model_step() if node == end else None)
        saved.append(progress.finish_rest())
        await models.aclose()
        return [step for step in saved if step], await graph.aget_state(CONFIG)

    script = [{"tools": [{"name": "add", "args": c["args"], "id": c["id"]} for c in CALLS]}]
    with ScriptedModel([*script, {"text": "finished"}]) as model:
        saved, final = asyncio.run(go(model.url))

    state = saved[-1].state
    assert sorted(ran) == expected_tools
    assert len(model.requests) == expected_requests
    assert state["messages"][-1]["content"] == "finished"
    assert [m["id"] for m in state["messages"]] == [m.id for m in final.values["messages"]]
    assert state["todos"] == todos
    assert state["foreign"] == {"kept": True}
    if policies == "all hooks":
        assert middleware[-1].began == begins
        assert state["secret_count"] == 107 + expected_requests
        assert state["run_model_call_count"] == expected_requests
    elif "todos" in policies:
        assert final.values["todos"] == todos

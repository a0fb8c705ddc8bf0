"""Loading a stored state into a new agent, which then continues exactly where the turn was."""

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

MODEL_NODE = "model"
TOOLS_NODE = "tools"


class ByReference:
    """Keeps a checkpoint's values by reference: it lives for one turn, in this process only.

    Converting them to bytes and back would cost 15 µs per message of the conversation.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        """Return the object itself where others return bytes."""
        return "object", obj

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        """Return the object that was kept."""
        return data[1]


def new_checkpointer() -> InMemorySaver:
    """Return the empty checkpointer of one turn, to be seeded by `restore`."""
    return InMemorySaver(serde=ByReference())


def last_node_of_model_step(middleware: Sequence[AgentMiddleware[Any, Any]]) -> str:
    """Return the node that completes a model message: the outermost after_model, if any."""
    for policy in middleware:
        if _overrides(policy, "after_model"):
            return f"{policy.name}.after_model"
    return MODEL_NODE


async def restore(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    config: RunnableConfig,
    values: dict[str, Any],
    model_step_end: str,
) -> dict[str, Any] | None:
    """Seed the graph's empty checkpointer and return the input with which it continues.

    With calls without a result, only these run. With results last, the model is asked. With a
    person's message last, the turn begins, with all hooks of the middleware. Keys that no part of
    the agent knows are left out. (LangGraph drops `todos` and private keys given as input, and asks
    the model directly when given pending calls; hence the update in the name of a node.)
    """
    messages = values["messages"]
    known = {key: value for key, value in values.items() if key in graph.channels}
    if isinstance(messages[-1], HumanMessage):
        if len(messages) > 1 or len(known) > 1:
            earlier = {**known, "messages": messages[:-1]}
            await graph.aupdate_state(config, earlier, as_node=TOOLS_NODE)
        return {"messages": [messages[-1]]}
    node = model_step_end if _has_pending_calls(messages) else TOOLS_NODE
    await graph.aupdate_state(config, known, as_node=node)
    return None


def _has_pending_calls(messages: Sequence[BaseMessage]) -> bool:
    answered = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
            continue
        return isinstance(message, AIMessage) and any(
            call["id"] not in answered for call in message.tool_calls
        )
    return False


def _overrides(policy: AgentMiddleware[Any, Any], hook: str) -> bool:
    names = (hook, f"a{hook}")
    return any(getattr(type(policy), n) is not getattr(AgentMiddleware, n) for n in names)

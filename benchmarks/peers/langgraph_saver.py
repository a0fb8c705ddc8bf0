"""The LangGraph peer: the same turns in a graph with PostgresSaver, with and without deltas."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import psycopg
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from psycopg.rows import dict_row

from benchmarks.colloquy import agent_messages
from benchmarks.ground import Ground, plain_url
from benchmarks.texts import TurnText
from colloquy_kit.messages.state import load_messages

CONFIG: Any = {"configurable": {"thread_id": "thread"}}


class WholeState(TypedDict):
    """LangGraph's default: each checkpoint holds all messages."""

    messages: Annotated[list[AnyMessage], add_messages]


class DeltaState(TypedDict):
    """LangGraph's delta channel: writes are stored, with a snapshot every hundred."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


class SavedGraph:
    """A graph of a scripted model and tool, with stored checkpoints."""

    def __init__(self, connection: Any, schema: type) -> None:
        saver = PostgresSaver(connection)
        saver.setup()
        self._coming: list[AnyMessage] = []
        graph: Any = StateGraph(schema)
        graph.add_node("model", self._next)
        graph.add_node("tools", self._next)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", _after_model, ["tools", END])
        graph.add_edge("tools", "model")
        self._graph = graph.compile(checkpointer=saver)

    def play_turn(self, said: TurnText) -> None:
        """Run one turn, each step saved before the next begins."""
        self._coming = _agent_messages(said)
        question = HumanMessage(said.question, id=str(uuid4()))
        self._graph.invoke({"messages": [question]}, CONFIG, durability="sync")

    def fill(self, turns: Sequence[TurnText]) -> None:
        """Store turns in one step: the messages are the same, the checkpoints fewer."""
        messages: list[AnyMessage] = []
        for said in turns:
            messages += [HumanMessage(said.question, id=str(uuid4())), *_agent_messages(said)]
        self._graph.update_state(CONFIG, {"messages": messages}, as_node="model")

    def read(self) -> list[AnyMessage]:
        """Return the messages as a turn restores them."""
        messages: list[AnyMessage] = self._graph.get_state(CONFIG).values["messages"]
        return messages

    def _next(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [self._coming.pop(0)]}


@contextmanager
def saved_graph(ground: Ground, schema: type) -> Iterator[SavedGraph]:
    """Open the graph over a new database, connected as its documentation says."""
    with psycopg.connect(
        plain_url(ground.new_database()),
        autocommit=True,
        prepare_threshold=0,
        row_factory=dict_row,
    ) as connection:
        yield SavedGraph(connection, schema)


def texts_of(messages: Sequence[AnyMessage]) -> list[str]:
    """Return all texts of the messages, in order."""
    parts: list[str] = []
    for message in messages:
        parts.append(str(message.content))
        parts += [call["args"]["query"] for call in getattr(message, "tool_calls", ())]
    return parts


def _agent_messages(said: TurnText) -> list[AnyMessage]:
    messages: list[Any] = load_messages(agent_messages(said))
    return messages


def _after_model(state: dict[str, Any]) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


__all__ = ["DeltaState", "SavedGraph", "ToolMessage", "WholeState", "saved_graph", "texts_of"]

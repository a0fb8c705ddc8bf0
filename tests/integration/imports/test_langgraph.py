"""Threads of LangGraph's PostgresSaver, written by its own library and read into conversations."""

import operator
import pickle
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from backend.imports.errors import ImportRefused
from backend.imports.formats import langgraph
from backend.imports.langgraph_dump import dump
from backend.imports.model import ImportedConversation, Skipped
from backend.imports.upload import Upload
from tests.stack import Servers
from tests.unit.imports.uploads import branch, read_all

pytest.importorskip("langgraph.checkpoint.postgres")

import psycopg
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import interrupt


@pytest.fixture(scope="module")
def url(servers: Servers) -> str:
    return servers.new_database().replace("+psycopg2", "")


@pytest.fixture
def saver(url: str) -> Iterator[PostgresSaver]:
    with PostgresSaver.from_conn_string(url) as opened:
        opened.setup()
        yield opened
    with psycopg.connect(url) as connection:
        connection.execute("TRUNCATE checkpoints, checkpoint_blobs, checkpoint_writes")


def answer(state: MessagesState) -> Any:
    """Echo what was asked; "call" calls a tool, "summarise" replaces all before it."""
    asked, number = state["messages"][-1].content, len(state["messages"])
    if asked == "call":
        call = {"id": "c1", "name": "tide", "args": {"port": "A"}}
        return {
            "messages": [
                AIMessage("Looking.", id="call", tool_calls=[call]),
                ToolMessage("low", tool_call_id="c1", name="tide", id="low"),
                AIMessage("It is low.", id="said", response_metadata={"model_name": "m-1"}),
            ]
        }
    if asked == "summarise":
        summary = HumanMessage(
            "They spoke of tides.", id="sum", additional_kwargs={"lc_source": "summarization"}
        )
        kept = [RemoveMessage(REMOVE_ALL_MESSAGES), summary, state["messages"][-1]]
        return {"messages": [*kept, AIMessage("Done.", id="done")]}
    if asked == "wait":
        interrupt("may I?")
    return {"messages": [AIMessage(f"You said {asked}.", id=f"a{number}")]}


def graph(saver: PostgresSaver, node: Any = answer, state: Any = MessagesState) -> Any:
    made = StateGraph(state)
    made.add_node("answer", node)
    made.add_edge(START, "answer")
    return made.compile(checkpointer=saver)


def at(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def ask(made: Any, thread: str, *texts: str) -> None:
    for text in texts:
        made.invoke({"messages": [HumanMessage(text, id=f"{thread}-{text}")]}, at(thread))


def read(url: str, tmp_path: Any) -> tuple[list[ImportedConversation], list[Skipped]]:
    path = tmp_path / "threads"
    dump(url, path)
    return read_all(Upload(path, "threads"), langgraph)


def test_messages_that_a_summary_replaced_come_back(url, saver, tmp_path):
    ask(graph(saver), "t", "call", "summarise", "more")

    # SQLAlchemy's form of the address is understood, too.
    [read_thread], skipped = read(url.replace("://", "+psycopg2://", 1), tmp_path)

    assert skipped == []
    assert branch(read_thread) == [
        "user: call",
        'assistant: Looking. | tide({"port": "A"})',
        "tool: tide=low",
        "assistant: It is low.",
        "user: summarise",
        "assistant: Done.",
        "user: more",
        "assistant: You said more.",
    ]
    assert (read_thread.source_id, read_thread.model) == ("t", "m-1")
    assert read_thread.notes == [
        "A summary was left out, because the messages it replaced are here."
    ]


def test_forks_are_branches_also_where_they_change_a_message(url, saver, tmp_path):
    made = graph(saver)
    ask(made, "t", "one", "two")
    first = next(one for one in made.get_state_history(at("t")) if len(one.values["messages"]) == 2)
    made.invoke({"messages": [HumanMessage("other", id="other")]}, first.config)
    asked = next(
        one
        for one in made.get_state_history(at("t"))
        if [message.content for message in one.values["messages"]][-1:] == ["two"]
    )
    changed = made.update_state(asked.config, {"messages": [HumanMessage("two!", id="t-two")]})
    made.invoke(None, changed)

    [read_thread], _ = read(url, tmp_path)

    beginning = ["user: one", "assistant: You said one."]
    last = {message.id for message in read_thread.messages}
    last -= {message.parent_id for message in read_thread.messages}
    assert {tuple(branch(read_thread, key)) for key in last} == {
        (*beginning, "user: two", "assistant: You said two."),
        (*beginning, "user: other", "assistant: You said other."),
        (*beginning, "user: two!", "assistant: You said two!."),
    }
    assert branch(read_thread)[-1] == "assistant: You said two!."


def test_graphs_inside_and_interrupted_runs_are_said(url, saver, tmp_path):
    inner = StateGraph(MessagesState)
    inner.add_node("answer", answer)
    inner.add_edge(START, "answer")
    outer = graph(saver, inner.compile(checkpointer=True))
    ask(outer, "inside", "hello")

    def noted(_: MessagesState) -> Any:
        return {"messages": [AIMessage("noted", id="noted")]}

    waiting = StateGraph(MessagesState)
    waiting.add_node("answer", answer)
    waiting.add_node("note", noted)
    waiting.add_edge(START, "answer")
    waiting.add_edge(START, "note")
    ask(waiting.compile(checkpointer=saver), "waits", "wait")

    [inside, waits], _ = read(url, tmp_path)

    assert branch(inside) == ["user: hello", "assistant: You said hello."]
    assert inside.notes == ["1 graphs inside of this one have states of their own, left out."]
    assert branch(waits) == ["user: wait", "assistant: noted"]
    assert waits.notes == ["A run was interrupted; its last messages have no checkpoint."]


def test_messages_without_ids_in_another_channel_are_found(url, saver, tmp_path):
    class Log(MessagesState):
        log: Annotated[list[Any], operator.add]

    def write(_: Log) -> Any:
        return {"log": [AIMessage("same"), AIMessage("same")]}

    graph(saver, write, Log).invoke({"log": [HumanMessage("hi")]}, at("t"))

    [read_thread], _ = read(url, tmp_path)

    assert branch(read_thread) == ["user: hi", "assistant: same", "assistant: same"]


def test_deltas_are_joined(url, saver, tmp_path):
    delta = pytest.importorskip("langgraph.channels.delta")

    def joined(state: list[Any], writes: list[Any]) -> list[Any]:
        return [*state, *(message for one in writes for message in one)]

    class Deltas(MessagesState):
        said: Annotated[list[Any], delta.DeltaChannel(joined, snapshot_frequency=3)]

    def node(state: Any) -> Any:
        return {"said": [AIMessage(f"answer {len(state['said'])}", id=f"a{len(state['said'])}")]}

    made = graph(saver, node, Deltas)
    for number in range(4):
        made.invoke({"said": [HumanMessage(f"q{number}", id=f"q{number}")]}, at("t"))

    [read_thread], _ = read(url, tmp_path)

    assert [line.partition(": ")[2] for line in branch(read_thread)] == [
        "q0", "answer 1", "q1", "answer 3", "q2", "answer 5", "q3", "answer 7",
    ]  # fmt: skip


class Evil:
    """What a pickle would run."""

    def __reduce__(self) -> Any:
        return (print, ("was run",))


def test_pickles_are_refused_and_lose_no_other_thread(url, saver, tmp_path):
    made = graph(saver)
    ask(made, "pickled", "hello")
    ask(made, "plain", "hello")
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE checkpoint_blobs SET type = 'pickle', blob = %s"
            " WHERE thread_id = 'pickled' AND channel = 'messages'",
            (pickle.dumps(Evil()),),
        )

    [plain], skipped = read(url, tmp_path)

    assert branch(plain)[0] == "user: hello"
    assert [(one.source_id, one.reason) for one in skipped] == [
        ("pickled", "Its state is neither JSON nor msgpack, but pickled or encrypted.")
    ]


def test_database_without_checkpoints_is_refused_with_its_reason(servers, tmp_path):
    empty = servers.new_database()

    with pytest.raises(ImportRefused, match='relation "checkpoints" does not exist'):
        dump(empty, tmp_path / "threads")


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_address_that_nobody_answers_is_refused_without_its_password(scheme, tmp_path):
    with pytest.raises(ImportRefused, match=r"cannot be read: \w+") as refused:
        dump(f"{scheme}://ana:secret-word@127.0.0.1:1/x", tmp_path / "threads")

    assert "secret-word" not in str(refused.value)

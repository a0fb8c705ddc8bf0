"""The kit's checkpointer: LangGraph's own conformance tests, and agents that use it."""

import asyncio
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from colloquy_kit.messages.state import empty_state
from colloquy_kit.runtime.checkpointer import ConversationSaver, number_of
from colloquy_kit.store import messages, states
from colloquy_kit.store.errors import NotFound
from tests.fakes import script
from tests.integration.kit.host import TABLES, Conversation, Host, tools

pytestmark = pytest.mark.parametrize("host", ["postgresql", "sqlite"], indirect=True)
NOTE = {"tools": [{"name": "note", "args": {"text": "a"}}]}


def new_thread(session, conversation_id, config) -> None:
    user_id = config["configurable"].get("user_id", 1)
    session.add(Conversation(id=conversation_id, user_id=user_id, title="Thread"))


def saver_of(host: Host, **options) -> ConversationSaver:
    return ConversationSaver(TABLES, host.sessions, new_thread=new_thread, **options)


def agent_of(host: Host, model, folder, **options):
    asked = ChatOpenAI(base_url=model.url, api_key="secret", model="m", max_retries=0)
    return create_agent(asked, tools(folder), checkpointer=saver_of(host), **options)


def thread(name=None):
    return {"configurable": {"thread_id": name or str(uuid4()), "api_key": "hidden"}}


def said(config, host):
    rows = host.run(messages.load_display_messages, number_of(config["configurable"]["thread_id"]))
    return [row.content.get("text") or row.content.get("content") for row in rows]


def test_it_passes_the_conformance_tests_of_langgraph(host):
    @checkpointer_test(name="colloquy-kit")
    async def kit():
        yield saver_of(host)

    report = asyncio.run(validate(kit))

    failures = [text for one in report.results.values() for text in one.failures or ()]
    assert failures == []
    assert report.passed_all_base()


def test_messages_of_a_thread_are_a_state_and_rows(host, model, tmp_path):
    agent, config = agent_of(host, model, tmp_path), thread()
    text = script({"text": "I note it.", **NOTE}, {"text": "Noted."})

    answer = agent.invoke({"messages": [HumanMessage(text)]}, config)

    assert said(config, host) == [text, "I note it.", None, "noted a", "Noted."]
    stored = host.run(states.export_state, number_of(config["configurable"]["thread_id"]))
    assert [one["content"] for one in stored["messages"]] == [
        text,
        "I note it.",
        "noted a",
        "Noted.",
    ]
    assert not {"hidden", "secret"} & set(str(stored).replace("'", " ").split())
    again = agent_of(host, model, tmp_path)
    assert again.get_state(config).values["messages"] == answer["messages"]
    answer = again.invoke({"messages": [HumanMessage(script({"text": "Bye."}))]}, config)
    assert len(model.messages[-1]) == 5
    assert said(config, host)[-1] == "Bye."


def test_what_a_task_has_written_is_not_done_again_after_a_crash(host, tmp_path):
    calls = []

    def fine(state):
        calls.append("fine")
        return {"messages": [AIMessage("fine", id="fine")]}

    def broken(state):
        calls.append("broken")
        if calls.count("broken") == 1:
            raise ConnectionError
        return {"messages": [AIMessage("mended", id="mended")]}

    def graph():
        built = StateGraph(MessagesState)
        for node in (fine, broken):
            built.add_node(node.__name__, node)
            built.add_edge(START, node.__name__)
            built.add_edge(node.__name__, END)
        return built.compile(checkpointer=saver_of(host))

    config = thread()
    with pytest.raises(ConnectionError):
        graph().invoke({"messages": [HumanMessage("go", id="go")]}, config)

    graph().invoke(None, config)

    assert sorted(calls) == ["broken", "broken", "fine"]
    assert sorted(said(config, host)) == ["fine", "go", "mended"]


def test_a_call_waits_for_a_person_across_savers(host, model, tmp_path):
    asking = HumanInTheLoopMiddleware({"note": True})
    config = thread("conversation-" + str(uuid4()))
    text = script(NOTE, {"text": "Noted."})
    agent_of(host, model, tmp_path, middleware=[asking]).invoke({"messages": [text]}, config)
    assert not (tmp_path / "calls").exists()

    again = agent_of(host, model, tmp_path, middleware=[asking])
    again.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)

    assert (tmp_path / "calls").read_text() == "a\n"
    assert said(config, host)[-1] == "Noted."


def test_runtime_and_saver_continue_each_others_conversations(host, model, tmp_path):
    own = host.new()
    runtime = host.runtime(model.url, tmp_path)
    first = runtime.start(own)
    first.send(script({"text": "One."}))
    first.wait(60)

    agent = agent_of(host, model, tmp_path)
    agent.invoke({"messages": [HumanMessage(script({"text": "Two."}))]}, thread(str(own)))
    last = runtime.start(own)
    last.send(script({"text": "Three."}))
    last.wait(60)
    agent.invoke({"messages": [HumanMessage(script({"text": "Four."}))]}, thread(str(own)))

    assert [text for text in said(thread(str(own)), host) if "SCRIPT" not in text] == [
        "One.", "Two.", "Three.", "Four.",
    ]  # fmt: skip
    assert [len(one) for one in model.messages] == [1, 3, 5, 7]
    runtime.close()


def test_older_checkpoints_keep_what_was_removed_and_what_json_would_lose(host):
    saver, config = saver_of(host, keep=3), thread()
    config["configurable"]["checkpoint_ns"] = ""
    graph = StateGraph(MessagesState)
    graph.add_node(
        "say", lambda _: {"messages": [ToolMessage("b", id="b", tool_call_id="x", artifact={1, 2})]}
    )
    graph.add_node(
        "shorten",
        lambda _: {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("short", id="s")]},
    )
    graph.add_edge(START, "say")
    graph.add_edge("say", "shorten")
    built = graph.compile(checkpointer=saver)

    built.invoke({"messages": [HumanMessage("a", id="a")]}, config)

    now, before, *_ = kept = list(built.get_state_history(config))
    assert len(kept) == 3
    assert [one.id for one in now.values["messages"]] == ["s"]
    assert [one.id for one in before.values["messages"]] == ["a", "b"]
    assert before.values["messages"][1].artifact == {1, 2}
    assert said(config, host) == ["a", "b", "short"]


def test_an_unknown_thread_is_not_made_unless_the_host_says_how(host):
    saver = ConversationSaver(TABLES, host.sessions)
    graph = StateGraph(MessagesState)
    graph.add_node("say", lambda _: {"messages": [AIMessage("b")]})
    graph.add_edge(START, "say")
    built = graph.compile(checkpointer=saver)

    with pytest.raises(NotFound):
        built.invoke({"messages": [HumanMessage("a")]}, thread())

    own = host.new()
    host.run(states.save_agent_state, own, empty_state())
    others = ConversationSaver(TABLES, host.sessions, whose=Conversation.user_id == 99)
    assert others.get_tuple(thread(str(own))) is None
    others.delete_thread(str(own))
    assert host.run(states.load_agent_state, own).found == "stored"

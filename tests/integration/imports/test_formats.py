"""One conversation as each program exports it, imported, shown, and continued by the agent."""

import json
import subprocess
import sys
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, MessagesState, StateGraph

from backend.operations.integrity.scan import check
from db.session import Database
from tests.fakes import ScriptedModel
from tests.integration.imports.scenes import imported, session_of
from tests.stack import ROOT, Servers, Stack

JSON = dict[str, Any]
ASKED, ANSWER, OTHER = "Which berth is free?", "Berth 4.", "Berth 5."
ARGUMENTS, RETURNED = {"free": True}, '["4"]'


def chatgpt() -> JSON:
    def node(parent: str | None, role: str, text: str, name: str = "", to: str = "all") -> JSON:
        content = {"content_type": "text", "parts": [text]}
        author = {"role": role, "name": name or None}
        return {
            "parent": parent,
            "message": {"author": author, "content": content, "recipient": to},
        }

    mapping = {
        "q": node(None, "user", ASKED),
        "c": node("q", "assistant", json.dumps(ARGUMENTS), to="berths"),
        "r": node("c", "tool", RETURNED, name="berths"),
        "a": node("r", "assistant", ANSWER),
        "b": node("q", "assistant", OTHER),
    }
    return {
        "conversation_id": "chatgpt",
        "title": "Berths",
        "mapping": mapping,
        "current_node": "a",
    }


def claude() -> JSON:
    def message(key: str, parent: str | None, sender: str, *blocks: JSON) -> JSON:
        return {"uuid": key, "parent_message_uuid": parent, "sender": sender, "content": [*blocks]}

    call = {"type": "tool_use", "id": "c1", "name": "berths", "input": ARGUMENTS}
    returned = [{"type": "text", "text": RETURNED}]
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "berths", "content": returned}
    messages = [
        message("q", None, "human", {"type": "text", "text": ASKED}),
        message("a", "q", "assistant", call, result, {"type": "text", "text": ANSWER}),
        message("b", "q", "assistant", {"type": "text", "text": OTHER}),
    ]
    return {
        "uuid": "claude",
        "name": "Berths",
        "chat_messages": messages,
        "current_leaf_message_uuid": "a",
    }


def open_webui() -> JSON:
    def message(parent: str | None, role: str, content: str, **more: Any) -> JSON:
        return {"parentId": parent, "childrenIds": [], "role": role, "content": content, **more}

    output = [
        {"type": "function_call", "call_id": "c1", "name": "berths", "arguments": '{"free": true}'},
        {"type": "function_call_output", "call_id": "c1", "output": [{"text": RETURNED}]},
        {"type": "message", "content": [{"type": "output_text", "text": ANSWER}]},
    ]
    messages = {
        "q": message(None, "user", ASKED),
        "a": message("q", "assistant", ANSWER, output=output, model="x"),
        "b": message("q", "assistant", OTHER, model="y"),
    }
    history = {"messages": messages, "currentId": "a"}
    return {"id": "open_webui", "title": "Berths", "chat": {"models": ["x"], "history": history}}


def librechat() -> JSON:
    call = {"id": "c1", "name": "berths", "args": '{"free": true}', "output": RETURNED}
    content = [{"type": "tool_call", "tool_call": call}, {"type": "text", "text": ANSWER}]
    other = {"messageId": "b", "text": OTHER, "isCreatedByUser": False}
    answer = {"messageId": "a", "text": "", "content": content, "isCreatedByUser": False}
    asked = {"messageId": "q", "text": ASKED, "isCreatedByUser": True, "children": [other, answer]}
    return {
        "conversationId": "librechat",
        "endpoint": "openAI",
        "title": "Berths",
        "recursive": True,
        "messages": [asked],
    }


def chainlit() -> JSON:
    def step(key: str, kind: str, **more: Any) -> JSON:
        return {"id": key, "threadId": "chainlit", "type": kind, "output": "", **more}

    steps = [
        step("q", "user_message", output=ASKED),
        step("run", "run", name="on_message"),
        step("c", "tool", name="berths", input='{"free": true}', output=RETURNED, parentId="run"),
        step("a", "assistant_message", name="Harbour", output=ANSWER),
    ]
    return {"id": "chainlit", "name": "Berths", "userIdentifier": "ana", "steps": steps}


def fork_a_thread(url: str) -> None:
    """Write a thread as LangGraph does, with a fork that is newer than the answer."""

    def answer(_: MessagesState) -> Any:
        call = {"id": "c1", "name": "berths", "args": ARGUMENTS}
        asking = AIMessage("", id="c", tool_calls=[call])
        returned = ToolMessage(RETURNED, id="r", tool_call_id="c1", name="berths")
        return {"messages": [asking, returned, AIMessage(ANSWER, id="a")]}

    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        made = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
        graph = made.compile(checkpointer=saver)
        thread: Any = {"configurable": {"thread_id": "langgraph"}}
        said = {"messages": [HumanMessage(ASKED, id="q")]}
        graph.invoke(said, thread, interrupt_before=["answer"])
        asked = graph.get_state(thread).config
        graph.invoke(None, thread)
        graph.update_state(asked, {"messages": [AIMessage(OTHER, id="b")]}, as_node="answer")


@pytest.mark.parametrize(
    "make", [chatgpt, claude, open_webui, librechat, chainlit], ids=lambda make: make.__name__
)
def test_conversation_is_shown_and_the_agent_goes_on(make, stack: Stack, model: ScriptedModel):
    item = make()
    content = json.dumps(item if make in (librechat, chainlit) else [item]).encode()

    report = imported(stack, content, "export.json")
    assert report["counts"] == {"imported": 1}, report["report"]

    check_shown(stack, make.__name__, [ASKED, ANSWER], [] if make is chainlit else [2])
    check_goes_on(stack, make.__name__, model)


def test_thread_of_langgraph_is_shown_and_the_agent_goes_on(
    stack: Stack, model: ScriptedModel, servers: Servers
):
    url = servers.new_database().replace("+psycopg2", "")
    fork_a_thread(url)

    command = [sys.executable, "-m", "backend.operations.exchange", "import", "--langgraph"]
    environment = stack.environment | {"LANGGRAPH_URL": url}
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("LangGraph: 1 conversation with 5 messages")
    check_shown(stack, "langgraph", [ASKED, OTHER], [2])
    session_id = session_of(stack, "langgraph")
    [item] = stack.client.get(f"/sessions/{session_id}/branches").json()["items"]
    [first] = [one for one in item["versions"] if not one["is_active"]]
    body = {"turn_id": first["turn_id"]}
    assert stack.client.post(f"/sessions/{session_id}/branch", json=body).status_code == 200
    check_shown(stack, "langgraph", [ASKED, ANSWER], [2])
    check_goes_on(stack, "langgraph", model)


def check_shown(stack: Stack, source_id: str, texts: list[str], versions: list[int]) -> None:
    session_id = session_of(stack, source_id)
    rows = stack.messages(session_id, branch="active")
    assert [row["content"]["text"] for row in rows if row["content_type"] == "text"] == texts
    items = stack.client.get(f"/sessions/{session_id}/branches").json()["items"]
    assert [len(item["versions"]) for item in items] == versions
    database = Database(stack.database_url)
    assert check(database, UUID(session_id)) == []
    database.close()


def check_goes_on(stack: Stack, source_id: str, model: ScriptedModel) -> None:
    """The agent answers, and is sent the conversation with its call and result."""
    session_id = session_of(stack, source_id)
    model.steps = [{"text": "The same."}]

    stack.chat("And tomorrow?", session_id)

    sent = [one for one in model.requests[-1]["messages"] if one["role"] != "system"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "assistant", "user"]
    [call] = sent[1]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        "berths",
        ARGUMENTS,
    )
    assert (sent[2]["content"], sent[2]["tool_call_id"]) == (RETURNED, call["id"])
    assert [sent[place]["content"] for place in (0, 3, 4)] == [ASKED, ANSWER, "And tomorrow?"]
    rows = stack.messages(session_id, branch="active")
    assert [row["content"]["text"] for row in rows if row["content_type"] == "text"][-1] == (
        "The same."
    )

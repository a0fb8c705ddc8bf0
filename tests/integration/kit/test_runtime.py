"""Running agents: a real LangChain agent asks a scripted model over HTTP, on PostgreSQL."""

import asyncio
import os
import time
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    SummarizationMiddleware,
    TodoListMiddleware,
)
from langchain_openai import ChatOpenAI

from colloquy_kit.messages.state import empty_state
from colloquy_kit.runtime.events import Delta, MessageSaved, StatusChanged
from colloquy_kit.runtime.growing import Codec
from colloquy_kit.runtime.running import UNKNOWN_EFFECT, AutoSave, NotPossible
from colloquy_kit.store import conversations, messages, states
from colloquy_kit.store.errors import NotFound, StaleVersion
from tests.fakes import ScriptedModel, script
from tests.integration.kit.host import Host
from tests.processes import kill_process, launch

WAIT = 60
NOTE = {"tools": [{"name": "note", "args": {"text": "a"}}]}


def calls_in(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def rows_of(host: Host, conversation_id: Any) -> list[tuple[str, str, Any]]:
    rows = host.run(messages.load_display_messages, conversation_id)
    return [
        (row.content_type, row.status, row.content.get("text") or row.content.get("content"))
        for row in rows
    ]


def wait_until(is_true: Any) -> None:
    end = time.monotonic() + WAIT
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


def start_process(host: Host, model: ScriptedModel, folder: Path, *arguments: str):
    url = host.engine.url.render_as_string(hide_password=False)
    named = ("-m", "tests.integration.kit.host", url, model.url, str(folder), *arguments)
    return launch(named, dict(os.environ), folder / "log")


@pytest.mark.parametrize("host", ["postgresql", "sqlite"], indirect=True)
def test_a_conversation_with_a_tool_is_in_both_views(host, model, tmp_path):
    model.steps = ({"text": "I note it.", **NOTE}, {"text": "Noted.", "think": "Good"})
    runtime, own = host.runtime(model.url, tmp_path), host.new()
    agent = runtime.start(own)
    events = agent.subscribe()

    agent.send("Note a")
    assert agent.wait(WAIT) == "idle"

    assert runtime.start(own) is agent
    assert agent.agent_id == f"conversation-{own}"
    assert rows_of(host, own) == [
        ("text", "completed", "Note a"),
        ("text", "completed", "I note it."),
        ("tool_call", "completed", None),
        ("tool_result", "completed", "noted a"),
        ("text", "completed", "Noted."),
    ]
    stored = host.run(states.export_state, own)
    assert [one["role"] for one in stored["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert "secret" not in str(stored)
    runtime.close()
    seen = list(events)
    told = "".join(one.text for one in seen if isinstance(one, Delta))
    assert told == "I note it.Noted."
    saved = [one.message.type for one in seen if isinstance(one, MessageSaved)]
    assert saved == ["human", "ai", "tool", "ai"]
    statuses = [one.status for one in seen if isinstance(one, StatusChanged)]
    assert statuses == ["running", "idle", "closed"]
    with pytest.raises(NotPossible):
        agent.send("more")


def test_events_can_be_awaited(host, model, tmp_path):
    model.steps = ({"text": "Hello."},)
    runtime = host.runtime(model.url, tmp_path)
    agent = runtime.start(host.new())

    async def follow() -> list[str]:
        seen = []
        events = agent.subscribe()
        await asyncio.to_thread(agent.send, "Hi")
        async for event in events:
            seen.append(getattr(event, "status", type(event).__name__))
            if seen[-1] == "idle":
                events.close()
        return seen

    seen = asyncio.run(follow())
    assert [seen[0], seen[1], seen[-2], seen[-1]] == [
        "MessageSaved",
        "running",
        "MessageSaved",
        "idle",
    ]
    runtime.close()


def test_an_agent_runs_on_the_loop_of_the_host_and_ends_when_it_is_not_used(host, tmp_path):
    loops: list[asyncio.AbstractEventLoop] = []

    class Watch(AgentMiddleware[Any, Any, Any]):
        async def abefore_agent(self, state, runtime):
            loops.append(asyncio.get_running_loop())

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        options = {"loop": loop, "keep_seconds": 0, "autosave": AutoSave(0.2)}
        runtime = host.runtime(model.url, tmp_path, middleware=[Watch()], **options)
        agent = await asyncio.to_thread(runtime.start, own)
        events = agent.subscribe()
        await asyncio.to_thread(agent.send, script({"text": "Here."}))
        statuses = [one.status async for one in events if isinstance(one, StatusChanged)]
        assert statuses[-1] == "closed"
        assert runtime.find(own) is None
        assert loops == [loop]
        await asyncio.to_thread(runtime.close)

    own = host.new()
    with ScriptedModel() as model:  # its own: connections of another loop cannot be used
        asyncio.run(serve())

    assert rows_of(host, own)[-1][2] == "Here."


def test_after_a_kill_a_finished_tool_is_not_run_again(host, model, tmp_path):
    both = {"tools": [*NOTE["tools"], {"name": "hang", "args": {}}]}
    own = host.new()
    process = start_process(host, model, tmp_path, str(own), script(both, {"text": "Done."}))
    wait_until(lambda: [row[0] for row in rows_of(host, own)].count("tool_result"))
    wait_until(lambda: "hang" in calls_in(tmp_path))
    kill_process(process)

    runtime = host.runtime(model.url, tmp_path)
    agent = runtime.start(own)
    assert agent.is_unfinished
    agent.resume()
    assert agent.wait(WAIT) == "idle"

    assert calls_in(tmp_path).count("a") == 1
    assert calls_in(tmp_path).count("hang") == 1
    results = [one["content"] for one in model.messages[-1] if one["role"] == "tool"]
    assert results == ["noted a", UNKNOWN_EFFECT]
    assert rows_of(host, own)[1:] == [
        ("tool_call", "completed", None),
        ("tool_call", "failed", None),
        ("tool_result", "completed", "noted a"),
        ("tool_result", "failed", UNKNOWN_EFFECT),
        ("text", "completed", "Done."),
    ]
    runtime.close()


def test_a_message_is_kept_when_the_process_is_killed_before_an_answer(host, model, tmp_path):
    own = host.new()
    process = start_process(host, model, tmp_path, str(own), script({"text": "x", "wait": 60}))
    wait_until(lambda: model.requests)
    kill_process(process)

    runtime = host.runtime(model.url, tmp_path)
    agent = runtime.start(own)
    model.clear()
    agent.send(script({"text": "Here again."}))

    agent.wait(WAIT)
    assert [one["role"] for one in model.messages[0]] == ["user", "user"]
    assert rows_of(host, own)[-1][2] == "Here again."
    runtime.close()


def test_of_two_processes_the_one_that_saves_first_goes_on(host, model, tmp_path):
    own = host.new()
    one, other = host.runtime(model.url, tmp_path), host.runtime(model.url, tmp_path)
    first, second = one.start(own), other.start(own)
    first.send(script({"text": "First."}))
    first.wait(WAIT)

    with pytest.raises(StaleVersion):
        second.send("Second")

    assert second.status == "closed"
    assert [row[2] for row in rows_of(host, own)][1:] == ["First."]
    again = other.start(own)
    again.send(script({"text": "Again."}))
    again.wait(WAIT)
    first = one.start(own)
    assert [m["content"] for m in first.export_state()["messages"]][-1] == "Again."
    one.close()
    other.close()


def test_an_agent_whose_conversation_another_took_over_does_no_more(host, model, tmp_path):
    own = host.new()
    runtime = host.runtime(model.url, tmp_path)
    agent = runtime.start(own)
    agent.send(script({"tools": [{"name": "hang", "args": {}}]}, {"text": "Too late."}))
    wait_until(lambda: "hang" in calls_in(tmp_path))
    host.run(states.save_agent_state, own, empty_state())
    (tmp_path / "let go").touch()

    with pytest.raises(StaleVersion):
        agent.wait(WAIT)

    assert agent.status == "closed"
    assert len(model.requests) == 1
    assert [row[0] for row in rows_of(host, own)] == ["text", "tool_call"]
    runtime.close()


class Visits(AgentMiddleware[Any, Any, Any]):
    """Counts in a set, which is not JSON; begins with its own default."""

    class State(AgentState[Any]):
        visited: Annotated[NotRequired[set[str]], Codec(sorted, set)]
        later: NotRequired[int]

    state_schema = State

    def before_agent(self, state, runtime):
        visited = state.get("visited", set())
        return {"visited": visited | {f"{len(visited)}"}, "later": state.get("later", 7)}


def test_middleware_brings_its_serialisers_and_its_defaults(host, model, tmp_path):
    own = host.new()
    old = {**empty_state(), "gone": {"of": "a middleware that was removed"}}
    host.run(states.save_agent_state, own, old)
    runtime = host.runtime(model.url, tmp_path, middleware=[Visits(), TodoListMiddleware()])
    todos = [{"content": "Look", "status": "pending"}]

    for _ in range(2):
        agent = runtime.start(own)
        agent.send(
            script({"tools": [{"name": "write_todos", "args": {"todos": todos}}]}, {"text": "Yes."})
        )
        agent.wait(WAIT)
        agent.close()

    stored = host.run(states.export_state, own)
    assert (stored["visited"], stored["later"]) == (["0", "1"], 7)
    assert (stored["todos"], stored["gone"]) == (todos, old["gone"])
    runtime.close()


class Unsaved:
    """Callbacks of a database that is away for some saves."""

    def __init__(self, host: Host, away: int) -> None:
        self._host, self.away = host, away
        self.load_state = host.load_state

    def save_step(self, *arguments):
        if self.away:
            self.away -= 1
            raise ConnectionError
        return self._host.save_step(*arguments)


def test_what_could_not_be_saved_is_saved_when_it_is_time(host, model, tmp_path):
    callbacks = Unsaved(host, 0)
    runtime = host.runtime(model.url, tmp_path, callbacks=callbacks, autosave=AutoSave(0.2))
    own = host.new()
    agent = runtime.start(own)
    agent.send(script({"text": "Kept.", "wait": 0.3}))
    callbacks.away = 2

    with pytest.raises(ConnectionError):
        agent.wait(WAIT)

    assert agent.status == "failed"
    wait_until(lambda: len(rows_of(host, own)) == 2)
    assert host.run(states.export_state, own)["messages"][-1]["content"] == "Kept."
    runtime.close()


def test_what_could_not_be_said_is_not_said(host, model, tmp_path):
    callbacks = Unsaved(host, 1)
    runtime = host.runtime(model.url, tmp_path, callbacks=callbacks)
    own = host.new()
    agent = runtime.start(own)

    with pytest.raises(ConnectionError):
        agent.send("Lost")
    agent.send(script({"text": "Yes."}))
    agent.wait(WAIT)

    assert [row[2] for row in rows_of(host, own)][1:] == ["Yes."]
    assert len(model.messages[0]) == 1
    runtime.close()


def test_a_process_that_ends_while_an_agent_speaks_keeps_what_it_said(host, model, tmp_path):
    own = host.new()
    text = script({"text": "word " * 1000, "delay": 0.05})
    process = start_process(host, model, tmp_path, str(own), text, "leave")

    assert process.wait(WAIT) == 0, (tmp_path / "log").read_text()

    kind, status, said = rows_of(host, own)[-1]
    assert (kind, status, said[:4]) == ("text", "stopped", "word")
    assert host.run(states.export_state, own)["messages"][-1]["content"] == said


def test_the_end_of_a_runtime_saves_what_is_unsaved(host, model, tmp_path):
    callbacks = Unsaved(host, 0)
    runtime = host.runtime(model.url, tmp_path, callbacks=callbacks)
    own = host.new()
    agent = runtime.start(own)
    agent.send(script({"text": "Kept."}))
    callbacks.away = 1
    with pytest.raises(ConnectionError):
        agent.wait(WAIT)

    runtime.close()

    assert rows_of(host, own)[-1] == ("text", "completed", "Kept.")
    with pytest.raises(NotPossible):
        runtime.start(own)


def test_people_keep_what_a_policy_has_summarised(host, model, tmp_path):
    asked = ChatOpenAI(base_url=model.url, api_key="secret", model="m")
    shortening = SummarizationMiddleware(asked, trigger=("messages", 5), keep=("messages", 2))
    model.steps = lambda messages, _: {"text": "fine"}
    runtime, own = host.runtime(model.url, tmp_path, middleware=[shortening]), host.new()
    agent = runtime.start(own)

    for number in range(5):
        agent.send(f"Message {number}")
        agent.wait(WAIT)

    said = [text for _, _, text in rows_of(host, own)]
    assert said == [text for number in range(5) for text in (f"Message {number}", "fine")]
    assert len(host.run(states.export_state, own)["messages"]) < 6
    runtime.close()


def test_stopping_keeps_the_text_that_has_arrived(host, model, tmp_path):
    runtime, own = host.runtime(model.url, tmp_path), host.new()
    agent = runtime.start(own)
    events = agent.subscribe()
    agent.send(script({"text": "word " * 1000, "delay": 0.05}))
    assert next(one for one in events if isinstance(one, Delta))
    with pytest.raises(NotPossible):
        agent.send("more")

    agent.stop()

    assert agent.status == "idle"
    agent.save()
    kind, status, text = rows_of(host, own)[-1]
    assert (kind, status) == ("text", "stopped")
    assert text.startswith("word")
    runtime.close()


def test_who_learns_that_it_is_idle_may_go_on_at_once(host, model, tmp_path):
    runtime, own = host.runtime(model.url, tmp_path), host.new()
    agent = runtime.start(own)
    events = agent.subscribe()
    for number in range(5):
        agent.send(script({"text": f"Answer {number}."}))
        assert next(e for e in events if isinstance(e, StatusChanged) and e.status == "idle")
    agent.send(script({"text": "word " * 1000, "delay": 0.05}))
    agent.stop()

    assert agent.status == "idle"
    assert agent.wait(0) == "idle"
    said = [text for _, _, text in rows_of(host, own) if text.startswith("Answer")]
    assert said == [f"Answer {number}." for number in range(5)]
    runtime.close()


def test_an_agent_of_a_deleted_conversation_ends(host, model, tmp_path):
    runtime, own = host.runtime(model.url, tmp_path), host.new()
    agent = runtime.start(own)
    host.run(conversations.delete_conversation, own)

    with pytest.raises(NotFound):
        agent.send("Hello?")

    assert runtime.find(own) is None
    with pytest.raises(NotFound):
        runtime.start(own)
    runtime.close()

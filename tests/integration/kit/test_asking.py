"""Agents that ask people, and their answers after a restart."""

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.types import interrupt

from colloquy_kit.runtime.running import NOT_ANSWERED, NotPossible
from colloquy_kit.store import states
from tests.fakes import script
from tests.integration.kit.test_runtime import NOTE, WAIT, calls_in, rows_of


def test_a_call_that_waits_for_a_person_waits_across_a_restart(host, model, tmp_path):
    asking = HumanInTheLoopMiddleware({"note": True})
    own = host.new()
    first = host.runtime(model.url, tmp_path, middleware=[asking])
    agent = first.start(own)
    agent.send(script(NOTE, {"text": "Noted."}))
    assert agent.wait(WAIT) == "interrupted"
    first.close()
    assert calls_in(tmp_path) == []

    second = host.runtime(model.url, tmp_path, middleware=[asking])
    agent = second.start(own)
    assert agent.status == "interrupted"
    assert agent.questions[0]["action_requests"][0]["name"] == "note"
    with pytest.raises(NotPossible, match="waits for 1 answers, not for 0"):
        agent.resume()
    agent.resume({"decisions": [{"type": "approve"}]})

    assert agent.wait(WAIT) == "idle"
    assert calls_in(tmp_path) == ["a"]
    assert "interrupt" not in host.run(states.export_state, own)
    assert rows_of(host, own)[-1][2] == "Noted."
    assert len(model.requests) == 2
    second.close()


def test_another_message_withdraws_the_call_that_waits(host, model, tmp_path):
    runtime, own = (
        host.runtime(model.url, tmp_path, middleware=[HumanInTheLoopMiddleware({"note": True})]),
        host.new(),
    )
    agent = runtime.start(own)
    agent.send(script(NOTE))
    assert agent.wait(WAIT) == "interrupted"

    agent.send(script({"text": "Never mind."}))

    assert agent.wait(WAIT) == "idle"
    assert calls_in(tmp_path) == []
    assert ("tool_result", "failed", NOT_ANSWERED) in rows_of(host, own)
    runtime.close()


def test_each_answer_meets_the_tool_that_asked(host, model, tmp_path):
    @tool
    def ask(text: str) -> str:
        """Ask a person."""
        return f"{text}: {interrupt({'text': text})}"

    asks = [{"name": "ask", "args": {"text": text}} for text in "abc"]
    own = host.new()
    first = host.runtime(model.url, tmp_path, tools=[ask])
    agent = first.start(own)
    agent.send(script({"tools": asks}, {"text": "Done."}))
    assert agent.wait(WAIT) == "interrupted"
    first.close()

    second = host.runtime(model.url, tmp_path, tools=[ask])
    agent = second.start(own)
    agent.resume(*(question["text"].upper() for question in agent.questions))

    assert agent.wait(WAIT) == "idle"
    results = {text for kind, _, text in rows_of(host, own) if kind == "tool_result"}
    assert results == {"a: A", "b: B", "c: C"}
    second.close()

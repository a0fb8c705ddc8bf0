"""No call runs twice: what an earlier attempt has left of it decides."""

import asyncio
import json

import pytest

from backend.agents.run import run_agent
from backend.agents.steps.tool_results import OUTCOME_UNKNOWN
from backend.errors.turns import LeaseLost
from backend.tools.journal import CallKey, Recorded
from backend.tools.registry import Effect
from tests.fakes import ScriptedModel
from tests.runs import TURN_ID, KeepingOutbox, asking, run, run_with, steps
from tests.servers.tool import ToolServer, tool

SEVERAL = {"a1": "act", "a2": "act", "i1": "put", "r1": "look"}


class Journal:
    """Keeps in memory what the real one keeps in PostgreSQL; `past`: of earlier attempts."""

    def __init__(self, past=None, lost_at=None):
        self.past = past or {}
        self.lost_at = lost_at
        self.begun = []
        self.ended = []

    def recorded(self, key):
        return self.past.get(key)

    async def started(self, key, name, effect):
        self._fence("started")
        self.begun.append((key, name, effect))

    async def finished(self, key, name, effect, message, artifact):
        self._fence("finished")
        self.ended.append((key, name, effect, json.loads(json.dumps(message)), artifact))

    def next_attempt(self):
        past = {key: Recorded(None) for key, *_ in self.begun}
        past |= {key: Recorded(message, artifact) for key, _, _, message, artifact in self.ended}
        return Journal(past)

    def _fence(self, where):
        if self.lost_at == where:
            raise LeaseLost


@pytest.fixture(scope="module")
def tools():
    hinted = [
        tool("look", readOnlyHint=True),
        tool("put", idempotentHint=True),
        tool("act"),
    ]

    async def answer(name, arguments):
        await asyncio.sleep(arguments.get("seconds", 0))
        return f"{name} done"

    with ToolServer(hinted, answer) as server:
        yield server


def call(name, call_id="c", **arguments):
    return {"name": name, "id": call_id, "args": arguments}


def asked(model, tools, *calls):
    """The state in which the model has made these calls and none has run."""

    async def refuse(step):
        raise LeaseLost

    async def until_calls(recipe):
        outbox = KeepingOutbox(refuse)
        with pytest.raises(LeaseLost):
            await run_agent(recipe, asking("go"), outbox)
        return outbox.events

    (step,) = steps(run_with(model.url, until_calls, mcp_servers={"s": tools.template}))
    return json.loads(json.dumps(step.state))


def test_a_single_call_is_recorded_as_far_as_its_effect_asks_for(tools):
    journal = Journal()
    script = [{"tools": [call(name)]} for name in ("look", "put", "act")]
    with ScriptedModel([*script, {"text": "end"}]) as model:
        events = run(model.url, asking("go"), journal=journal, mcp_servers={"s": tools.template})

    made = [step.messages[0]["id"] for step in steps(events)[0:6:2]]
    keys = [CallKey(message_id, 0) for message_id in made]
    assert journal.begun == [(keys[1], "put", "idempotent"), (keys[2], "act", "acts")]
    assert [(entry[0], entry[1]) for entry in journal.ended] == [(keys[1], "put"), (keys[2], "act")]
    assert journal.ended[0][3]["content"] == "put done"


def test_in_a_batch_each_result_is_recorded(tools):
    journal = Journal()
    calls = [call(name, call_id) for call_id, name in SEVERAL.items()]
    with ScriptedModel([{"tools": calls}, {"text": "end"}]) as model:
        run(model.url, asking("go"), journal=journal, mcp_servers={"s": tools.template})

    assert sorted(key.number for key, *_ in journal.begun) == [0, 1, 2]
    assert sorted(entry[0].number for entry in journal.ended) == [0, 1, 2, 3]
    assert {entry[3]["tool_call_id"] for entry in journal.ended} == set(SEVERAL)


def test_after_a_lost_worker_nothing_that_was_recorded_runs_again(tools):
    journal = Journal()
    calls = [call(name, call_id) for call_id, name in SEVERAL.items()]
    with ScriptedModel([{"tools": calls}, {"text": "end"}]) as model:
        state = asked(model, tools)
        first = steps(run(model.url, state, journal=journal, mcp_servers={"s": tools.template}))
        tools.calls.clear()
        again = journal.next_attempt()
        second = steps(run(model.url, state, journal=again, mcp_servers={"s": tools.template}))

    assert tools.calls == []
    assert second[0].messages == first[0].messages
    assert (again.begun, again.ended) == ([], [])


def test_an_unknown_outcome_is_run_again_only_if_that_is_harmless(tools):
    calls = [call(name, call_id) for call_id, name in SEVERAL.items()]
    tools.calls.clear()
    tools.metas.clear()
    with ScriptedModel([{"tools": calls}, {"text": "end"}]) as model:
        state = asked(model, tools)
        message_id = state["messages"][-1]["id"]
        begun = {CallKey(message_id, number): Recorded(None) for number in (0, 2, 3)}
        journal = Journal(begun)
        batch, _ = steps(run(model.url, state, journal=journal, mcp_servers={"s": tools.template}))

    unknown, *others = batch.messages
    assert sorted(name for name, _ in tools.calls) == ["act", "look", "put"]
    assert (unknown["content"], unknown["status"]) == (OUTCOME_UNKNOWN, "error")
    assert unknown["additional_kwargs"] == {"outcome": "unknown"}
    assert [m["content"] for m in others] == ["act done", "put done", "look done"]


def test_an_idempotent_tool_gets_the_same_key_at_every_attempt_and_others_none(tools):
    tools.metas.clear()
    calls = [call("put", "p"), call("act", "a")]
    with ScriptedModel([{"tools": calls}, {"text": "end"}]) as model:
        state = asked(model, tools)
        for _ in range(2):
            run(model.url, state, mcp_servers={"s": tools.template})

    key = CallKey(state["messages"][-1]["id"], 0).idempotency_key(TURN_ID)
    given = [meta.get("idempotency_key") for meta in tools.metas]
    assert sorted(given, key=str) == sorted([key, key, None, None], key=str)


@pytest.mark.parametrize(("where", "ran"), [("started", 0), ("finished", 1)])
def test_an_attempt_that_lost_its_lease_ends_and_tells_the_model_nothing(tools, where, ran):
    tools.calls.clear()
    journal = Journal(lost_at=where)
    with ScriptedModel([{"tools": [call("act")]}, {"text": "end"}]) as model:
        with pytest.raises(LeaseLost):
            run(model.url, asking("go"), journal=journal, mcp_servers={"s": tools.template})

        assert len(model.requests) == 1
    assert len(tools.calls) == ran


def test_calls_of_one_message_that_share_an_id_are_told_apart(tools):
    journal = Journal()
    calls = [call("act", n=1), call("act", n=1), call("act", n=2)]
    with ScriptedModel([{"tools": calls}, {"text": "end"}]) as model:
        run(model.url, asking("go"), journal=journal, mcp_servers={"s": tools.template})

    assert sorted(key.number for key, *_ in journal.begun) == [0, 1, 2]


def test_a_call_that_is_stopped_is_begun_and_never_finished(tools):
    journal = Journal()
    tools.calls.clear()

    async def stop(recipe):
        task = asyncio.create_task(run_agent(recipe, asking("go"), KeepingOutbox()))
        while not tools.calls:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ScriptedModel([{"tools": [call("act", seconds=30)]}]) as model:
        run_with(model.url, stop, journal=journal, mcp_servers={"s": tools.template})

    assert [effect for *_, effect in journal.begun] == [Effect.ACTS]
    assert journal.ended == []

"""Operators are told what each turn waits for that was accepted and does not run."""

import re
import threading
from pathlib import Path
from typing import NamedTuple

import httpx
import yaml

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import make_session, tool_domain
from tests.processes import ROOT
from tests.stack import Servers, Stack

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
MINUTES_AGO = "UPDATE turns SET created_at = created_at - interval '10 minutes'"
WAITS = script({"text": "late", "wait": 60})
AGES = r"^(colloquy_oldest_(?:waiting|held_back)_seconds) (.+)$"


def test_each_turn_that_waits_is_counted_by_the_one_thing_that_it_waits_for(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, USER_TURNS_AT_ONCE="1") as stack:
        none = _figures(stack)
        stack.kill_workers()
        running = stack.submit(WAITS)
        without_worker = _figures(stack)
        stack.query_and_commit(MINUTES_AGO)
        alarms_without_worker = _alarms(stack)
        stack.start_worker()
        stack.wait_for(lambda: stack.turn(running["turn_id"])["status"] == "running", "not taken")
        held_back = stack.submit(WAITS)
        behind = stack.submit(WAITS, held_back["session_id"])
        stack.submit(WAITS, running["session_id"])

        at_the_limit = _figures(stack)
        stack.query_and_commit(MINUTES_AGO)
        alarms_at_the_limit = _alarms(stack)

    assert alarms_without_worker == {"ColloquyTurnsWait"}
    assert alarms_at_the_limit == {"ColloquyPersonsTurnsWait"}
    assert (held_back["status"], behind["status"]) == ("queued", "queued")
    assert (none.waiting, none.for_worker, none.held_back) == ({}, 0, 0)
    assert without_worker.waiting == {"worker": 1}
    assert without_worker.for_worker > 0 and without_worker.held_back == 0
    assert at_the_limit.waiting == {"limit": 1, "session": 2}
    assert at_the_limit.for_worker == 0 and at_the_limit.held_back > 0


def test_turns_that_wait_for_people_and_for_tasks_are_counted_as_such(
    stack: Stack, model: ScriptedModel
) -> None:
    task_goes_on = threading.Event()
    team = Team(stack, model, lambda _: {"text": "late", "until": task_goes_on})
    plans = team.ask(plan(task("t1")))["turn_id"]
    stack.wait_for(lambda: team.asked["t1"], "the task does not run")
    assert _figures(stack).waiting == {"tasks": 1}
    task_goes_on.set()
    stack.finished(plans)

    with tool_domain(stack, lambda *_: "done", "act") as (domain, _):
        asks = [{"approvals": {"rules": [{"tools": "*", "action": "ask"}]}}]
        stack.client.patch(f"/domains/{domain['id']}", json={"middleware": asks})
        calls = script({"tools": [{"name": "act"}]}, {"text": "done"})
        turn = stack.submit(calls, make_session(stack, domain["name"]))["turn_id"]
        stack.wait_for(lambda: stack.turn(turn)["status"] == "waiting", "it does not wait")
        assert _figures(stack).waiting == {"people": 1}


def _alarms(stack: Stack) -> set[str]:
    """The rules on a wait that hold now; those that Prometheus alone can evaluate are left out."""
    told = httpx.get(f"{stack.base_url}/metrics").text
    figures = dict(re.findall(AGES, told, re.MULTILINE))
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    simple = [
        (rule["alert"], found)
        for rule in group["rules"]
        if (found := re.fullmatch(r"max\((\w+)\) > (\d+)", rule["expr"])) and found[1] in figures
    ]
    assert len(simple) == 2
    return {name for name, rule in simple if float(figures[rule[1]]) > float(rule[2])}


class _Figures(NamedTuple):
    """What operators are told: turns that wait, by reason, and the seconds that raise alarms."""

    waiting: dict[str, int]
    for_worker: float
    held_back: float


def _figures(stack: Stack) -> _Figures:
    told = httpx.get(f"{stack.base_url}/metrics").text
    by_reason = re.findall(r'^colloquy_waiting_turns{reason="(\w+)"} (.+)$', told, re.MULTILINE)
    waiting = {reason: int(float(count)) for reason, count in by_reason}
    statuses = re.findall(r'^colloquy_turns{status="(?:queued|waiting)"} (.+)$', told, re.MULTILINE)
    assert sum(waiting.values()) == sum(map(float, statuses))
    assert waiting.keys() == {"worker", "limit", "session", "people", "tasks"}
    names = ("oldest_waiting", "oldest_held_back")
    found = [re.search(rf"^colloquy_{name}_seconds (.+)$", told, re.MULTILINE) for name in names]
    seconds = [float(one[1]) for one in found if one]
    return _Figures({reason: count for reason, count in waiting.items() if count}, *seconds)

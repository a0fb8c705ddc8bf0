"""What is used is counted once, by model, outlives its session, and ends turns at their budgets."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from backend.auth.scope import LOCAL_USER
from backend.schemas.usage import UsageBy
from backend.settings import Settings
from backend.types import JSON
from backend.usage.service import report_usage
from db.session import Database
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    stop,
    tool_domain,
)
from tests.stack import Servers, Stack

ANOTHER_DAY = """
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
AS $$ SELECT timestamptz '2099-12-31 12:00Z' $$
"""
CALL = {"tools": [{"name": "look", "args": {}}]}
COUNTED = "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "model_calls"


def ledger(stack: Stack, domain: str) -> dict[str, Any]:
    """What the ledger has of a domain, by model."""
    rows = stack.query(
        "SELECT model, sum(turns), sum(model_calls), sum(input_tokens + output_tokens), sum(cost)"
        " FROM usage_days WHERE domain_name = :domain GROUP BY model",
        domain=domain,
    )
    return {model: (int(turns), int(calls), int(tokens)) for model, turns, calls, tokens, _ in rows}


def tokens_of(turn: JSON) -> int:
    return turn["usage"]["input_tokens"] + turn["usage"]["output_tokens"]


def test_deleting_a_session_frees_nothing_of_a_day(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, USER_TOKENS_PER_DAY="1000") as stack:
        answer = stack.chat(script({"text": "word " * 4_000}))
        stack.client.delete(f"/sessions/{answer['session_id']}").raise_for_status()

        refused = stack.client.post("/chat", json={"message": "more"})

        assert check_problem(refused, 429)["title"] == "Tokens used up"


def test_deleting_a_session_whose_turn_runs_frees_nothing(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        waiting = script(CALL, {"text": "late", "wait": 60})
        turn = stack.submit(waiting, session_id)["turn_id"]
        stack.wait_for(lambda: stack.turn(turn)["steps"] == 2, "the tool does not end")
        used = stack.turn(turn)

        stack.client.delete(f"/sessions/{session_id}").raise_for_status()

    assert ledger(stack, domain["name"]) == {"scripted": (1, 1, tokens_of(used))}


def test_a_turn_is_put_down_once_however_it_ends(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        answered = stack.turn(stack.chat(script({"text": "done"}), session_id)["turn_id"])
        failing = script(CALL, {"status": 400, "text": "no"})
        failed = stack.finished(stack.submit(failing, session_id)["turn_id"])
        waiting = stack.submit(script(CALL, {"text": "late", "wait": 60}), session_id)["turn_id"]
        stack.wait_for(lambda: stack.turn(waiting)["steps"] == 2, "the tool does not end")
        stop(stack, waiting)
        stopped = stack.finished(waiting)

    turns = [answered, failed, stopped]
    assert [turn["status"] for turn in turns] == ["succeeded", "failed", "stopped"]
    assert ledger(stack, domain["name"]) == {"scripted": (3, 3, sum(map(tokens_of, turns)))}
    usage = stack.client.get(f"/sessions/{session_id}/usage").json()
    assert (usage["turns"], usage["total"]["model_calls"]) == (3, 3)
    assert [model["model"] for model in usage["models"]] == ["scripted"]


def test_each_model_of_a_turn_is_put_down_by_its_name(stack: Stack) -> None:
    agents = [
        {"name": "first", "model": "scripted"},
        {"name": "second", "model": "another"},
    ]
    domain = make_domain(stack, agents=agents)
    session_id = make_session(stack, domain["name"])

    first = stack.chat(script({"text": "one"}), session_id)
    second = stack.chat(script({"text": "two"}), session_id, agent="second")

    turns = [stack.turn(answer["turn_id"]) for answer in (first, second)]
    assert [list(turn["usage_by_model"]) for turn in turns] == [["scripted"], ["another"]]
    by_name = dict(zip(("scripted", "another"), turns, strict=True))
    record_usage = {name: (1, 1, tokens_of(turn)) for name, turn in by_name.items()}
    assert ledger(stack, domain["name"]) == record_usage


def test_what_a_policy_asks_another_model_stands_under_that_models_name(stack: Stack) -> None:
    settings = {"trigger_tokens": 500, "keep_tokens": 200, "model": "summariser"}
    domain = make_domain(stack, middleware=[{"summarization": settings}])
    session_id = make_session(stack, domain["name"])

    answers = [stack.chat(script({"text": "word " * 60}), session_id) for _ in range(5)]

    turns = [stack.turn(answer["turn_id"]) for answer in answers]
    summarised = [turn for turn in turns if "summariser" in turn["usage_by_model"]]
    assert summarised
    for turn in summarised:
        for name in ("input_tokens", "output_tokens", "model_calls"):
            used = [one[name] for one in turn["usage_by_model"].values()]
            assert sum(used) == turn["usage"][name]
    record_usage = ledger(stack, domain["name"])
    calls = [turn["usage_by_model"]["summariser"]["model_calls"] for turn in summarised]
    assert record_usage["summariser"][1] == sum(calls)
    assert sum(turns_of_model for turns_of_model, *_ in record_usage.values()) == len(turns)


def test_a_killed_workers_steps_are_put_down_once(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    fired = tmp_path / "fired"
    fired.mkdir()
    armed = {
        "FAILPOINTS": "close.before_commit=kill",
        "FAILPOINTS_DIR": str(fired),
        "SWEEP_SECONDS": "0.2",
    }
    with make_stack(servers, model, tmp_path, **armed) as stack:
        stack.start_worker()
        domain = make_domain(stack)

        turn = stack.finished(
            stack.submit(script({"text": "done"}), make_session(stack, domain["name"]))["turn_id"]
        )

        assert (turn["status"], turn["losses"]) == ("succeeded", 1)
        assert ledger(stack, domain["name"]) == {"scripted": (1, 1, tokens_of(turn))}


def test_a_session_that_has_used_its_budget_stops_before_the_next_call(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, server):
        limits = {"limits": {"conversation_tokens": 3000}}
        stack.client.patch(f"/domains/{domain['id']}", json=limits).raise_for_status()
        session_id = make_session(stack, domain["name"])
        assert stack.chat(script({"text": "hello"}), session_id)["status"] == "succeeded"

        long = {**CALL, "text": "word " * 4_000}
        within = stack.finished(stack.submit(script(long, long), session_id)["turn_id"])
        after = stack.finished(stack.submit(script({"text": "no"}), session_id)["turn_id"])

    assert [turn["error"]["title"] for turn in (within, after)] == ["Session budget used up"] * 2
    assert [turn["usage"]["model_calls"] for turn in (within, after)] == [1, 0]
    assert "of the 3,000 tokens" in after["error"]["detail"]
    assert server.calls == []
    rows, _ = check_views(stack, session_id)
    assert rows[-1]["metadata"]["offer"] == "new_session"
    budget = stack.client.get(f"/sessions/{session_id}/usage").json()["budgets"]
    assert [(one["kind"], one["left"]) for one in budget] == [("session_tokens", 0)]


def test_a_domain_that_has_used_its_month_stops_all_its_sessions(stack: Stack) -> None:
    domain = make_domain(stack, limits={"domain_tokens_per_month": 100})
    first, second = (make_session(stack, domain["name"]) for _ in range(2))
    assert stack.chat(script({"text": "word " * 400}), first)["status"] == "succeeded"
    stack.client.delete(f"/sessions/{first}").raise_for_status()

    turn = stack.finished(stack.submit(script({"text": "no"}), second)["turn_id"])

    assert (turn["error"]["title"], turn["usage"]["model_calls"]) == ("Domain budget used up", 0)
    report = stack.client.get("/usage", params={"by": "domain"}).json()
    (found,) = [one for one in report["domains"] if one["domain"] == domain["name"]]
    assert found["budgets"][0]["used"] >= 100 and found["budgets"][0]["left"] == 0


def test_a_turn_ends_within_when_its_persons_day_is_used_up(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with (
        make_stack(servers, model, tmp_path, USER_TOKENS_PER_DAY="1000") as stack,
        tool_domain(stack, lambda name, arguments: "found", "look") as (domain, server),
    ):
        long = {**CALL, "text": "word " * 4_000}
        session_id = make_session(stack, domain["name"])
        turn = stack.finished(stack.submit(script(long, long), session_id)["turn_id"])

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Tokens used up")
    assert (turn["usage"]["model_calls"], server.calls) == (1, [])


def test_usage_is_reported_by_what_one_asks_for(stack: Stack) -> None:
    domain = make_domain(stack)
    turn = stack.turn(
        stack.chat(script({"text": "done"}), make_session(stack, domain["name"]))["turn_id"]
    )

    reports = {by: report(stack, by) for by in ("day", "owner", "domain", "model")}

    (row,) = [row for row in reports["domain"]["items"] if row["key"] == domain["name"]]
    assert {name: row[name] for name in COUNTED} == {n: turn["usage"][n] for n in COUNTED}
    assert row["turns"] == 1
    for one in reports.values():
        assert sum(item["turns"] for item in one["items"]) == one["total"]["turns"]
    assert "local" in [item["key"] for item in reports["owner"]["items"]]
    assert "scripted" in reports["model"]["unpriced"]
    assert len(reports["day"]["days"]) >= 1


def test_a_model_whose_endpoint_reports_no_tokens_is_named(stack: Stack) -> None:
    domain = make_domain(stack, model="quiet")
    session_id = make_session(stack, domain["name"])
    turn = stack.turn(stack.chat(script({"text": "done", "done": False}), session_id)["turn_id"])

    found = report(stack, "model")

    assert (turn["usage"]["model_calls"], turn["usage"]["input_tokens"]) == (1, 0)
    assert "quiet" in found["unreported"]


def test_the_figures_of_a_report_agree_while_usage_is_added(stack: Stack) -> None:
    domain, is_over = make_domain(stack), threading.Event()
    add = (
        "INSERT INTO usage_days (day, owner_id, domain_id, domain_name, model, turns, input_tokens)"
        " VALUES (now()::date, 'local', :id, :name, 'busy', 1, 10) ON CONFLICT (day, owner_id,"
        " team, domain_id, domain_name, model) DO UPDATE SET turns = usage_days.turns + 1,"
        " input_tokens = usage_days.input_tokens + 10"
    )

    def keep_adding() -> None:
        while not is_over.is_set():
            stack.query_and_commit(add, id=domain["id"], name=domain["name"])

    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(keep_adding)
        reports = [report(stack, "domain") for _ in range(20)]
        is_over.set()
        adding.result()

    for one in reports:
        total = one["total"]
        assert sum(item["turns"] for item in one["items"]) == total["turns"]
        assert sum(day["tokens"] for day in one["days"]) == tokens_of({"usage": total})


def test_a_turn_that_runs_counts_as_of_today(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script(CALL, {"text": "late", "wait": 60}), session_id)["turn_id"]
        stack.wait_for(lambda: stack.turn(turn)["steps"] == 2, "the tool does not end")

        (row,) = [row for row in report(stack, "domain")["items"] if row["key"] == domain["name"]]

        stop(stack, turn)
        stack.finished(turn)
    assert (row["turns"], row["model_calls"]) == (1, 1)


@pytest.mark.parametrize("query", ["days=0", "days=367", "by=colour", "days=many"])
def test_a_report_that_cannot_be_is_refused(stack: Stack, query: str) -> None:
    check_problem(stack.client.get(f"/usage?{query}"), 422)


def test_the_usage_of_no_session_is_not_found(stack: Stack) -> None:
    check_problem(stack.client.get(f"/sessions/{uuid4()}/usage"), 404)


def report(stack: Stack, by: str) -> JSON:
    answer = stack.client.get("/usage", params={"by": by})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_report_ends_on_the_day_that_the_database_has(servers: Servers) -> None:
    with closing(Database(servers.new_database())) as database, database.transaction() as session:
        session.execute(text(ANOTHER_DAY))
        session.execute(text("SET LOCAL search_path = public, pg_catalog"))

        report = report_usage(session, Settings(), LOCAL_USER, days=2, by=UsageBy.MODEL)

    assert (report.since, report.until) == (date(2099, 12, 30), date(2099, 12, 31))

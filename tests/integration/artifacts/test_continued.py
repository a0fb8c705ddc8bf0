"""A session that continues another one can use what was made there."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.artifacts.scenes import call, desk, make, version
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_problem, continued, make_domain
from tests.stack import Stack


def test_an_agent_reads_the_artifacts_of_the_session_that_it_continues(stack: Stack) -> None:
    session_id = desk(stack)
    report = make(stack, session_id, "document", "The report", content="Line one of it.")
    rows = [{"cost": 7}, {"cost": 9}]
    table = make(stack, session_id, "table", "Costs", content=rows)
    new_id = continued(stack, continued(stack, session_id)["id"])["id"]
    read, revise = "read_artifact", "revise_artifact"

    text = call(stack, new_id, read, artifact_id=report["artifact_id"])
    costs = call(stack, new_id, read, artifact_id=table["artifact_id"])
    revised = call(stack, new_id, revise, artifact_id=report["artifact_id"], content="Line two.")
    apart = call(stack, desk(stack), read, artifact_id=report["artifact_id"])
    new = make(stack, new_id, "document", "The report", content="Line two.")

    assert "Line one of it." in text
    assert "Costs" in costs
    assert "belongs to a session that this one continues" in revised
    assert "There is no such artifact" in apart
    assert len(version(stack, report)["versions"]) == 1
    listed = stack.client.get(f"/sessions/{new_id}/artifacts").json()["items"]
    assert [one["id"] for one in listed] == [new["artifact_id"]]


def test_what_two_sessions_show_stays_until_both_are_deleted(stack: Stack) -> None:
    session_id = desk(stack)
    shown = make(stack, session_id, "document", "The report", content="Line one of it.")
    first_id, second_id = (continued(stack, session_id)["id"] for _ in range(2))

    for deleted in (session_id, first_id):
        assert stack.client.delete(f"/sessions/{deleted}").status_code == 204

    listed = stack.client.get(f"/sessions/{second_id}/artifacts").json()["items"]
    assert [one["id"] for one in listed] == [shown["artifact_id"]]


def test_what_a_task_made_stays_in_a_session_that_continues_the_task(
    stack: Stack, model: ScriptedModel
) -> None:
    made = {"kind": "document", "title": "Report", "content": "Line one of it."}
    reply = {"tools": [{"name": "make_artifact", "args": made}]}
    team = Team(stack, model, lambda _: reply, specialist={"tools": ["make_artifact"]})
    turn = team.ask(plan(task("t1")))
    stack.finished(turn["turn_id"])
    new_id = continued(stack, team.tasks(turn["session_id"])["t1"]["session_id"])["id"]

    assert stack.client.delete(f"/sessions/{turn['session_id']}").status_code == 204

    (kept,) = stack.client.get(f"/sessions/{new_id}/artifacts").json()["items"]
    assert (
        "Line one of it."
        in version(stack, {"artifact_id": kept["id"], "version": 1})["preview"]["text"]
    )


@pytest.mark.parametrize("is_first_kept", [True, False])
def test_what_a_session_shows_stays_when_the_one_that_it_continues_is_deleted(
    stack: Stack, is_first_kept: bool
) -> None:
    session_id = desk(stack)
    shown = make(stack, session_id, "document", "The report", content="Line one of it.")
    first_id = continued(stack, session_id)["id"]
    last_id = continued(stack, first_id)["id"]
    later = make(stack, session_id, "document", "Later", content="Not in the copies.")

    for deleted in [session_id] if is_first_kept else [first_id, session_id]:
        assert stack.client.delete(f"/sessions/{deleted}").status_code == 204

    owner = first_id if is_first_kept else last_id
    assert version(stack, shown)["title"] == "The report"
    listed = stack.client.get(f"/sessions/{owner}/artifacts").json()["items"]
    assert [one["id"] for one in listed] == [shown["artifact_id"]]
    text = call(stack, last_id, "read_artifact", artifact_id=shown["artifact_id"])
    assert "Line one of it." in text
    check_problem(stack.client.get(f"/artifacts/{later['artifact_id']}"), 404)


def test_what_tasks_made_is_read_in_a_session_that_continues_their_plans_and_stays_with_it(
    stack: Stack, model: ScriptedModel
) -> None:
    def reply(name: str) -> JSON:
        made = {"kind": "document", "title": f"Report {name}", "content": f"Line one of {name}."}
        return {"tools": [{"name": "make_artifact", "args": made}]}

    team = Team(stack, model, reply, specialist={"tools": ["make_artifact"]})
    alone = {"name": "call_agent", "args": {"name": "Writer", "message": "work t2;"}}
    turn = team.ask(plan(task("t1")), alone)
    stack.finished(turn["turn_id"])
    session_id = turn["session_id"]
    listed = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    made = {one["title"]: one["id"] for one in listed}
    domain = make_domain(stack, agents=[{"name": "reader", "tools": ["read_artifact"]}])["name"]
    new_id = continued(stack, session_id, domain=domain)["id"]

    before = [call(stack, new_id, "read_artifact", artifact_id=each) for each in made.values()]
    assert stack.client.delete(f"/sessions/{session_id}").status_code == 204
    after = [call(stack, new_id, "read_artifact", artifact_id=each) for each in made.values()]

    assert set(made) == {"Report t1", "Report t2"}
    assert before == after
    assert all(
        f"Line one of {title[-2:]}." in text for title, text in zip(made, after, strict=True)
    )

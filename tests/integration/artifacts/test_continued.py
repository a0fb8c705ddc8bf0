"""A session that continues another one can use what was made there."""

from tests.integration.artifacts.scenes import call, desk, make, version
from tests.integration.scenes import continued
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

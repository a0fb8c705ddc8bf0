"""A payload that cannot become an artifact must not keep its turn from ending."""

import json

import pytest

from tests.fakes import ScriptedModel
from tests.integration.team.scenes import TeamModel, payload_of, response, team_session
from tests.stack import Stack


def test_a_payload_with_its_most_versions_lets_turns_end(
    stack: Stack, model: ScriptedModel
) -> None:
    team = TeamModel(model)
    session = team_session(stack)
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=1))
    stack.chat("@Sage note this", session)
    stack.query_and_commit(
        "INSERT INTO artifact_versions SELECT (jsonb_populate_record(v, '{\"version\": 1000}')).*"
        " FROM artifact_versions v JOIN artifacts a ON a.id = v.artifact_id"
        " WHERE a.conversation_id = :id",
        id=session,
    )
    stack.query_and_commit(
        "UPDATE artifacts SET version = 1000 WHERE conversation_id = :id", id=session
    )
    team.says["Sage"] = response("noted too", payloadChangeRequest=payload_of(more=2))

    turn = stack.submit("@Sage note that", session)

    ended = stack.finished(turn["turn_id"], seconds=60)
    assert (ended["status"], ended["error"], ended["attempts"]) == ("succeeded", None, 1)


def test_a_session_with_its_most_artifacts_lets_turns_end(
    stack: Stack, model: ScriptedModel
) -> None:
    team = TeamModel(model)
    session = team_session(stack)
    stack.query_and_commit(
        "INSERT INTO artifacts (id, conversation_id, kind, title, version)"
        " SELECT gen_random_uuid(), :id, 'json', 'x', 1 FROM generate_series(1, 2000)",
        id=session,
    )
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=1))

    turn = stack.submit("@Sage note this", session)

    ended = stack.finished(turn["turn_id"], seconds=60)
    assert (ended["status"], ended["error"], ended["attempts"]) == ("succeeded", None, 1)


@pytest.mark.parametrize("value", ["[" * 200 + "]" * 200, "[" * 55 + "]" * 55], ids=("200", "55"))
def test_any_payload_lets_its_turn_end(stack: Stack, model: ScriptedModel, value: str) -> None:
    team = TeamModel(model)
    session = team_session(stack)
    team.says["Sage"] = response("noted", payloadChangeRequest=payload_of(found=json.loads(value)))

    turn = stack.submit("@Sage note this", session)

    ended = stack.finished(turn["turn_id"], seconds=60)
    assert (ended["status"], ended["error"], ended["attempts"]) == ("succeeded", None, 1)

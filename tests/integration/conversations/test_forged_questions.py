"""Who can write to Redis cannot make a worker connect to servers, or act as somebody."""

from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from backend.operations.sealed_questions import seal
from backend.operations.server_checks import ANSWER, QUESTIONS, DryRunRequest, Question
from backend.schemas.domains.templates import DomainTemplate
from backend.settings import Settings
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

PATIENCE = 30


def question_about(server: ToolServer, asked: DryRunRequest | None = None) -> Question:
    draft = DomainTemplate.read({"name": "draft", "mcp_servers": {"s": server.template}})
    return Question(id=uuid4(), domain_id=None, draft=draft, asked=asked)


def check_others(stack: Stack) -> None:
    """Wait until the worker has taken what is in the queue, by a question of the API behind it."""
    body = {"template": {"name": "other", "mcp_servers": {}}}
    answer = stack.client.post("/domains/check/servers", json=body)
    assert answer.status_code == 200, answer.text


def sealed_by(stack: Stack, question: Question) -> str:
    settings = Settings(_env_file=None, data_dir=Path(stack.environment["DATA_DIR"]))
    return seal(settings, question)


@pytest.mark.parametrize(
    "asked",
    [
        None,
        DryRunRequest(agent=None, question="?", user_id="a"),
    ],
)
def test_a_forged_question_reaches_no_server(stack: Stack, asked: DryRunRequest | None) -> None:
    with (
        ToolServer([tool("look")], lambda *_: "seen") as server,
        Redis.from_url(stack.redis_url) as redis,
    ):
        forged = question_about(server, asked)
        redis.rpush(QUESTIONS, forged.model_dump_json())
        check_others(stack)
        answered = redis.blpop([f"{ANSWER}{forged.id}"], timeout=2)

    assert answered is None
    assert server.asked == []
    assert "is refused: it was not sealed by this installation" in stack.log.read_text()


def test_a_question_is_answered_once(stack: Stack) -> None:
    with (
        ToolServer([tool("look")], lambda *_: "seen") as server,
        Redis.from_url(stack.redis_url) as redis,
    ):
        question = question_about(server)
        sealed = sealed_by(stack, question)
        redis.rpush(QUESTIONS, sealed)
        assert redis.blpop([f"{ANSWER}{question.id}"], timeout=PATIENCE)
        asked = list(server.asked)
        redis.rpush(QUESTIONS, sealed)
        check_others(stack)
        answered_again = redis.blpop([f"{ANSWER}{question.id}"], timeout=2)

    assert asked
    assert answered_again is None
    assert server.asked == asked
    assert "is refused: it was asked before" in stack.log.read_text()

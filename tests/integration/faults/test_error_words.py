"""A provider's error whose last character was cut in half, one with NUL, an end that fails."""

from pathlib import Path

import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_views
from tests.stack import Servers, Stack

WORDS = {"half a character": "cut \\ud83d", "NUL": "cut \\u0000 off"}


@pytest.mark.parametrize("kind", WORDS)
def test_a_refusal_in_any_words_ends_the_turn_at_once(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    body = f'{{"error": {{"message": "{WORDS[kind]}", "type": "invalid_request_error"}}}}'
    model.steps = [{"raw": body.encode(), "status": 400, "media_type": "application/json"}]

    turn = stack.submit("hello")

    ended = stack.finished(turn["turn_id"], 60)
    assert (ended["status"], ended["attempts"]) == ("failed", 1)
    assert ended["error"]["detail"].startswith("The model refused the request: cut")
    check_views(stack, turn["session_id"])


@pytest.mark.parametrize("kind", WORDS)
def test_an_error_in_any_words_that_passes_is_waited_for(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    chunk = f'data: {{"error": {{"message": "overloaded {WORDS[kind]}"}}}}\n\n'
    bad = {"raw": chunk.encode()}
    steps = iter([bad])
    model.steps = lambda *_: next(steps, {"text": "well"})

    turn = stack.submit("hello")

    ended = stack.finished(turn["turn_id"], 60)
    assert (ended["status"], ended["error"], ended["attempts"]) == ("succeeded", None, 1)


def test_an_end_that_fails_ends_the_turn_at_once(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "points").mkdir()
    once = {
        "FAILPOINTS": "close.before_commit=raise",
        "FAILPOINTS_DIR": str(tmp_path / "points"),
    }
    with make_stack(servers, model, tmp_path, **once) as stack:
        stack.start_worker()

        turn = stack.submit("hello")

        ended = stack.finished(turn["turn_id"], 60)
        assert (ended["status"], ended["attempts"]) == ("failed", 1)
        assert ended["error"]["title"] == "Something went wrong"
        assert stack.chat("and now?", turn["session_id"])["status"] == "succeeded"
        check_views(stack, turn["session_id"])

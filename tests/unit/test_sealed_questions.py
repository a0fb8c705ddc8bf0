"""A question to workers opens in its own installation only, and for a short time."""

import json
import time
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet

from backend.connections.keyring import FILE, Keyring
from backend.operations.sealed_questions import PURPOSE, QuestionRefused, seal, unseal
from backend.operations.server_checks import Question
from backend.settings import Settings

QUESTION = Question(id=uuid4(), domain_id=None)


@pytest.fixture
def settings(tmp_path):
    return Settings(_env_file=None, data_dir=tmp_path)


def test_a_fresh_question_opens(settings):
    text = unseal(settings, seal(settings, QUESTION).encode(), 60)

    assert Question.model_validate_json(text) == QUESTION


def test_an_old_question_is_refused(settings):
    seal(settings, QUESTION)
    key = Fernet((settings.data_dir / FILE).read_bytes())
    body = json.dumps([PURPOSE, "a question"]).encode()
    old = key.encrypt_at_time(body, int(time.time()) - 90)

    assert unseal(settings, old, 120) == "a question"
    with pytest.raises(QuestionRefused, match="too long ago"):
        unseal(settings, old, 60)


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", QUESTION.model_dump_json().encode()])
def test_what_is_not_sealed_is_refused(settings, body):
    with pytest.raises(QuestionRefused):
        unseal(settings, body, 60)


def test_what_is_sealed_for_something_else_is_refused(settings):
    sealed = Keyring(settings).seal(QUESTION.model_dump_json(), "https://here.example/v1")

    with pytest.raises(QuestionRefused):
        unseal(settings, sealed.encode(), 60)


def test_another_installation_cannot_ask(settings, tmp_path):
    other = Settings(_env_file=None, data_dir=tmp_path / "other")
    seal(settings, QUESTION)

    with pytest.raises(QuestionRefused):
        unseal(settings, seal(other, QUESTION).encode(), 60)

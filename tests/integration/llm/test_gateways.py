"""What gateways and proxies in front of models say, as LiteLLM, nginx and Portkey were heard."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import SecretStr

from backend.connections.probe import probe
from backend.errors.base import ConfigurationError
from backend.errors.models import ConversationTooLong, ModelFailed
from backend.llm.connection import Connection
from backend.llm.events import ModelEvent, Waiting
from backend.llm.http import MAX_ERROR_BYTES
from backend.llm.patience import Patience
from backend.llm.provider import ModelProvider
from backend.settings import Settings
from tests.fakes import ScriptedModel
from tests.runs import GOOD, PATIENCE

KEY = "corp.Token-canary/0815"  # nothing about it looks like a key
SETTINGS = Settings(_env_file=None)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def said_by(
    endpoint: ScriptedModel,
    step: dict[str, Any],
    key: str = KEY,
    tell: Callable[[ModelEvent], None] | None = None,
    patience: Patience = PATIENCE,
) -> ModelFailed:
    """The failure of a request that is answered by this step, then by good answers."""
    endpoint.clear()
    steps = [step] * patience.tries
    endpoint.steps = lambda *_: steps.pop() if steps else GOOD
    provider = ModelProvider(SETTINGS, patience, Connection(endpoint.url, SecretStr(key), "large"))

    async def ask() -> ModelFailed:
        model = provider.chat_model().model_copy(update={"on_event": tell})
        with pytest.raises(ModelFailed) as raised:
            await model.ainvoke("go")
        await provider.aclose()
        return raised.value

    return asyncio.run(ask())


def asked_of(endpoint: ScriptedModel, *steps: dict[str, Any]) -> AIMessage:
    """The answer to a request, where the requests that it takes are answered by these steps."""
    endpoint.clear()
    left = list(steps)
    endpoint.steps = lambda *_: left.pop(0)
    provider = ModelProvider(SETTINGS, PATIENCE, Connection(endpoint.url, SecretStr(KEY), "large"))

    async def ask() -> AIMessage:
        answer = await provider.chat_model().ainvoke("go")
        await provider.aclose()
        return answer

    return asyncio.run(ask())


@pytest.mark.parametrize("status", [0, 400, 401, 403, 404, 413, 422, 429, 500])
def test_the_key_is_in_no_error_whatever_it_looks_like(
    endpoint: ScriptedModel, status: int
) -> None:
    said = f"Unknown token {KEY}, so go away"
    step = {"status": status, "text": said} if status else {"raw": _error_of(said)}

    failure = said_by(endpoint, step)

    assert "Unknown token … so go away" in failure.detail.replace("…,", "…")


def test_a_key_that_is_a_word_is_hidden_only_where_it_is_a_word(endpoint: ScriptedModel) -> None:
    failure = said_by(endpoint, {"status": 400, "text": "x marks the next text"}, key="x")

    assert "… marks the next text" in failure.detail


def test_the_words_after_a_key_are_not_taken_for_one(endpoint: ScriptedModel) -> None:
    said = "Incorrect API key provided: sk-of-Another*****4f2a. Or the key Zx81a-99 has expired."

    failure = said_by(endpoint, {"status": 401, "text": said})

    assert "“Incorrect API key provided: … Or the … has expired.”" in failure.detail


def test_no_key_is_sent_if_there_is_none() -> None:
    with ScriptedModel([GOOD], key="needed") as wanting:
        failure = said_by(wanting, GOOD, key="")

    assert "wants an API key" in failure.detail
    assert failure.detail.endswith(": None”")  # instead of a placeholder


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            {"status": 400, "text": "Invalid model name passed in model=large. Call `/v1/models`"},
            "The endpoint knows no model 'large'",
        ),
        ({"status": 400, "text": "Model Not Exist"}, "The endpoint knows no model 'large'"),
        ({"status": 405, "text": "Method Not Allowed"}, "nothing at this address (status 405)"),
        ({"status": 401, "text": "key not allowed to access model"}, "not allowed to access model"),
        (
            {"status": 422, "text": "Budget has been exceeded!", "code": "budget_exceeded"},
            "quota at the model's provider is used up",
        ),
        ({"status": 429, "text": "of 3 RPM", "headers": {"retry-after": "3600"}}, "60 minutes"),
        ({"status": 429, "text": "Limit type: requests"}, "“Limit type: requests”"),
        ({"status": 500, "text": "CUDA out of memory"}, "“CUDA out of memory”"),
        ({"status": 408, "text": "litellm.Timeout"}, "failed (status 408). Press Retry."),
        ({"status": 400, "text": "filtered by\n\nthe policy"}, "filtered by the policy. Change"),
        ({"raw": b"", "status": 400}, "refused the request (status 400). Change"),
        ({"raw": b'data: {"error": {"message": "Overloaded"}}\n\n'}, "Overloaded. Press Retry."),
    ],
)
def test_each_failure_says_what_happened_and_what_to_do(
    endpoint: ScriptedModel, step: dict[str, Any], words: str
) -> None:
    failure = said_by(endpoint, step)

    assert words in failure.detail


def test_another_parameter_that_a_model_does_not_know_is_not_the_model(
    endpoint: ScriptedModel,
) -> None:
    said = "Unknown parameter: 'stream_options' for the model large"

    failure = said_by(endpoint, {"status": 400, "text": said})

    assert "The model refused the request: Unknown parameter" in failure.detail


def test_a_request_that_a_proxy_finds_too_large_is_too_long(endpoint: ScriptedModel) -> None:
    page = b"<html><head><title>413 Request Entity Too Large</title></head></html>"

    failure = said_by(endpoint, {"raw": page, "status": 413, "media_type": "text/html"})

    assert isinstance(failure, ConversationTooLong)
    assert len(endpoint.requests) == 1


def test_the_time_that_the_provider_behind_a_gateway_asks_for_is_waited(
    endpoint: ScriptedModel,
) -> None:
    told: list[ModelEvent] = []
    limited = {"status": 429, "text": "slow", "headers": {"llm_provider-retry-after": "0.2"}}

    said_by(endpoint, limited, tell=told.append)

    waits = [event.seconds for event in told if isinstance(event, Waiting)]
    assert waits and min(waits) >= 0.2


def redirected_to(url: str) -> dict[str, Any]:
    return {"status": 307, "headers": {"location": url}}


def test_a_conversation_is_not_sent_to_another_host_than_the_one_that_was_chosen(
    endpoint: ScriptedModel,
) -> None:
    with ScriptedModel([GOOD]) as other:
        failure = said_by(endpoint, redirected_to(f"{other.url}/chat/completions"))
        connection = Connection(endpoint.url, SecretStr(KEY), "large")
        endpoint.steps = lambda *_: redirected_to(f"{other.url}/chat/completions")
        tested = asyncio.run(probe(connection, SETTINGS.outgoing))

    assert other.requests == []
    assert len(endpoint.requests) == 2
    for said in (failure.detail, tested.detail):
        assert f"redirects to {other.root_url.removeprefix('http://')}, another host" in said
        assert "was sent nothing" in said


def test_a_redirect_to_another_place_at_the_same_host_is_followed(endpoint: ScriptedModel) -> None:
    model = asked_of(endpoint, redirected_to("/v1/chat/completions?moved"), GOOD)

    assert model.text == GOOD["text"]


def test_of_an_error_without_end_only_the_beginning_is_read(endpoint: ScriptedModel) -> None:
    page = gzip.compress(b"x" * 100_000_000)
    assert len(page) > MAX_ERROR_BYTES

    headers = {"content-encoding": "gzip"}

    failure = said_by(endpoint, {"raw": page, "status": 400, "headers": headers})

    assert "refused the request: xxx" in failure.detail


def test_an_error_that_is_compressed_twice_is_not_unpacked(endpoint: ScriptedModel) -> None:
    page = gzip.compress(gzip.compress(bytes(2**26)))
    headers = {"content-encoding": "gzip, gzip"}

    failure = said_by(endpoint, {"raw": page, "status": 400, "headers": headers})

    assert "refused the request" in failure.detail


@pytest.mark.parametrize(
    "wrong", [{"HTTPS_PROXY": "foo://:canary@127.0.0.1:1"}, {"SSL_CERT_FILE": "/no/such/file"}]
)
def test_an_environment_that_cannot_be_used_is_explained(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    connection = Connection("https://models.invalid/v1", SecretStr(KEY), "large")

    with pytest.raises(ConfigurationError) as of_turn:
        ModelProvider(SETTINGS, PATIENCE, connection).chat_model()
    with pytest.raises(ConfigurationError) as of_test:
        asyncio.run(probe(connection, SETTINGS.outgoing))

    assert of_turn.value.detail == of_test.value.detail
    assert next(iter(wrong)) in of_test.value.detail
    assert "canary" not in of_test.value.detail


def test_a_password_in_the_environments_url_is_shown_to_nobody() -> None:
    url = "https://corp:canary@models.invalid:8443/v1"

    connection = Connection.of(Settings(_env_file=None, openai_base_url=url))

    assert connection.shown_url == "https://models.invalid:8443/v1"


def test_a_proxy_that_is_used_is_not_said_to_be_unused(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    connection = Connection("https://models.invalid/v1", SecretStr(KEY), "large")

    ModelProvider(SETTINGS, PATIENCE, connection).chat_model()

    assert caplog.records == []


def _error_of(words: str) -> bytes:
    return f'data: {{"error": {{"message": "{words}"}}}}\n\n'.encode()

"""What endpoints say when they refuse a request, in their own words, and what people read then."""

import json
from collections.abc import Iterator

import pytest

from backend.errors.models import ConversationTooLong, ModelUnavailable
from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.runs import failing

# As sent by vLLM, llama.cpp, LM Studio, Gemini, Anthropic, xAI, Qwen, Groq, OpenAI and Bedrock.
TOO_LONG: dict[str, tuple[int, JSON]] = {
    "vllm": (
        400,
        {
            "object": "error",
            "message": "The decoder prompt (length 5000) is longer than the maximum model length of"
            " 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    "llama_cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (9000 tokens) exceeds the available context size (4096 tokens)",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "llama_cpp_in_use": (
        500,
        {
            "error": {
                "code": 500,
                "message": "Context size has been exceeded.",
                "type": "server_error",
            }
        },
    ),
    "lm_studio": (
        400,
        {
            "error": "Trying to keep the first 4128 tokens when context the overflows. However, the"
            " model is loaded with context length of only 4096 tokens."
        },
    ),
    "gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1200000) exceeds the maximum number of"
                    " tokens allowed (1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "anthropic": (
        400,
        {
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 >"
                " 200000, decrease input length or `max_tokens` and try again",
            }
        },
    ),
    "xai": (
        400,
        {
            "error": "This model's maximum prompt length is 131072 but the request contains 537812"
            " tokens."
        },
    ),
    "qwen": (
        400,
        {
            "error": {
                "code": "invalid_parameter_error",
                "message": "<400> InternalError.Algo.InvalidParameter: Range of input length should"
                " be [1, 30720]",
            }
        },
    ),
    "groq": (
        413,
        {
            "error": {
                "message": "Request too large for model `llama` on tokens per minute (TPM): Limit"
                " 6000, Requested 9000, please reduce your message size and try again.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    "openai_per_minute": (
        429,
        {
            "error": {
                "message": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000,"
                " Requested 45000. The input or output tokens must be reduced.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
}

# Statuses 403 and 422 for other reasons than the key: OpenRouter, OpenAI, Mistral, FastAPI.
IN_WORDS: dict[str, tuple[int, JSON, str]] = {
    "moderation": (
        403,
        {"error": {"code": 403, "message": "Your input was flagged: violence"}},
        "Your input was flagged: violence",
    ),
    "country": (
        403,
        {
            "error": {
                "code": "unsupported_country_region_territory",
                "message": "Country, region, or territory not supported",
            }
        },
        "territory not supported",
    ),
    "mistral_field": (
        422,
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "stream_options"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
        },
        "body.stream_options: Extra inputs are not permitted",
    ),
    "fastapi_fields": (
        422,
        {
            "detail": [
                {"loc": ["body", "tools", 0], "msg": "Field required"},
                {"loc": ["body", "model"], "msg": "Input should be a valid string"},
            ]
        },
        "body.tools.0: Field required; body.model: Input should be a valid string",
    ),
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def refusing(endpoint: ScriptedModel, status: int, body: JSON) -> None:
    step = {"raw": json.dumps(body).encode(), "status": status, "media_type": "application/json"}
    endpoint.clear()
    endpoint.steps = [step]


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_request_that_is_too_long_is_sent_once_and_people_read_why(
    endpoint: ScriptedModel, name: str
) -> None:
    refusing(endpoint, *TOO_LONG[name])

    _, error = failing(endpoint.url, ConversationTooLong)

    assert "longer than this model can read" in error.detail
    assert not error.is_transient
    assert len(endpoint.requests) == 1


def test_a_stream_that_only_says_that_the_request_is_too_long_is_not_asked_for_again(
    endpoint: ScriptedModel,
) -> None:
    said = b'event: error\ndata: {"error": {"message": "the context size has been exceeded"}}\n\n'
    endpoint.clear()
    endpoint.steps = [{"raw": said}]

    _, error = failing(endpoint.url, ConversationTooLong)

    assert "the context size has been exceeded" in error.detail
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("name", IN_WORDS)
def test_a_refusal_for_another_reason_than_the_key_is_quoted(
    endpoint: ScriptedModel, name: str
) -> None:
    status, body, words = IN_WORDS[name]
    refusing(endpoint, status, body)

    _, error = failing(endpoint.url, ModelUnavailable)

    assert words in error.detail


def test_a_refused_key_is_not_repeated(endpoint: ScriptedModel) -> None:
    refusing(endpoint, 403, {"error": {"message": "Bad key sk-canary-123456"}})

    _, error = failing(endpoint.url, ModelUnavailable)

    assert "API key" in error.detail and "canary" not in error.detail

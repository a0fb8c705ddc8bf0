"""What went wrong at the model, in a sentence that a person may read: never a key or a trace."""

import re

import httpx2
import openai

from backend.errors import AppError, IncompleteAnswer, ModelUnavailable

MAX_DETAIL = 300
_SECRET = re.compile(r"\b(sk|pk|key|bearer)[-_ ][\w\-*.]{4,}", re.IGNORECASE)
_TOO_LONG = ("context_length_exceeded", "context window", "prompt is too long", "maximum context")

_BROKEN_OFF = (openai.APIConnectionError, httpx2.HTTPError, UnicodeDecodeError, ValueError)
FAILURES = (openai.OpenAIError, httpx2.HTTPError, TimeoutError, UnicodeDecodeError, ValueError)


def explain_failure(error: Exception, model: str, began: bool) -> AppError:
    """Return the error of our own for one of FAILURES; `began`: the answer had begun to arrive."""
    if isinstance(error, AppError):
        return error
    if isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException):
        return ModelUnavailable("The model was silent for too long. Press Retry.")
    if isinstance(error, openai.APIStatusError):
        return ModelUnavailable(_status_sentence(error, model))
    if began and isinstance(error, _BROKEN_OFF):
        return IncompleteAnswer()
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("The model's endpoint cannot be reached. Check OPENAI_BASE_URL.")
    if isinstance(error, openai.APIError):
        return ModelUnavailable(_body_sentence(error))
    return ModelUnavailable("The model's endpoint gave an answer that cannot be read.")


def _status_sentence(error: openai.APIStatusError, model: str) -> str:
    status = error.status_code
    if status in (401, 403):
        return "The model's endpoint refused the API key. Check OPENAI_API_KEY."
    if status == 404:
        return (
            f"The endpoint knows no model {model!r}. "
            "Check MODEL, the domain's model and OPENAI_BASE_URL."
        )
    if status == 429:
        return "The model's rate limit or quota is reached. Wait a little, then press Retry."
    if status >= 500:
        return f"The model's endpoint failed (status {status}). Press Retry."
    return _body_sentence(error)


def _body_sentence(error: openai.APIError) -> str:
    if any(sign in str(error).lower() for sign in _TOO_LONG):
        return (
            "The conversation is longer than this model can read. "
            "Start a new session, or give the domain the middleware recent_messages."
        )
    said = _SECRET.sub("…", error.message)[:MAX_DETAIL]
    return f"The model refused the request: {said}"

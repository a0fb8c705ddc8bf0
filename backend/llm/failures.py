"""Explaining a model's failure in a sentence for people: never a key or a stack trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai

from backend.errors.models import (
    ConversationTooLong,
    IncompleteAnswer,
    ModelFailed,
    ModelUnavailable,
)
from backend.llm.answer import Answer
from backend.llm.quoting import MAX_CHARS, error_in, quote, without_secrets, words_in
from backend.text import clean_text

CHECK = "Check the connection on the Models page, or OPENAI_BASE_URL."
# Each endpoint says in words of its own that a request is too long.
_TOO_LONG = (
    *("context_length", "context length", "context window", "context size", "context limit"),
    *("maximum context", "maximum model length", "maximum prompt length", "input token count"),
    *("prompt is too long", "input is too long", "range of input length", "request too large"),
)
_USED_UP = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_PASSING_STATUS = (408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529)
_LASTING = (
    "invalid_request_error",
    "authentication_error",
    "invalid_api_key",
    "permission_error",
    "not_found_error",
    "content_filter",
    *_USED_UP,
    *(str(status) for status in range(400, 500) if status not in _PASSING_STATUS),
)
# A mistake of the model that its provider reports as an error: a retry may succeed.
_SLIPS = ("tool_use_failed", "json_validate_failed")
_NO_MODEL = ("model_not_found", "deploymentnotfound", "modelnotfound")

FAILURES = (
    IncompleteAnswer,
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    TimeoutError,
    ValueError,
    RecursionError,  # JSON that is nested too deeply
)


@dataclass(frozen=True)
class ModelFailure:
    """Why there is no answer. `is_transient`: a retry may bring one.

    `cost`: how many tries it uses up. `retry_after`: the seconds that the provider asks for.
    """

    error: ModelFailed
    is_transient: bool
    cost: int = 1
    retry_after: float | None = None

    @property
    def reason(self) -> str:
        """Return what happened, without the advice for when a turn ends."""
        return self.error.detail.split(". ")[0].rstrip(".") + "."


def explain_failure(error: Exception, model: str, answer: Answer) -> ModelFailure:
    """Return what one of FAILURES means; `answer` holds what had arrived by then."""
    if isinstance(error, IncompleteAnswer):
        return ModelFailure(error, is_transient=answer.is_worth_another_try)
    if _is_timeout(error):
        sentence = "The model was silent for too long. Press Retry."
        return ModelFailure(ModelUnavailable(sentence), is_transient=True, cost=2)
    if _is_slip(error):
        return ModelFailure(IncompleteAnswer(_slip_sentence(error)), is_transient=True)
    if isinstance(error, openai.APIError) and _is_too_long(error):
        return ModelFailure(ConversationTooLong(_too_long_sentence(error)), is_transient=False)
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, model)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return _explain_body(error)
    if answer.has_begun:
        return ModelFailure(IncompleteAnswer(), is_transient=True)
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
        sentence = "The model's endpoint cannot be reached. " + CHECK
    else:
        sentence = "The model's endpoint gave an answer that cannot be read. " + CHECK
    return ModelFailure(ModelUnavailable(sentence), is_transient=True)


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return Retry-After in seconds; a date is measured by the provider's clock."""
    value = headers.get("retry-after", "")
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = float(milliseconds) / 1000
        elif "," in value:
            until, now = (parsedate_to_datetime(text) for text in (value, headers.get("date", "")))
            seconds = max((until - now).total_seconds(), 0.0)
        else:
            seconds = float(value)
    except (ValueError, TypeError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _seconds_in(body: Any) -> float | None:
    """Return the seconds to wait that an error names; Google sends them there, not as a header."""
    error = error_in(body)
    details = error.get("details") if isinstance(error, dict) else None
    parts = details if isinstance(details, list) else ()
    named = (part.get("retryDelay") for part in parts if isinstance(part, dict))
    delay = next((delay for delay in named if isinstance(delay, str)), "")
    return seconds_to_wait({"retry-after": delay.removesuffix("s")})


def _is_timeout(error: Exception) -> bool:
    """Return whether it is silence; failing to connect counts as unreachable instead."""
    if isinstance(error.__cause__, httpx2.ConnectTimeout):
        return False
    return isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException)


def _explain_status(error: openai.APIStatusError, model: str) -> ModelFailure:
    status = error.status_code
    passing = status in _PASSING_STATUS
    if status in (401, 403):
        sentence = _not_allowed_sentence(error)
    elif status == 404:
        sentence = _not_found_sentence(error, model)
    elif status == 402 or _codes(error) & set(_USED_UP):
        sentence = "The account's quota at the model's provider is used up. Add to it."
        passing = False
    elif status == 429:
        sentence = "The model's rate limit or quota is reached. Wait a moment, then press Retry."
    elif status >= 500:
        sentence = f"The model's endpoint failed (status {status}). Press Retry."
    else:
        sentence = _body_sentence(error)
    seconds = seconds_to_wait(error.response.headers)
    if seconds is None:
        seconds = _seconds_in(error.body)
    return ModelFailure(ModelUnavailable(sentence), passing, retry_after=seconds)


def _explain_body(error: openai.APIError) -> ModelFailure:
    """Explain an error sent with status 200, instead of the answer or in the middle of it.

    Its code may be the status that the response would have had.
    """
    lasting = _codes(error) & set(_LASTING)
    return ModelFailure(ModelUnavailable(_body_sentence(error)), is_transient=not lasting)


def _codes(error: openai.APIError) -> set[str]:
    return {str(error.code), str(error.type)}


def _is_too_long(error: openai.APIError) -> bool:
    """Return whether only a shorter request can succeed, whatever its status."""
    said = f"{error.message} {error.code} {words_in(error.body)}".lower()
    return any(sign in said for sign in _TOO_LONG)


def _is_slip(error: Exception) -> bool:
    if not isinstance(error, openai.APIError):
        return False
    body = error.body if isinstance(error.body, dict) else {}
    return bool(_codes(error) & set(_SLIPS)) or "failed_generation" in body


def _slip_sentence(error: Exception) -> str:
    """Return what the model did wrong, quoting what it wrote."""
    sentence = "The model wrote a call that its provider could not read, and nothing was run."
    body = getattr(error, "body", None)
    wrote = body.get("failed_generation") if isinstance(body, dict) else None
    if isinstance(wrote, str) and wrote.strip():
        sentence += f" It wrote: {quote(wrote)}"
    return f"{sentence} Press Retry, or rephrase the message."


def _not_allowed_sentence(error: openai.APIStatusError) -> str:
    """Return that the key was refused; a 403 may have other reasons, so quote the endpoint."""
    reply = words_in(error.body)
    if error.status_code == 401 or not reply:
        return (
            "The model's endpoint refused the API key. Check it on the Models page, or"
            " OPENAI_API_KEY."
        )
    return (
        "The model's endpoint refused the request or the API key (status 403). "
        f"It says: {quote(reply)}"
    )


def _not_found_sentence(error: openai.APIStatusError, model: str) -> str:
    """Return what was not found, the model or the address; if unclear, quote the endpoint."""
    reply = words_in(error.body)
    lower = reply.lower()
    knows_no_model = any(code.lower() in _NO_MODEL for code in _codes(error))
    if knows_no_model or "model" in lower or (reply and model.lower() in lower):
        return (
            f"The endpoint knows no model {model!r}. Check the domain's model, and the Models "
            f"page or MODEL and OPENAI_BASE_URL. It says: {quote(reply)}"
        )
    answer = f" It says: {quote(reply)}" if reply else ""
    return (
        "The model's endpoint has nothing at this address (status 404). Check it on the Models "
        f"page, or OPENAI_BASE_URL, which usually ends in /v1, and MODEL.{answer}"
    )


def _too_long_sentence(error: openai.APIError) -> str:
    """Return the advice, and the endpoint's words, which name its limit."""
    reply = words_in(error.body)
    answer = f" It says: {quote(reply)}" if reply else ""
    return (
        "The conversation is longer than this model can read. Start a new session, or add the "
        f"middleware summarization to the domain, or lower its trigger_tokens.{answer}"
    )


def _body_sentence(error: openai.APIError) -> str:
    reason = clean_text(without_secrets(words_in(error.body) or error.message))[:MAX_CHARS]
    return f"The model refused the request: {reason}"

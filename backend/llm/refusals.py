"""Explaining what an endpoint says instead of an answer: its status, its codes and its words."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Self

import openai

from backend.llm.quoting import MAX_WORDS, error_in, one_line, quote, without_key, words_in

# Each endpoint says in words of its own that a request is too long.
_TOO_LONG = (
    *("context_length", "context length", "context window", "context size", "context limit"),
    *("maximum context", "maximum model length", "maximum prompt length", "input token count"),
    *("prompt is too long", "input is too long", "range of input length", "request too large"),
)
_TOO_LARGE = 413  # often a proxy's, whose page does not say it
_USED_UP = (
    *("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"),
    *("budget_exceeded", "402"),
)
_PASSING_STATUS = (408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529)
_LASTING = (
    "invalid_request_error",
    "authentication_error",
    "invalid_api_key",
    "permission_error",
    "not_found_error",
    "content_filter",
    *(str(status) for status in range(400, 500) if status not in _PASSING_STATUS),
)
# A mistake of the model that its provider reports as an error: a retry may succeed.
_SLIPS = ("tool_use_failed", "json_validate_failed")
_NO_MODEL = ("model_not_found", "deploymentnotfound", "modelnotfound")
_NO_MODEL_WORDS = re.compile(
    r"(?:invalid|unknown|no such|not a valid) model|model\b.{0,200}(?:not found|not exist|unknown)",
    re.DOTALL,
)
_REFUSED_KEY = (
    "The model's endpoint refused the API key. Check it on the Models page, or OPENAI_API_KEY."
)
_NO_KEY = (
    "The model's endpoint wants an API key. Enter it on the Models page, or set OPENAI_API_KEY."
)
# LiteLLM passes on its provider's header under a name of its own.
_WAIT_HEADERS = ("retry-after", "llm_provider-retry-after")
_LONG_WAIT = 120.0


@dataclass(frozen=True)
class Refusal:
    """An error that an endpoint sent. `status`: 0 if it came as, or within, an answer.

    `words`: the endpoint's, without the key that was sent, and `said`: all that it sent, only to be
    searched. `wrote`: the call of the model that its provider could not read. `retry_after`: the
    seconds that it asks for.
    """

    status: int
    codes: frozenset[str]
    words: str
    said: str
    has_key: bool = True
    is_slip: bool = False
    wrote: str = ""
    retry_after: float | None = None

    @classmethod
    def of(cls, error: openai.APIError, key: str) -> Self:
        """Return the refusal that an error holds; `key` was sent, and must not be repeated."""
        body = error.body
        response = error.response if isinstance(error, openai.APIStatusError) else None
        codes = frozenset((str(error.code), str(error.type)))
        wrote = body.get("failed_generation") if isinstance(body, dict) else None
        words = words_in(body) or ("" if response else error.message[:MAX_WORDS])
        return cls(
            status=response.status_code if response else 0,
            codes=codes,
            words=without_key(words, key),
            said=f"{error.message[:MAX_WORDS]} {words}".lower(),
            has_key=bool(key),
            is_slip=bool(codes & set(_SLIPS)) or wrote is not None,
            wrote=without_key(wrote, key) if isinstance(wrote, str) else "",
            retry_after=_seconds_asked(response.headers if response else {}, body),
        )

    @property
    def is_too_long(self) -> bool:
        """Return whether only a shorter request can succeed, whatever its status."""
        said = f"{self.said} {' '.join(self.codes)}"
        return self.status == _TOO_LARGE or any(sign in said for sign in _TOO_LONG)

    @property
    def is_passing(self) -> bool:
        """Return whether the same request may succeed later."""
        if self._is_used_up:
            return False
        return self.status in _PASSING_STATUS if self.status else not self.codes & set(_LASTING)

    def sentence(self, model: str) -> str:
        """Return what happened and what to do, in the endpoint's words where they may help."""
        if said := self._of_model(model) or self._of_status():
            return f"{said} It says: {quote(self.words)}" if self.words else said
        words = f": {_ended(one_line(self.words))}" if self.words else f" (status {self.status})."
        if self.is_passing:
            return f"The model's endpoint reported an error{words} Press Retry."
        return f"The model refused the request{words} Change the message or the domain's model."

    def too_long_sentence(self) -> str:
        """Return the advice, and the endpoint's words, which name its limit."""
        says = f" It says: {quote(self.words)}" if self.words else ""
        return (
            "The conversation is longer than this model can read. Start a new session, or add the "
            f"middleware summarization to the domain, or lower its trigger_tokens.{says}"
        )

    def slip_sentence(self) -> str:
        """Return what the model did wrong, quoting what it wrote."""
        says = f" It wrote: {quote(self.wrote)}" if self.wrote.strip() else ""
        return (
            "The model wrote a call that its provider could not read, and nothing was run."
            f"{says} Press Retry, or rephrase the message."
        )

    @property
    def _is_used_up(self) -> bool:
        return self.status == 402 or bool(self.codes & set(_USED_UP))

    def _of_model(self, model: str) -> str:
        if not self.status or not is_about_model(self.status, self.codes, self.words, model):
            return ""
        return (
            f"The endpoint knows no model {model!r}. Check the domain's model, and the Models page "
            "or MODEL and OPENAI_BASE_URL."
        )

    def _of_status(self) -> str:
        if self._is_used_up:
            return "The account's quota at the model's provider is used up. Add to it."
        if self.status == 401 or (self.status == 403 and not self.words):
            return _REFUSED_KEY if self.has_key else _NO_KEY
        if self.status == 403:
            return "The model's endpoint refused the request or the API key (status 403)."
        if self.status in (404, 405):
            return (
                f"The model's endpoint has nothing at this address (status {self.status}). Check it"
                " on the Models page, or OPENAI_BASE_URL, which usually ends in /v1, and MODEL."
            )
        if self.status == 429:
            wait = _in_words(self.retry_after or 0.0)
            return f"The model's rate limit or quota is reached. Wait {wait}, then press Retry."
        if self.status in _PASSING_STATUS or self.status >= 500:
            return f"The model's endpoint failed (status {self.status}). Press Retry."
        return ""


def is_about_model(status: int, codes: Collection[str], words: str, model: str) -> bool:
    """Return whether a refusal says that there is no such model."""
    if any(code.lower() in _NO_MODEL for code in codes):
        return True
    lower = words.lower()
    if status == 404:
        return bool(words) and ("model" in lower or model.lower() in lower)
    return status in (400, 422) and _NO_MODEL_WORDS.search(lower) is not None


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return Retry-After in seconds; a date is measured by the provider's clock."""
    value = next((given for name in _WAIT_HEADERS if (given := headers.get(name))), "")
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


def _seconds_asked(headers: Mapping[str, str], body: Any) -> float | None:
    """Return the seconds to wait that an error names; Google sends them in its body."""
    if (seconds := seconds_to_wait(headers)) is not None:
        return seconds
    error = error_in(body)
    details = error.get("details") if isinstance(error, dict) else None
    parts = details if isinstance(details, list) else ()
    named = (part.get("retryDelay") for part in parts if isinstance(part, dict))
    delay = next((delay for delay in named if isinstance(delay, str)), "")
    return seconds_to_wait({"retry-after": delay.removesuffix("s")})


def _in_words(seconds: float) -> str:
    return f"{math.ceil(seconds / 60):,} minutes" if seconds >= _LONG_WAIT else "a moment"


def _ended(words: str) -> str:
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."

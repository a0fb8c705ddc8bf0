"""Explaining a model's failure in a sentence for people: never a key or a stack trace."""

from dataclasses import dataclass

import httpx2
import openai

from backend.errors.models import (
    ConversationTooLong,
    IncompleteAnswer,
    ModelFailed,
    ModelUnavailable,
)
from backend.errors.outgoing import AddressRefused
from backend.llm.answer import Answer
from backend.llm.http import RedirectedElsewhere
from backend.llm.refusals import Refusal

CHECK = "Check the connection on the Models page, or OPENAI_BASE_URL."

FAILURES = (
    AddressRefused,
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


def explain_failure(error: Exception, model: str, answer: Answer, key: str = "") -> ModelFailure:
    """Return what one of FAILURES means; `answer` holds what had arrived, `key` was sent."""
    if isinstance(error, IncompleteAnswer):
        return ModelFailure(error, is_transient=answer.is_worth_another_try)
    if _is_timeout(error):
        sentence = "The model was silent for too long. Press Retry."
        return ModelFailure(ModelUnavailable(sentence), is_transient=True, cost=2)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return _explain_refusal(Refusal.of(error, key), model)
    if answer.has_begun:
        return ModelFailure(IncompleteAnswer(), is_transient=True)
    if isinstance(error.__cause__, RedirectedElsewhere):
        sentence = f"The model's endpoint {error.__cause__} {CHECK}"
        return ModelFailure(ModelUnavailable(sentence), is_transient=False)
    if isinstance(error, AddressRefused):
        # Repeated like any other connection that fails, because the name may not resolve just now.
        sentence = f"The model's endpoint cannot be reached: {error.reason}. {CHECK}"
    elif isinstance(error, openai.APIConnectionError | httpx2.TransportError):
        sentence = "The model's endpoint cannot be reached. " + CHECK
    else:
        sentence = "The model's endpoint gave an answer that cannot be read. " + CHECK
    return ModelFailure(ModelUnavailable(sentence), is_transient=True)


def _explain_refusal(refusal: Refusal, model: str) -> ModelFailure:
    if refusal.is_slip:
        return ModelFailure(IncompleteAnswer(refusal.slip_sentence()), is_transient=True)
    if refusal.is_too_long:
        too_long = ConversationTooLong(refusal.too_long_sentence())
        return ModelFailure(too_long, is_transient=False)
    error = ModelUnavailable(refusal.sentence(model))
    return ModelFailure(error, refusal.is_passing, retry_after=refusal.retry_after)


def _is_timeout(error: Exception) -> bool:
    """Return whether it is silence; failing to connect counts as unreachable instead."""
    if isinstance(error.__cause__, httpx2.ConnectTimeout):
        return False
    return isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException)

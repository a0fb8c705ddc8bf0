"""Asking a model for one answer, with retries within limits, and reporting each event."""

import asyncio
from collections.abc import Awaitable, Callable

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata, add_usage

from backend.errors.models import IncompleteAnswer
from backend.llm.answer import Answer
from backend.llm.events import ModelEvent, Reset, Waiting
from backend.llm.failures import FAILURES, ModelFailure
from backend.llm.patience import Patience

EMPTY = ModelFailure(IncompleteAnswer("The model gave an empty answer."), is_transient=True)

Receive = Callable[[Answer, float], Awaitable[None]]
Explain = Callable[[Exception, Answer], ModelFailure]
Tell = Callable[[ModelEvent], None]


class Asking:
    """Asks for one answer; its events go to `tell`. `begin` makes what each try is read into.

    `explain` may raise an error that ends the asking.
    """

    def __init__(
        self, explain: Explain, begin: Callable[[], Answer], patience: Patience, tell: Tell
    ) -> None:
        self._explain = explain
        self._begin = begin
        self._patience = patience
        self._tell = tell
        self._deadline = asyncio.get_running_loop().time() + patience.answer_seconds
        self._failures = 0
        self._tries = 0
        self._resets = 0
        self._empty = 0
        self._spent: UsageMetadata | None = None

    async def ask(self, receive: Receive) -> AIMessage:
        """Return the whole answer. `receive` fills an Answer until a deadline by the loop's clock.

        Raise ModelUnavailable or IncompleteAnswer once another try is pointless. An answer that is
        empty twice is returned: whatever shows it says so.
        """
        while True:
            answer = self._begin()
            try:
                await receive(answer, self._deadline)
                message = answer.message()
            except FAILURES as error:
                self._count(answer.usage)
                await self._wait(answer, self._explain(error, answer))
                continue
            message.usage_metadata = self._count(message.usage_metadata)
            if not answer.is_empty or self._empty:
                return message
            self._empty += 1
            await self._wait(answer, EMPTY)

    async def _wait(self, answer: Answer, failure: ModelFailure) -> None:
        """Wait until it is time to retry; raise the failure's error if a retry is pointless."""
        failure.error.is_transient = failure.is_transient
        seconds = self._seconds_to_wait(answer, failure)
        if answer.was_shown:
            self._tell(Reset(answer.message_id, failure.reason))
        self._tell(Waiting(seconds, failure.reason))
        await asyncio.sleep(seconds)

    def _seconds_to_wait(self, answer: Answer, failure: ModelFailure) -> float:
        patience = self._patience
        self._failures += 1
        if answer.has_begun:
            self._resets += 1
        else:
            self._tries += failure.cost
        if not failure.is_transient or self._resets > patience.resets:
            raise failure.error
        if self._tries >= patience.tries:
            raise failure.error
        seconds = patience.wait_before(self._failures, failure.retry_after)
        too_late = asyncio.get_running_loop().time() + seconds > self._deadline
        if too_late or (failure.retry_after or 0) > patience.longest_wait:
            raise failure.error
        return seconds

    def _count(self, usage: UsageMetadata | None) -> UsageMetadata | None:
        """Add the usage of a dropped answer to that of the next one."""
        self._spent = add_usage(self._spent, usage) if self._spent or usage else None
        return self._spent

"""How long to wait for a model, and how often to ask it again."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """The limits of one answer, in seconds and tries.

    `tries`: how often it is asked for while nothing of it arrives; silence costs two of them.
    `resets`: how often an answer that broke off is dropped and asked for again. `longest_wait`: a
    provider that asks for more time than this (Retry-After) is not asked again.
    """

    first_token_seconds: float = 180.0
    silence_seconds: float = 90.0
    answer_seconds: float = 3_600.0
    tries: int = 6
    resets: int = 2
    first_wait: float = 0.5
    longest_wait: float = 300.0
    longest_backoff: float = 30.0

    def wait_before(self, number: int, retry_after: float | None) -> float:
        """Return how long to wait before asking again for the `number`th time, from 1.

        The wait is random, so that callers refused together do not retry together.
        """
        if retry_after is not None:
            return retry_after * random.uniform(1.0, 1.1)  # noqa: S311  # not a secret
        backoff = min(self.first_wait * 2.0 ** (number - 1), self.longest_backoff)
        return backoff * random.uniform(0.5, 1.0)  # noqa: S311

"""Detecting an agent that makes no progress: repeated calls, or unreadable ones. Pure."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from backend.errors.models import IncompleteAnswer
from backend.errors.turns import EndlessLoop
from backend.types import JSON
from colloquy_kit.messages.arguments import UNREADABLE

SAME_ROUNDS = 20
UNREADABLE_ROUNDS = 3


def check_loops(messages: list[JSON]) -> None:
    """Raise if the last message's calls continue too long a run that makes no progress.

    EndlessLoop: the same calls, always with the same results. (Polling whether a job is done is
    allowed for a while.) IncompleteAnswer: arguments that cannot be read.
    """
    if not messages or not messages[-1].get("tool_calls"):
        return
    if _is_unreadable(messages[-1]):
        _check_unreadable(messages)
    calls, results = _calls(messages[-1]), None
    same = 1
    for asked, given in _rounds_before(messages):
        if _calls(asked) != calls or given != (results or given):
            break
        results, same = given, same + 1
        if same > SAME_ROUNDS:
            name = calls[0][0]
            raise EndlessLoop(
                f"The agent called {name} {SAME_ROUNDS} times in a row with the same arguments and "
                "got the same result each time. Rephrase the message."
            )


def _check_unreadable(messages: list[JSON]) -> None:
    earlier = takewhile(lambda turn: _is_unreadable(turn[0]), _rounds_before(messages))
    count = 1 + sum(1 for _ in earlier)
    if count >= UNREADABLE_ROUNDS:
        raise IncompleteAnswer(
            f"The model gave arguments that cannot be read, {count} times in a row; "
            "no tool was run with them. Press Retry."
        )


def _rounds_before(messages: list[JSON]) -> Iterator[tuple[JSON, list[Any]]]:
    """Yield the turn's earlier messages with calls, each with its results, newest first."""
    results: list[Any] = []
    for message in reversed(messages[:-1]):
        if message["role"] == "tool":
            results.append(message.get("content"))
        elif message.get("tool_calls"):
            yield message, results
            results = []
        else:
            return


def _calls(message: JSON) -> list[tuple[str, str]]:
    functions = [call["function"] for call in message["tool_calls"]]
    return [(function["name"], function["arguments"]) for function in functions]


def _is_unreadable(message: JSON) -> bool:
    return UNREADABLE in message.get("additional_kwargs", {})

"""Plays recordings: a scripted model, a tool server and a domain for each, people over the API."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from uuid import uuid4

from mcp.types import CallToolResult

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.replay.recordings import Recording
from tests.servers.tool import ToolServer, text_result, tool
from tests.stack import Stack

TURN_SECONDS = 120
SUMMARY_PROMPT = "Context Extraction Assistant"


class RecordedTools:
    """Returns what was recorded, batch by batch; calls of one batch may arrive in any order."""

    def __init__(self, recording: Recording) -> None:
        self._batches = [
            [_call(call["function"]) for call in message["tool_calls"]]
            for message in recording.messages
            if message.get("tool_calls")
        ]
        self._results = iter([m["content"] for m in recording.messages if m["role"] == "tool"])
        self._waiting: list[tuple[tuple[str, JSON], str]] = []
        self.server = ToolServer([tool(name) for name in recording.tool_names], self.call)

    def call(self, name: str, arguments: JSON) -> CallToolResult:
        if not self._waiting:
            self._waiting = [(called, next(self._results)) for called in self._batches.pop(0)]
        found = next(pair for pair in self._waiting if pair[0] == (name, arguments))
        self._waiting.remove(found)
        return text_result(found[1])


def _call(function: JSON) -> tuple[str, JSON]:
    return function["name"], json.loads(function["arguments"])


@dataclass
class Played:
    """A recording as it was played: the session, and what the model was sent."""

    recording: Recording
    session_id: str
    domain: str
    requests: list[list[JSON]]
    turns: list[str]
    summaries: int = 0

    def answer(self, messages: list[JSON], body: JSON) -> JSON:
        """What the model says next; to a policy that wants a summary, that it has one."""
        if SUMMARY_PROMPT in str(messages[-1]["content"]):
            self.summaries += 1
            return {"text": f"Summary {self.summaries}."}
        recorded = self.recording.requests[len(self.requests) :]
        self.requests.append(messages)
        return self.recording.answer(recorded[0] if self.summaries and recorded else messages, body)


@dataclass(frozen=True)
class Replay:
    """All recordings, played on one stack."""

    stack: Stack
    played: dict[str, Played]

    def rows(self, name: str) -> list[JSON]:
        """The session's display messages."""
        return self.stack.messages(self.played[name].session_id)


@contextmanager
def play(
    stack: Stack,
    model: ScriptedModel,
    recordings: Sequence[Recording],
    between_turns: Callable[[], None],
    middleware: Sequence[JSON] = (),
    make_tools: Callable[[Recording], Any] = RecordedTools,
) -> Iterator[Replay]:
    """Play all recordings side by side, one turn of each at a time."""
    with ExitStack() as servers:
        played = {r.name: _open(stack, servers, r, middleware, make_tools(r)) for r in recordings}
        by_domain = {one.domain: one for one in played.values()}

        def answer(messages: list[JSON], body: JSON) -> JSON:
            return by_domain[body["model"]].answer(messages, body)

        model.steps = answer
        for number, words in enumerate(zip_longest(*(r.people_say for r in recordings))):
            if number:
                between_turns()
            _take_turns(stack, list(played.values()), words)
        yield Replay(stack, played)


def _open(
    stack: Stack, servers: ExitStack, recording: Recording, middleware: Sequence[JSON], made: Any
) -> Played:
    """Make the recording's domain, whose model's name tells the recordings apart."""
    domain = f"{recording.name}-{uuid4().hex[:6]}"
    tools = servers.enter_context(made.server)
    template = {
        "name": domain,
        "model": domain,
        "system_prompt": recording.system_prompt,
        "mcp_servers": {
            "recorded": tools.template | {"connect_seconds": 120}
        },  # a busy machine is slow
        "middleware": list(middleware),
    }
    made = stack.client.post("/domains", json=template)
    assert made.status_code == 201, made.text
    session = stack.client.post("/sessions", json={"domain": domain})
    assert session.status_code == 201, session.text
    return Played(recording, session.json()["id"], domain, [], [])


def _take_turns(stack: Stack, played: Sequence[Played], words: Sequence[str | None]) -> None:
    taking = [(one, text) for one, text in zip(played, words, strict=True) if text is not None]
    submitted = [stack.submit(text, one.session_id)["turn_id"] for one, text in taking]
    for (one, _), turn_id in zip(taking, submitted, strict=True):
        one.turns.append(stack.finished(turn_id, TURN_SECONDS)["status"])

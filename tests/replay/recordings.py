"""Recorded conversations: read from the corpus, and what a replay of one must show."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from backend.types import JSON

ROOT = Path(__file__).parents[2]
CLOSING_WORDS = "(nothing more was recorded)"
NOT_RECORDED = "nothing was recorded here"


@dataclass(frozen=True)
class Recording:
    """One conversation in OpenAI's message format; a system prompt may come first."""

    name: str
    messages: list[JSON]

    @property
    def system_prompt(self) -> str:
        first = self.messages[0]
        return first["content"] if first["role"] == "system" else ""

    @property
    def said(self) -> list[JSON]:
        """The messages without the system prompt."""
        return self.messages[1:] if self.system_prompt else self.messages

    @property
    def people_say(self) -> list[str]:
        return [message["content"] for message in self.messages if message["role"] == "user"]

    @property
    def tool_names(self) -> list[str]:
        calls = [call for message in self.messages for call in message.get("tool_calls") or []]
        return list(dict.fromkeys(call["function"]["name"] for call in calls))

    @property
    def requests(self) -> list[list[JSON]]:
        """What the model is sent: all that came before, after a person or a batch of results."""
        followed = zip(self.messages, [*self.messages[1:], {"role": "nobody"}], strict=True)
        asked = [
            place
            for place, (message, following) in enumerate(followed, start=1)
            if message["role"] in ("user", "tool") and following["role"] != "tool"
        ]
        return [self.messages[:place] for place in asked]

    @property
    def rows(self) -> list[JSON]:
        """What people see, in order."""
        rows = [row for message in self.said for row in _rows(message)]
        if self.messages[-1]["role"] != "assistant":
            rows.append(
                {"message_type": "assistant", "content_type": "text", "text": CLOSING_WORDS}
            )
        return rows

    def answer(self, messages: list[JSON], _: JSON) -> JSON:
        """What the model says to these messages, as a step of the scripted model.

        It has something fixed to say after the end. Where a person speaks twice in a row, the
        first of the two gets an error, since no answer may enter the conversation.
        """
        if len(messages) >= len(self.messages):
            return {"text": CLOSING_WORDS}
        recorded = self.messages[len(messages)]
        if recorded["role"] != "assistant":
            return {"status": 400, "text": NOT_RECORDED}
        return {"raw": _stream(recorded)}


def _stream(message: JSON) -> bytes:
    """The message as a model streams it, in few pieces, since thousands of small ones take long."""
    calls = message.get("tool_calls") or []
    deltas: list[JSON] = [{"role": "assistant", "content": None if calls else ""}]
    deltas += [{"content": piece} for piece in _halves(message["content"] or "")]
    for index, call in enumerate(calls):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _halves(call["function"]["arguments"])
        ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"})
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    chunks = [json.dumps({**head, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"]).encode()


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def _rows(message: JSON) -> list[JSON]:
    role = message["role"]
    if role == "tool":
        names = ("tool_call_id", "name", "content")
        content = {name: message[name] for name in names if name in message}
        return [{"message_type": role, "content_type": "tool_result", "is_error": False, **content}]
    rows: list[JSON] = []
    if message["content"]:
        rows.append({"message_type": role, "content_type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or []:
        function = call["function"]
        content = {
            "call_id": call["id"],
            "name": function["name"],
            "arguments": json.loads(function["arguments"]),
        }
        rows.append({"message_type": role, "content_type": "tool_call", **content})
    return rows


def corpus_folder() -> Path:
    """Where the recordings are: CORPUS, or beside the checkout."""
    return Path(os.environ.get("CORPUS") or ROOT.parent / "shared" / "corpus")


def read_corpus() -> list[Recording]:
    """All recordings of the corpus; none where it is absent."""
    return [
        Recording(f"{file.stem}-{recorded['index']}", recorded["messages"])
        for file in sorted(corpus_folder().glob("*.json"))
        for recorded in json.loads(file.read_text())
    ]

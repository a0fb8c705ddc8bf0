"""The continuity check: prompt, and reading whether a message continues with an agent. Pure."""

import json
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from backend.agents.middleware.shortening.compaction import shorten
from backend.fences import without_fence
from backend.schemas.domains.templates import AgentTemplate
from backend.types import JSON
from colloquy_kit.messages.clean import clean_text

Answer = Literal["YES", "NO", "UNSURE"]

PURPOSE = "continuity"
MOST_MESSAGES = 6
MOST_CHARACTERS = 2_000
MOST_REASON = 300
MOST_ANSWER = 10_000  # characters; what is longer answers something else
WORD = re.compile(r"\b(YES|NO|UNSURE)\b", re.IGNORECASE)
PROMPT = """# Continuity
You route messages in a conversation with several agents. The agent {agent} spoke last.
{description}
Say whether the latest message of the user continues with {agent}: a follow-up, a correction or a
further wish about what {agent} has just done. A new matter, or one that another agent does
better, does not.
Answer with JSON only: {{"answer": "YES" | "NO" | "UNSURE", "reason": "one short sentence"}}"""


class Continuity(NamedTuple):
    """The model's verdict; UNSURE if it could not be asked or understood."""

    answer: Answer
    reason: str


def continuity_request(candidate: AgentTemplate, messages: Sequence[JSON]) -> list[BaseMessage]:
    """Return the request to the model about the newest of these messages."""
    lines_or_none = [
        _line(message) for message in messages if message["role"] in ("user", "assistant")
    ]
    lines = [line for line in lines_or_none if line]
    earlier, latest = lines[-MOST_MESSAGES:-1], lines[-1:]
    text = "\n".join(["Earlier messages:", *earlier, "", "Latest message:", *latest])
    prompt = PROMPT.format(agent=candidate.name, description=candidate.description)
    return [SystemMessage(prompt), HumanMessage(text)]


def read_continuity(answer: str) -> Continuity:
    """Return the verdict in an answer: JSON, or one of the three words alone.

    Any other text, whatever a model writes, is UNSURE.
    """
    if len(answer) > MOST_ANSWER:
        return Continuity("UNSURE", "")
    try:
        given = json.loads(without_fence(answer), strict=False)
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        word = str(given.get("answer", "")).strip().upper()
        reason = given.get("reason")
        detail = clean_text(reason.strip()[:MOST_REASON]) if isinstance(reason, str) else ""
        return Continuity(_answer(word), detail)
    words = {word.upper() for word in WORD.findall(answer)}
    return Continuity(_answer(words.pop()) if len(words) == 1 else "UNSURE", "")


def _answer(word: str) -> Answer:
    if word == "YES":
        return "YES"
    return "NO" if word == "NO" else "UNSURE"


def _line(message: JSON) -> str:
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        return ""
    who = message.get("name") or ("user" if message["role"] == "user" else "agent")
    return f"{who}: {shorten(content.strip(), MOST_CHARACTERS)}"

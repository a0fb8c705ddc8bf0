"""Naming a conversation after its first answer, between turns: see `turns/run/titles.py`."""

import re

from pydantic import Field

from backend.agents.middleware.shortening.compaction import shorten
from backend.schemas.bounds import ModelName
from backend.schemas.wire import Input

PURPOSE = "title"
MAX_WORDS = 8
MAX_CHARS = 60
MAX_READ = 4_000
PROMPT = (
    f"Give the conversation below a title of {MAX_WORDS} words at most, in its own language. "
    "Answer with the title only: no quotation marks, no full stop.\n\n"
)


class TitleSettings(Input):
    """The model names the conversation after the first answer, without delaying it."""

    model: ModelName | None = Field(
        None, description="The model that is asked; absent: the agent's."
    )
    seconds: float = Field(30.0, gt=0, le=300, description="How long it may take.")


def title_request(question: str, answer: str) -> str:
    """Return what the model is asked."""
    return f"{PROMPT}Person: {shorten(question, MAX_READ)}\n\nAgent: {shorten(answer, MAX_READ)}"


def title_in(answer: str) -> str | None:
    """Return the title in a model's answer; None where the answer is no title."""
    line = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    title = re.sub(r"^(title|titel)\s*:\s*", "", line.strip("#*_`\"'“”„«» "), flags=re.IGNORECASE)
    title = " ".join(title.strip("*_`\"'“”„«» ").rstrip(".").split())
    return title if 0 < len(title) <= 2 * MAX_CHARS else None

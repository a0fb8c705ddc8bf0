"""What a task gives the agent that runs it: its description, and its input as JSON. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.demo_model.conversation import Conversation
from backend.tabular.chart_places import write_place

LONGEST_TITLE = 120
_HEADINGS = ("\nInput:\n", "\n# Input\n")


@dataclass(frozen=True)
class Artifact:
    """A version of an artifact, from the output of an earlier task."""

    id: str
    version: int
    title: str

    @property
    def address(self) -> str:
        """The address for links to it."""
        return f"artifact:{self.id}@{self.version}"

    @property
    def link(self) -> str:
        """A Markdown link to it."""
        return f"[{self.title}]({self.address})"

    @property
    def picture(self) -> str:
        """The line of Markdown that puts a chart into a document."""
        return write_place(self.title, self.address)

    def cell(self, shown: str, row: int, column: str) -> str:
        """Return a link to one of its cells; rows are counted from 1."""
        return f"[{shown}]({self.address}#row={row}&column={column})"


@dataclass(frozen=True)
class Task:
    """A task's description and input."""

    description: str
    input: Mapping[str, Any]

    @property
    def question(self) -> str:
        """The question that the whole plan is about."""
        return str(self.input.get("question", ""))

    def titled(self, kind: str) -> str:
        """Return the title of what the task makes."""
        return f"{kind}: {self.question}"[:LONGEST_TITLE]

    def text(self, name: str) -> str:
        """Return a text from the input."""
        return str(self.input.get(name) or "")

    def artifact(self, name: str) -> Artifact | None:
        """Return the last artifact in the input under this name."""
        found = read_artifacts(self.input.get(name))
        return found[-1] if found else None


def read_task(conversation: Conversation) -> Task | None:
    """Return the task in the last question, if it is one."""
    for heading in _HEADINGS:
        description, found, given = conversation.question.rpartition(heading)
        if found and (read := _read(given)) is not None:
            return Task(description.strip(), read)
    return None


def _read(given: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, alone or in a fence."""
    text = given.strip().removeprefix("```json").removesuffix("```")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def read_artifacts(given: Any) -> list[Artifact]:
    """Return the artifacts in a task's output."""
    return [
        Artifact(str(one["id"]), int(one["version"]), str(one.get("title", "")))
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and "id" in one and str(one.get("version", "")).isdecimal()
    ]

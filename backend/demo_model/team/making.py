"""A specialist's calls that make and read artifacts, and their results. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from backend.demo_model.conversation import Call, Conversation, Result
from backend.demo_model.team.inputs import Artifact

MAKE, READ, DRAW = "make_artifact", "read_artifact", "make_chart"
_MADE = re.compile(r"artifact:([0-9a-f-]{36})@([0-9]{1,9})")


def make_table(title: str, source: str, sql: str) -> Call:
    """Return the call that keeps a query's result as a table."""
    return Call(MAKE, {"kind": "table", "title": title, "source": source, "query": sql})


def make_document(title: str, text: str) -> Call:
    """Return the call that keeps a text in Markdown."""
    return Call(MAKE, {"kind": "document", "title": title, "content": text})


def draw(artifact: Artifact, title: str, spec: Mapping[str, Any]) -> Call:
    """Return the call that draws a table's rows."""
    given = {"artifact_id": artifact.id, "version": artifact.version}
    return Call(DRAW, {**given, "title": title, "spec": spec})


def read(artifact: Artifact) -> Call:
    """Return the call that reads an artifact."""
    return Call(READ, {"artifact_id": artifact.id, "version": artifact.version})


def find_result(conversation: Conversation, call: Call) -> Result | None:
    """Return the result of a call; None if there is none yet."""
    return next((result for result in conversation.results if result.call == call), None)


def find_made(conversation: Conversation, call: Call) -> Artifact | None:
    """Return the artifact that a call has made."""
    result = find_result(conversation, call)
    found = _MADE.search(result.content) if result else None
    title = str(call.arguments["title"])
    return Artifact(found[1], int(found[2]), title) if found else None

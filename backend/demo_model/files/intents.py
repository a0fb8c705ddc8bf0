"""Questions about uploaded files: describe the file, query it, put the rows into words. Pure."""

from collections.abc import Sequence

from backend.demo_model.conversation import Call, Conversation, Result
from backend.demo_model.files.asked import FileQuestion, find_file_question
from backend.demo_model.files.columns import FileContents, find_contents
from backend.demo_model.files.statement import (
    FileQuery,
    asks_for_columns,
    open_words,
    plan_query,
)
from backend.demo_model.plans.statement import CannotApply
from backend.demo_model.reading import UNREADABLE, figure, read_rows, table
from backend.demo_model.words import answers

THOUGHT = "The question is about an uploaded file."
_DOCUMENT = "document"
_SHOWN_ROWS = 40
_SHOWN_CHARS = 1_500
_ONE_ONLY = "\n\nThis is about {} only. To ask about {}, name the file."
_NO_SUCH = "I find no file {!r}. Upload it in the chat or on the page Data, or name it as there."


def is_about_file(conversation: Conversation) -> bool:
    """Return whether the question is about an uploaded file."""
    return find_file_question(conversation) is not None


def plan_file(conversation: Conversation) -> Sequence[Call]:
    """Return the calls that answer the question, given the results so far."""
    asked = find_file_question(conversation)
    if asked is None:
        return []
    if not asked.source:
        return [Call("list_sources", {"matching": asked.name})]
    describe = Call("describe_source", {"source": asked.source})
    listed = [r.call for r in conversation.results if r.call.name == "list_sources"]
    contents = find_contents(conversation, asked.source)
    further = _further(asked, contents) if contents else None
    return [*listed, describe, *([further] if further else [])]


def answer_file(conversation: Conversation) -> str:
    """Return the answer from the results."""
    asked = find_file_question(conversation)
    if asked is None or not asked.source:
        return _NO_SUCH.format(asked.name if asked else "")
    others = " or ".join(asked.others)
    return _answer(conversation, asked) + (_ONE_ONLY.format(asked.name, others) if others else "")


def _answer(conversation: Conversation, asked: FileQuestion) -> str:
    contents = find_contents(conversation, asked.source)
    last = conversation.results[-1]
    if contents is None:
        return UNREADABLE
    if last.call.name == "describe_source":
        return _without_query(conversation, asked, contents)
    if last.call.name == "query_source":
        return _figures(plan_query(contents, asked.text), asked, last)
    return _passages(last)


def _further(asked: FileQuestion, contents: FileContents) -> Call | None:
    """Return the call that reads the file; None if its description is the answer."""
    if contents.kind == _DOCUMENT:
        words = " ".join(open_words(asked.text))
        if not words:
            return Call("read_document", {"source": asked.source})
        return Call("search_document", {"source": asked.source, "words": words})
    if asks_for_columns(asked.text):
        return None
    try:
        query = plan_query(contents, asked.text)
    except CannotApply:
        return None
    arguments = {"source": asked.source, "sql": query.sql, "title": query.title[:120]}
    return Call("query_source", arguments)


def _without_query(conversation: Conversation, asked: FileQuestion, contents: FileContents) -> str:
    if asks_for_columns(asked.text):
        results = tuple(r for r in conversation.results if r.call.name == "describe_source")
        return answers.described(results)
    try:
        plan_query(contents, asked.text)
    except CannotApply as problem:
        return str(problem)
    return UNREADABLE


def _figures(query: FileQuery, asked: FileQuestion, result: Result) -> str:
    found = read_rows(result.content)
    if not found:
        return f"{asked.name} holds no rows for this."
    lines = [
        [figure(cell).replace("|", "\\|") or "(empty)" for cell in row.values()]
        for row in found[:_SHOWN_ROWS]
    ]
    notes = [f"- {line}" for line in result.content.splitlines() if line.startswith("NOTE on ")]
    cut = [line for line in result.content.splitlines() if line.startswith(("EXCERPT", "INCOMPL"))]
    parts = [f"{query.title} in **{asked.name}**:", table(query.names, lines), *cut]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _passages(result: Result) -> str:
    if result.call.name == "read_document":
        text = result.content[:_SHOWN_CHARS]
        return f"It begins so:\n\n{text}{'…' if len(result.content) > _SHOWN_CHARS else ''}"
    found = read_rows(result.content, "page", "passage")
    if not found:
        return "No page of it holds all of these words."
    lines = [f"- Page {row['page']}: …{row['passage']}…" for row in found]
    return "These pages hold the words:\n\n" + "\n".join(lines)

"""Questions that begin with “chart”: their figures, drawn by the tool for that. Pure."""

import re
from dataclasses import replace

from backend.demo_model.conversation import Call, Conversation, Result

DRAWN = ("figures", "sql")
_WORD = re.compile(
    r"\s{0,20}(?:please\s{1,5})?(?:(?:draw|make|show)\s{1,5}(?:me\s{1,5})?)?(?:an?\s{1,5})?"
    r"(?:chart|plot|graph)\s{1,5}(?:of\s{1,5}|for\s{1,5})?(?:the\s{1,5})?",
    re.IGNORECASE,
)
_TOOL, _QUERY = "make_chart", "query_source"


def is_asked(conversation: Conversation) -> bool:
    """Return whether the question asks for a chart."""
    found = _WORD.match(conversation.question)
    return found is not None and found.end() < len(conversation.question)


def without_word(conversation: Conversation) -> Conversation:
    """Return the question without the word, its drawn results as if they had been looked up."""
    question = _WORD.sub("", conversation.question, count=1)
    results = tuple(_as_query(result) for result in conversation.results)
    return replace(conversation, question=question, results=results)


def to_chart(call: Call) -> Call:
    """Return the call that draws a query's result."""
    if call.name != _QUERY:
        return call
    given = {"title": f"Query of {call.arguments['source']}", **call.arguments}
    return Call(_TOOL, given)


def _as_query(result: Result) -> Result:
    if result.call.name != _TOOL:
        return result
    return replace(result, call=Call(_QUERY, result.call.arguments))

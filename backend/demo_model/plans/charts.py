"""Questions that ask for a chart: their figures, drawn by the tool for that. Pure."""

import re
from dataclasses import replace

from backend.demo_model.conversation import Call, Conversation, Result

DRAWN = ("figures", "sql")
_BEGINNING = re.compile(
    r"\s{0,20}(?:please\s{1,5})?(?:(?:draw|make|show)\s{1,5}(?:me\s{1,5})?)?(?:an?\s{1,5})?"
    r"(?:chart|plot|graph)\s{1,5}(?:of\s{1,5}|for\s{1,5})?(?:the\s{1,5})?",
    re.IGNORECASE,
)
_END = re.compile(
    r",?\s{1,5}(?:as|in|on|with)\s{1,5}(?:an?\s{1,5})?(?:(?:bar|line|pie)\s{1,5})?(?:chart|plot|graph)"
    r"(?:,?\s{1,5}please)?[\s.?!]{0,20}$",
    re.IGNORECASE,
)
_TOOL, _QUERY = "make_chart", "query_source"


def is_asked(conversation: Conversation) -> bool:
    """Return whether the question asks for a chart."""
    rest = _rest(conversation.question)
    return rest != conversation.question and bool(rest.strip())


def without_word(conversation: Conversation) -> Conversation:
    """Return the question without the word, its drawn results as if they had been looked up."""
    question = _rest(conversation.question)
    results = tuple(_as_query(result) for result in conversation.results)
    return replace(conversation, question=question, results=results)


def to_chart(call: Call) -> Call:
    """Return the call that draws a query's result."""
    if call.name != _QUERY:
        return call
    given = {"title": f"Query of {call.arguments['source']}", **call.arguments}
    return Call(_TOOL, given)


def _rest(question: str) -> str:
    """Return what is to be drawn; the whole question if it asks for no chart."""
    if found := _BEGINNING.match(question):
        return question[found.end() :]
    return _END.sub("", question, count=1)


def _as_query(result: Result) -> Result:
    if result.call.name != _TOOL:
        return result
    return replace(result, call=Call(_QUERY, result.call.arguments))

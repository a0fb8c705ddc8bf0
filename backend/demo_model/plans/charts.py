"""Questions that ask for a chart: their figures, drawn by the tool for that. Pure."""

import re
from dataclasses import replace
from typing import NamedTuple

from backend.demo_model.conversation import Call, Conversation, Result
from backend.schemas.data.files import ATTACHED_LINE

NO_CHART = (
    "\n\nI draw charts of sums only, so there is none here. Where a table above has figures,"
    " *Chart* beside it draws them."
)
_LONGEST_END = 300  # characters, so that a long text is not searched as a whole
_TOOL, _QUERY = "make_chart", "query_source"
_MARKS = {
    "bar": "bar", "column": "bar", "line": "line", "area": "area", "scatter": "point",
    "pie": "arc", "donut": "arc", "doughnut": "arc",
}  # fmt: skip
_KIND = rf"\b(?:{'|'.join(_MARKS)})\b"
_CHART = rf"(?:(?:an?|the) )?(?:{_KIND} )?(?:chart(?! of accounts)|plot|graph|diagram)"
_THEM = "(?:it|this|that|them|those|these)"
_SHOW = "(?:draw|make|show|give|create|add|see) (?:(?:me|us) )?"
_DRAW = "(?:draw|plot|chart|graph|visuali[sz]e)"
_WISH = "(?:can|could|would) you|i(?: would|.d)? (?:like|want|need)(?: to)?"
_POLITELY = rf"(?:(?:please|now|and|then|{_WISH}),? ){{0,3}}"


def _pattern(written: str) -> re.Pattern[str]:
    """Return a pattern in which a space stands for up to five blanks: people write anything."""
    return re.compile(written.replace(" ", r"\s{1,5}"), re.IGNORECASE)


_ONE_KIND = _pattern(_KIND)
_BEGINNING = _pattern(
    rf"{_POLITELY}(?:(?:{_SHOW})?{_CHART} (?:(?:of|for|with|showing) )?"
    rf"|{_DRAW} (?!{_THEM}\b|of accounts))(?:the )?"
)
_END = _pattern(
    rf"(?:^{_POLITELY}{_CHART}|(?:^|[,.;:?!]? ){_POLITELY}"
    rf"(?:(?:{_SHOW}{_THEM} )?(?:as|in|on|with|into) {_CHART}"
    rf"|{_SHOW}{_CHART}(?: (?:of|for) {_THEM})?|{_DRAW} {_THEM}))(?:,? please)?[\s.?!]{{0,20}}$"
)


class _Request(NamedTuple):
    """What is left of a question without its words about a chart, and the mark that they name."""

    rest: str
    mark: str | None = None
    is_chart: bool = False


def is_asked(conversation: Conversation) -> bool:
    """Return whether the question asks for a chart, if only of what was asked before it."""
    request = _read(conversation.question)
    return request.is_chart and bool(request.rest.strip() or _asked_before(conversation))


def without_words(conversation: Conversation) -> Conversation:
    """Return the conversation as if no chart had been asked for, and all had been looked up.

    A question that only asks for a chart becomes the question before it.
    """
    question = conversation.question
    if is_asked(conversation):
        rest = _read(question).rest
        question = rest if rest.strip() else _asked_before(conversation)
    return replace(
        conversation,
        question=question,
        results=tuple(map(_as_query, conversation.results)),
        earlier=tuple(map(_as_query, conversation.earlier)),
        transcript=tuple((role, _plain(role, text)) for role, text in conversation.transcript),
    )


def to_chart(call: Call, conversation: Conversation) -> Call:
    """Return the call that draws a query's result, in the form that the question names."""
    if call.name != _QUERY:
        return call
    mark = _read(conversation.question).mark
    spec = {"spec": {"mark": mark}} if mark else {}
    title = {"title": _title(str(call.arguments["source"]))}
    return Call(_TOOL, {**title, **call.arguments, **spec})


def is_drawn(call: Call) -> bool:
    """Return whether the call draws a chart."""
    return call.name == _TOOL


def _asked_before(conversation: Conversation) -> str:
    earlier = [text for role, text in conversation.transcript[:-1] if role == "user"]
    return next((plain for text in reversed(earlier) if (plain := _read(text).rest).strip()), "")


def _plain(role: str, text: str) -> str:
    return _read(text).rest if role == "user" else text


def _read(question: str) -> _Request:
    attached = ATTACHED_LINE.search(question)
    end = attached.start() if attached else len(question)
    text = question[:end].strip()
    if found := _BEGINNING.match(text):
        rest = text[found.end() :]
    elif found := _END.search(text, max(0, len(text) - _LONGEST_END)):
        rest = text[: found.start()]
    else:
        return _Request(question)
    kind = _ONE_KIND.search(found[0])
    mark = _MARKS[kind[0].lower()] if kind else None
    return _Request("\n\n".join(filter(None, (rest, question[end:]))), mark, is_chart=True)


def _as_query(result: Result) -> Result:
    call = result.call
    if call.name != _TOOL or "sql" not in call.arguments:
        return result
    given = {name: value for name, value in call.arguments.items() if name != "spec"}
    if given.get("title") == _title(str(given.get("source"))):
        del given["title"]
    return replace(result, call=Call(_QUERY, given))


def _title(source: str) -> str:
    return f"Query of {source}"

"""Repairing a request that an endpoint refused for its form: what is changed, and for which words.

Before it is refused, nothing says that an endpoint wants people and model to take turns, or knows
no `stream_options`. Each repair is made at most once, and people are told what it changes.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from backend.llm.form.call_ids import with_strict_ids
from backend.llm.form.schemas import simplify_schema
from backend.llm.form.turns import (
    in_strict_order,
    with_spoken_calls,
    with_spoken_names,
    with_texts,
    without_blanks,
)
from backend.llm.refusals import Refusal
from backend.llm.wire.kept import without_own_fields
from backend.types import JSON

MAX_TOOLS = 128  # OpenAI, Azure
MOST_NAMED = 20
_MESSAGES, _TOOLS = "messages", "tools"
_USAGE = "stream_options"

# Statuses of refusals; llama.cpp sends 500, and some gateways an error within an answer.
_REFUSED = (400, 422)
_CODES = frozenset(map(str, _REFUSED))  # of an error within an answer
_MAY_BE_REFUSED = (0, *_REFUSED, 500)
_ABOUT_FORM = re.compile(
    r"\b(messages?|roles?|content|tools?|functions?|arguments?|schema|parameters?|fields?|body"
    r"|json|template|jinja|validation|deserialize|format|bad request)\b",
    re.IGNORECASE,
)
_ABOUT_POLICY = re.compile(
    r"content.?(filter|management|polic)|usage polic|safety|moderation|flagged", re.IGNORECASE
)


@dataclass(frozen=True)
class Repair:
    """One way to change a request. `signs`: words of a refusal that ask for it.

    `change` returns the changed request; an unchanged part of it is the same object. `tell` says
    what was changed, given the requests before and after.
    """

    signs: re.Pattern[str]
    change: Callable[[JSON], JSON]
    tell: Callable[[JSON, JSON], str]


def _of_messages(change: Callable[[Sequence[JSON]], list[JSON]]) -> Callable[[JSON], JSON]:
    def changed(payload: JSON) -> JSON:
        return {**payload, _MESSAGES: change(payload[_MESSAGES])}

    return changed


def _with_fewer_tools(payload: JSON) -> JSON:
    tools = payload.get(_TOOLS) or ()
    return {**payload, _TOOLS: tools[:MAX_TOOLS]} if len(tools) > MAX_TOOLS else payload


def _with_simple_schemas(payload: JSON) -> JSON:
    if not (tools := payload.get(_TOOLS)):
        return payload
    simple = [
        {**tool, "function": {**function, "parameters": simplify_schema(function["parameters"])}}
        for tool in tools
        for function in [tool["function"]]
    ]
    return {**payload, _TOOLS: simple}


def _without_usage(payload: JSON) -> JSON:
    return {key: value for key, value in payload.items() if key != _USAGE}


def _says(text: str) -> Callable[[JSON, JSON], str]:
    return lambda _, __: text


def _tell_left_out(before: JSON, after: JSON) -> str:
    names = [tool["function"]["name"] for tool in before[_TOOLS][len(after[_TOOLS]) :]]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (
        f"only {MAX_TOOLS} tools are offered to the model. Left out are"
        f" {', '.join(names[:MOST_NAMED])}{more}"
    )


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_ANY_MESSAGES = _words(
    r"\broles?\b|alternat|prefill|consecutive|preced|last message|must (start|begin|end) with"
    r"|system message|\bturns?\b|tool.?(call|use|result).{0,20}(\b|_)ids?\b"
    r"|\bids?\b.{0,40}tool.?(call|use)"
    r"|empty|blank|either content|at least (1|one) char|jinja|template"
)

# In the order in which they are made.
REPAIRS: Mapping[str, Repair] = {
    "texts": Repair(
        _words(
            r"(sequence|list|array).{0,60}string|string.{0,60}(sequence|list|array)"
            r"|valid string|str type|content.{0,60}string"
        ),
        _of_messages(with_texts),
        _says("of content that comes in parts only the text is sent, without earlier thinking"),
    ),
    "fields": Repair(
        _words(
            r"(property|field|key|param\w*|input\w*|reasoning\w*|thinking\w*)\W.{0,60}"
            r"(unsupported|not supported|not permitted|unrecognized|unknown|unexpected)"
            r"|(unsupported|unrecognized|unknown|unexpected|extra)\b.{0,40}"
            r"(property|field|key|param|input|reasoning|thinking)|invalid.{0,20}signature"
        ),
        _of_messages(without_own_fields),
        _says("fields that a model of this provider has added to its answers are not sent back"),
    ),
    "speakers": Repair(
        _words(r"(?<!function\.)(?<!tool )(?<!unknown )\bname\b"),
        _of_messages(with_spoken_names),
        _says("the names of speakers are sent within their texts"),
    ),
    "order": Repair(
        _ANY_MESSAGES,
        _of_messages(in_strict_order),
        _says(
            "messages of one role in a row are sent as one, and a line says where an answer is"
            " missing"
        ),
    ),
    "blanks": Repair(
        _ANY_MESSAGES,
        _of_messages(without_blanks),
        _says("a line takes the place of an empty message or result"),
    ),
    "silent calls": Repair(
        _words(
            r"\b(null|none|nonetype)\b|valid string|content.{0,60}(be|expected).{0,20}string"
            r"|expected a string"
        ),
        _of_messages(with_spoken_calls),
        _says("a line is sent where a model called tools and said nothing"),
    ),
    "call ids": Repair(
        _ANY_MESSAGES,
        _of_messages(with_strict_ids),
        _says("the ids of tool calls are sent as nine letters and digits"),
    ),
    "tools": Repair(
        _words(
            r"tools\b.{0,80}(too long|too many|at most|max|limit|exceed)"
            r"|(too many|max\w*|limit|at most).{0,60}\b(tools|functions)"
        ),
        _with_fewer_tools,
        _tell_left_out,
    ),
    "schemas": Repair(
        _words(
            r"schema|properties|parameters\b|\$ref|\$defs|(any|one|all)Of|additionalProp"
            r"|missing items|proto field|unknown name"
        ),
        _with_simple_schemas,
        _says("the parameters of tools are described in a simpler way"),
    ),
    _USAGE: Repair(
        _words(r"stream_options|include_usage"),
        _without_usage,
        _says("the number of tokens is not asked for, so that usage may be missing"),
    ),
}


def shape(payload: JSON, repairs: Collection[str]) -> tuple[JSON, list[str]]:
    """Return the request with these repairs, and what they have changed, for people."""
    changes = []
    for name, repair in REPAIRS.items():
        if name in repairs and (changed := repair.change(payload)) != payload:
            changes.append(repair.tell(payload, changed))
            payload = changed
    return payload, changes


def choose_repairs(refusal: Refusal, payload: JSON, made: Collection[str]) -> frozenset[str]:
    """Return the repairs to try after a refusal of this request; none if it is not about form.

    Those that its words ask for; if they are only about form somehow, all that change something.
    Usage is given up for words that ask for it, and for none at all.
    """
    is_other = refusal.is_too_long or refusal.is_slip or _ABOUT_POLICY.search(refusal.words)
    if refusal.status not in _MAY_BE_REFUSED or is_other:
        return frozenset()
    left = {
        name: repair
        for name, repair in REPAIRS.items()
        if name not in made and repair.change(payload) != payload
    }
    if named := frozenset(n for n, repair in left.items() if repair.signs.search(refusal.words)):
        return named
    is_refused = refusal.status in _REFUSED or (not refusal.status and refusal.codes & _CODES)
    if not is_refused:
        return frozenset()
    of_rest = frozenset(left.keys() - {_USAGE})
    if not refusal.words.strip():
        return of_rest or frozenset(left)
    return of_rest if _ABOUT_FORM.search(refusal.words) else frozenset()

"""The table of what the demo model understands: recognise, look up, answer. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.llm.demo import answers, differences, plans
from backend.llm.demo.conversation import Call, Conversation
from backend.llm.demo.question import find_account, find_centres

_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
_STATEMENTS = (
    (_SELECT, re.compile(r"\bfrom\b", re.IGNORECASE)),
    (re.compile(r"^\s*with\b", re.IGNORECASE), _SELECT),
)


@dataclass(frozen=True)
class Intent:
    """One kind of question; `steps` are the todos of one that takes several."""

    name: str
    recognises: Callable[[Conversation], bool]
    plan: Callable[[Conversation], Sequence[Call]]
    answer: Callable[[Conversation], str]
    thought: str = ""
    steps: tuple[str, ...] = ()


def _says(pattern: str) -> Callable[[Conversation], bool]:
    compiled = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda conversation: compiled.search(conversation.asked) is not None


def _holds_select(conversation: Conversation) -> bool:
    """Whether it holds a statement, however long: each word is sought once."""
    for first, then in _STATEMENTS:
        begun = first.search(conversation.question)
        if begun and then.search(conversation.question, begun.end()):
            return True
    return False


def _centres(at_least: int) -> Callable[[Conversation], bool]:
    return lambda conversation: len(find_centres(conversation.asked)) >= at_least


def _all(*tests: Callable[[Conversation], bool]) -> Callable[[Conversation], bool]:
    return lambda conversation: all(test(conversation) for test in tests)


def _has_earlier_budget(conversation: Conversation) -> bool:
    return bool(plans.earlier_centres(conversation))


def _names_no_centre(conversation: Conversation) -> bool:
    return not find_centres(conversation.asked)


def _names_something(conversation: Conversation) -> bool:
    return bool(plans.budget_by_name(conversation))


def _names_account(conversation: Conversation) -> bool:
    return find_account(conversation.asked) is not None


_BUDGET_WORDS = _says(r"budget|spen[dt]|actual|forecast|left|remain|cost|figures|over|under|used")
_REFERS_BACK = _says(
    r"\b(left|remain\w*|it|its|that|this one|same|overspent|monthly)\b"
    r"|\b(by|per) (month|period|account)\b"
    r"|^\s*(and|what about|how about)\b"
)
_BUDGET_DETAILS = _says(
    r"left|remain|budget|spen[dt]|used|month|period|account|year|forecast|20\d\d|quarter|q[1-4]\b"
)
_SUMMARISE = _says(r"context extraction|summar(y|ise|ize).{0,80}(conversation|messages|history)")

INTENTS: tuple[Intent, ...] = (
    Intent("title", _says(r"^give the conversation below a title"), plans.nothing, answers.title),
    Intent("summary", _SUMMARISE, plans.nothing, answers.summary),
    Intent("count", _says(r"\bcount (up )?to \d+"), plans.nothing, answers.count),
    Intent(
        "sql",
        _holds_select,
        plans.sql,
        answers.rows,
        "The question holds a SELECT, which I can run as it is.",
    ),
    Intent(
        "compare sources",
        _says(r"(compar|differ|reconcil|deviat|match|explain|\bvs\b|against).*\b(fi|bpc)\b"),
        plans.compare_ledgers,
        differences.explain,
        "FI and BPC are to be compared, by period, company, cost centre and group account.",
        ("Compare FI with BPC", "Look for postings entered late", "Explain the differences"),
    ),
    Intent(
        "compare cost centres",
        _centres(2),
        plans.budgets,
        answers.budgets_side_by_side,
        "Several cost centres are named; their budgets can be looked up side by side.",
    ),
    Intent(
        "top cost centres",
        _says(r"(top|highest|biggest|largest|most|rank).*(cost\s*cent|spen[dt])"),
        plans.top_centres,
        answers.top_centres,
        "The spending of all cost centres is to be ranked.",
    ),
    Intent(
        "budget",
        _all(_centres(1), _BUDGET_WORDS),
        plans.budgets,
        answers.budget,
        "The question is about a cost centre's budget.",
    ),
    Intent(
        "cost centre",
        _centres(1),
        plans.budgets,
        answers.budget,
        "A cost centre is named; its budget is what I can look up.",
    ),
    Intent(
        "describe source",
        _says(r"\b(describe|columns?|fields|schema|structure)\b"),
        plans.describe,
        answers.description,
        "The structure of a source is asked for.",
    ),
    Intent(
        "list sources",
        _says(r"(what|which|list|show|have).*\b(data|sources?|tables?|files?)\b"),
        plans.list_sources,
        answers.sources,
        "The sources are asked for.",
    ),
    Intent(
        "follow-up",
        _all(_has_earlier_budget, _names_no_centre, _REFERS_BACK, _BUDGET_DETAILS),
        plans.follow_up,
        answers.budget,
        "This follows up on the cost centre that we spoke of before.",
    ),
    Intent(
        "budget by name",
        _all(_says(r"\bbudget\b"), _names_something),
        plans.budget_by_name,
        answers.budget,
        "A cost centre seems to be called by its name.",
    ),
    Intent(
        "total",
        _says(r"\b(totals?|sum|how much|revenue|spen[dt])\b.*\b(for|on|of|in|account|revenue)\b"),
        plans.total,
        answers.total,
        "A total of the ledger is asked for.",
    ),
    Intent("account", _names_account, plans.total, answers.total, "A GL account is named."),
    Intent("anything else", lambda _: True, plans.nothing, answers.about),
)

"""Plans the answer to a question about figures, or says why there is none. Pure.

A plan names the parts of the request that it applies. If it leaves out a part, it is discarded,
and the question is refused with a sentence.
"""

from collections.abc import Sequence
from typing import Any

from backend.demo_model.conversation import LONGEST_QUESTION, Call, Conversation
from backend.demo_model.plans.calls import LEDGER_KEYS
from backend.demo_model.plans.ledger import Plan, plan_documents, plan_figures, plan_list
from backend.demo_model.plans.statement import CannotApply
from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import THINGS, Filter, Request, is_kind
from backend.demo_model.questions.understanding import Understanding
from backend.demo_model.questions.vocabulary import DIMENSION_NAMES

SHOWN_DIFFERENCES = 10
_MAX_CENTRES = 5
_PLANNED = {"budget", "forecast", "left", "over"}
_BUDGET_TOPICS = {"budget", "forecast", "left", "spend", "actual", "total", "compare"}
_COMPARING = {"fi", "bpc", "difference", "compare", "explain", "actual", "total", "number of"}
_PART_NAMES = {
    "limit": "how many rows", "order": "the order", "order_by": "what to rank by",
    "threshold": "the limit of the amount", "over_budget": "over or under budget",
    "explain": "an explanation", "difference": "a difference", "compare": "a comparison",
    "number of": "a number of things", "spend": "costs", "revenue": "revenue",
    "documents": "postings", "responsible": "who is responsible",
}  # fmt: skip


def is_compare(request: Request) -> bool:
    """Return whether FI is to be compared with BPC."""
    topics = request.topics
    if topics & _PLANNED:
        return False
    if {"fi", "bpc"} <= topics:
        return True
    if "difference" not in topics or topics - _COMPARING:
        return False
    several = any(len(f.values) > 1 for f in request.filters.values())
    return bool(topics & {"fi", "bpc"}) or not several


def is_budget(request: Request) -> bool:
    """Return whether get_budget can answer it: cost centres in a year, or in a part of it."""
    centres = request.filters.get("cost_centre", Filter())
    year = request.filters.get("fiscal_year", Filter())
    periods = request.filters.get("fiscal_period", Filter())
    groups = request.grouping
    several = len(centres.values) > 1
    allowed = ((), ("cost_centre",)) if several else ((), ("fiscal_period",), ("account",),
                                                      ("group_account",))  # fmt: skip
    return (
        1 <= len(centres.values) <= _MAX_CENTRES
        and not (centres.excluded or year.excluded or periods.excluded or len(year.values) > 1)
        and request.filters.keys() <= {"cost_centre", "fiscal_year", "fiscal_period"}
        and request.topics <= _BUDGET_TOPICS
        and not ("forecast" in request.topics and several)
        and ("compare" not in request.topics or several)
        and groups in allowed
        and request.named <= {*request.filters, *(f"by {g}" for g in groups), "compare", "spend"}
        and _is_span(periods)
    )


def needs_catalogue(understanding: Understanding) -> bool:
    """Return whether names or codes must be looked up before anything can be planned."""
    request = understanding.request
    if understanding.catalogue:
        return False
    is_known = is_budget(request) and not (request.unread or request.asks_catalogue)
    return not is_known or bool(request.problems or request.choices or request.bare_kinds)


def refusal(understanding: Understanding) -> str:
    """Return why there is no figure: what was not understood, or what is wrong; else nothing."""
    request = understanding.request
    if request.is_lost:
        return (
            "This seems to refer to an earlier question that I cannot read again: it is a SELECT, "
            "or too long, or too far back. Ask the whole question."
        )
    sentences = list(dict.fromkeys([*request.problems, *map(str, request.choices)]))
    sentences += [
        f"Which {DIMENSION_NAMES[kind]}? Name it."
        for kind in sorted(request.bare_kinds)
        if not any(is_kind({kind}, name) for name in request.filters)
    ]
    if request.unread:
        words = ", ".join(f"“{run[:80]}”" for run in request.unread)
        sentences.append(
            f"I do not understand {words}. It may be a filter, so I give no figure without it."
        )
        sentences.append("Say it in other words, or “without it” to leave it out.")
    return "\n\n".join(sentences)


def plan(understanding: Understanding) -> Plan:
    """Return the plan that applies all of the request. Raise CannotApply if there is none."""
    request, catalogue = understanding.request, understanding.catalogue
    if is_budget(request):
        return _checked(_plan_budgets(request), request)
    if catalogue is None:
        raise CannotApply("I could not look up what there is to ask for.")
    if not request.topics and not request.named:
        raise CannotApply("Of what? I have no question before this one to refer to.")
    topics = request.topics
    if is_compare(request):
        return _checked(_plan_comparison(request, catalogue), request)
    if (
        topics
        and topics <= {"list", "exists", "responsible", "number of"}
        and (topics != {"number of"} or request.grouping or request.mentioned)
    ):
        return _checked(plan_list(request), request)
    each = request.threshold is not None or not topics & {"total", "number of"}
    if "documents" in topics and each and not topics & {"bpc", *_PLANNED}:
        return _checked(plan_documents(request, catalogue), request)
    return _checked(plan_figures(request, catalogue), request)


def too_long(conversation: Conversation) -> str:
    """Return the refusal of a question that is too long to be read completely."""
    length = len(conversation.question.strip())
    if length <= LONGEST_QUESTION:
        return ""
    return (
        f"Your question has {length:,} characters; I read at most {LONGEST_QUESTION:,}, and the "
        "rest may hold a filter. Ask a shorter one."
    )


def _checked(found: Plan, request: Request) -> Plan:
    """Return the plan if it applies every part of the request."""
    missing = sorted(
        _PART_NAMES.get(part) or _as_words(part)
        for part in request.named - _same_accounts(found.applied)
    )
    if missing:
        raise CannotApply(
            f"I understood {' and '.join(missing)}, but cannot apply it to this question, so I "
            "give no figure."
        )
    return found


def _same_accounts(applied: frozenset[str]) -> frozenset[str]:
    """Return the applied parts, with "by account" met by the accounts of either ledger."""
    either = {"by gl_account", "by group_account"} & applied
    return applied | {"by account"} if either else applied


def _as_words(part: str) -> str:
    by, _, dimension = part.rpartition(" ")
    return f"{by} {DIMENSION_NAMES.get(dimension, dimension)}".strip()


def _plan_budgets(request: Request) -> Plan:
    arguments: dict[str, Any] = {}
    year = request.filters.get("fiscal_year", Filter()).values
    periods = [int(p) for p in request.filters.get("fiscal_period", Filter()).values]
    if year:
        arguments["fiscal_year"] = int(year[0])
    if periods:
        arguments["fiscal_period_from"], arguments["fiscal_period_to"] = min(periods), max(periods)
    if request.grouping and request.grouping != ("cost_centre",):
        is_period = request.grouping == ("fiscal_period",)
        arguments["by"] = "period" if is_period else "group_account"
    calls = tuple(
        Call("get_budget", {"cost_centre": centre} | arguments)
        for centre in request.filters["cost_centre"].values
    )
    applied = {*request.filters, *(f"by {g}" for g in request.grouping), "compare", "spend"}
    return Plan("budget", calls, frozenset(applied), request)


def _plan_comparison(request: Request, catalogue: Catalogue) -> Plan:
    """Return the comparison of FI with BPC ACTUAL. Raise CannotApply if the tool cannot do it."""
    filters: dict[str, Any] = {}
    for name, found in request.filters.items():
        filters[name] = _tool_values(name, found, catalogue)
    arguments: dict[str, Any] = {
        "left": "fi.totals",
        "right": "bpc.figures",
        "keys": _keys(request.grouping),
        "measure": "amount_group",
        "right_filters": {"version": "ACTUAL"},
    }
    if filters:
        arguments["filters"] = filters
    applied = {*filters, *(f"by {g}" for g in request.grouping), "explain", "difference", "compare"}
    if request.threshold and request.threshold.operator in (">", ">="):
        exact = float(request.threshold.amount)
        arguments["match_within"] = exact if request.threshold.operator == ">" else exact - 0.01
        applied.add("threshold")
    applied |= {"limit", "number of"} | (set() if request.order == "asc" else {"order"})
    if request.order_by == "difference":
        applied.add("order_by")
    return Plan("compare", (Call("compare_sources", arguments),), frozenset(applied), request)


def _keys(grouping: Sequence[str]) -> list[str]:
    keys = []
    for dimension in grouping:
        if dimension in ("fiscal_quarter", "gl_account"):
            raise CannotApply(
                f"FI and BPC cannot be compared by {DIMENSION_NAMES[dimension]}: both are kept by "
                "period and by group account. Ask by month, or by group account."
            )
        keys.append("group_account" if dimension == "account" else dimension)
    if keys == ["fiscal_period"]:
        keys = ["fiscal_year", "fiscal_period"]
    return keys or list(LEDGER_KEYS)


def _tool_values(name: str, found: Filter, catalogue: Catalogue) -> Any:
    """Return a filter as the tool takes it: a value or a list; an exclusion as all the others."""
    if name in ("months", "gl_account") or (name == "cost_centre" and found.excluded):
        sentence = {
            "months": "FI and BPC can be compared for periods that are the same in each year "
            "named, not for a time over the end of a year.",
            "gl_account": "BPC is kept by group account, not by GL account: name a group account. "
            f"They are: {catalogue.listed('group_account')}.",
            "cost_centre": "The comparison cannot leave out a cost centre, for revenue has none. "
            "Name those that you want.",
        }[name]
        raise CannotApply(sentence)
    values = list(found.values)
    if found.excluded:
        everything = (
            [str(p) for p in range(1, 13)]
            if name == "fiscal_period"
            else [entry.code for entry in catalogue.of(name)]
        )
        values = [v for v in values or everything if v not in found.excluded]
    if not values:
        raise CannotApply("What you leave out is all there is, so there is nothing to compare.")
    typed = values if name in THINGS else [int(value) for value in values]
    return typed[0] if len(typed) == 1 else typed


def _is_span(periods: Filter) -> bool:
    numbers = sorted(int(p) for p in periods.values)
    return not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))

"""The table of the demo model's intents: how to recognise, look up and answer each. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from backend.demo_model.conversation import Call, Conversation
from backend.demo_model.files.intents import THOUGHT, answer_file, is_about_file, plan_file
from backend.demo_model.plans import calls, charts
from backend.demo_model.plans.ledger import Plan
from backend.demo_model.plans.planning import (
    needs_catalogue,
    plan,
    refusal,
    too_long,
)
from backend.demo_model.plans.statement import CannotApply
from backend.demo_model.questions import recognising
from backend.demo_model.questions.catalogue import CALLS
from backend.demo_model.questions.understanding import Understanding, understand
from backend.demo_model.reading import UNREADABLE
from backend.demo_model.words import answers, differences, figures

_STEPS = ("Compare FI with BPC", "Look for postings entered late", "Explain the differences")
_THOUGHTS = {
    "budget": "The question is about budgets of cost centres.",
    "compare": "FI and BPC are to be compared.",
    "figures": "The figures are to be summed from the books.",
    "documents": "Documents of the ledger are asked for.",
    "list": "Master data is asked for.",
}


@dataclass(frozen=True)
class Intent:
    """One kind of question; `steps` are its todos if it takes several."""

    name: str
    recognises: Callable[[Conversation], bool]
    plan: Callable[[Conversation], Sequence[Call]]
    answer: Callable[[Conversation], str]
    thought: str = ""
    steps: tuple[str, ...] = ()


def choose_intent(conversation: Conversation) -> Intent:
    """Return the first intent that recognises the question; the last one is about figures."""
    if found := _recognised(_ABOUT_TEXT, conversation):
        return found
    asked = _choose(charts.without_words(conversation))
    return _drawn(asked) if charts.is_asked(conversation) else _undrawn(asked)


def _choose(conversation: Conversation) -> Intent:
    if found := _recognised(_OF_ANY_LENGTH, conversation):
        return found
    if refused := too_long(conversation):
        return _saying("refused", refused)
    return _recognised(_ABOUT_SOURCES, conversation) or _about_figures(conversation)


def _recognised(intents: Sequence[Intent], conversation: Conversation) -> Intent | None:
    return next((intent for intent in intents if intent.recognises(conversation)), None)


def _about_figures(conversation: Conversation) -> Intent:
    """Return the intent of a question about figures, given the results so far."""
    understood = understand(conversation)
    if not understood.request.is_about_figures:
        unread = ", ".join(f"“{run[:80]}”" for run in understood.request.unread)
        return _saying("anything else", answers.about(unread))
    if needs_catalogue(understood):
        thought = "First I look up what there is to ask for."
        return Intent("catalogue", _always, lambda _: CALLS, lambda _: UNREADABLE, thought)
    if refused := refusal(understood):
        return _saying("refused", refused)
    try:
        return _planned(plan(understood), understood)
    except CannotApply as problem:
        return _saying("refused", str(problem))


def _planned(found: Plan, understood: Understanding) -> Intent:
    def needed(conversation: Conversation) -> Sequence[Call]:
        if found.kind != "compare":
            return found.calls
        return [*found.calls, *calls.late_postings(conversation, found.request.limit)]

    def words(conversation: Conversation) -> str:
        if found.kind == "compare":
            return differences.explain(conversation, found, understood)
        return figures.answer(conversation, found, understood)

    steps = _STEPS if found.kind == "compare" else ()
    return Intent(found.kind, _always, needed, words, _THOUGHTS[found.kind], steps)


def _undrawn(asked: Intent) -> Intent:
    """Return the intent for a conversation in which charts may have been drawn before."""
    return replace(
        asked,
        plan=lambda conversation: asked.plan(charts.without_words(conversation)),
        answer=lambda conversation: asked.answer(charts.without_words(conversation)),
    )


def _drawn(asked: Intent) -> Intent:
    """Return the intent with its figures drawn rather than only looked up."""
    plain = _undrawn(asked)
    if asked.name in _NOTHING_TO_DRAW:
        return plain

    def needed(conversation: Conversation) -> Sequence[Call]:
        calls = plain.plan(conversation)
        if asked.name not in _DRAWN:
            return calls
        return [charts.to_chart(call, conversation) for call in calls]

    def words(conversation: Conversation) -> str:
        is_drawn = any(map(charts.is_drawn, needed(conversation)))
        return plain.answer(conversation) + ("" if is_drawn else charts.NO_CHART)

    thought = f"{asked.thought} A chart is asked for."
    return Intent("chart", _always, needed, words, thought, asked.steps)


def _saying(name: str, words: str) -> Intent:
    return Intent(name, _always, calls.nothing, lambda _: words)


def _always(_: Conversation) -> bool:
    return True


def _says(pattern: str) -> Callable[[Conversation], bool]:
    compiled = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda conversation: compiled.search(conversation.asked) is not None


def _describes(conversation: Conversation) -> bool:
    return recognising.asks_to_describe(conversation.asked)


_SUMMARISE = _says(r"context extraction|summar(y|ise|ize).{0,80}(conversation|messages|history)")

_DRAWN = ("figures", "sql", "file")
_NOTHING_TO_DRAW = ("anything else", "refused", "catalogue")
_ABOUT_TEXT: tuple[Intent, ...] = (
    Intent("title", _says(r"^give the conversation below a title"), calls.nothing, answers.title),
    Intent("summary", _SUMMARISE, calls.nothing, answers.summary),
    Intent(
        "dismissal",
        lambda conversation: recognising.dismisses(conversation.asked),
        calls.nothing,
        lambda _: "All right. Ask whenever you need figures.",
    ),
    Intent("count", lambda c: answers.counts_to(c) > 0, calls.nothing, answers.count),
)
_OF_ANY_LENGTH: tuple[Intent, ...] = (
    Intent(
        "sql",
        lambda conversation: recognising.holds_select(conversation.question),
        calls.sql,
        answers.rows,
        "The question holds a SELECT, which I can run as it is.",
    ),
    Intent("file", is_about_file, plan_file, answer_file, THOUGHT),
)
_ABOUT_SOURCES: tuple[Intent, ...] = (
    Intent(
        "list sources",
        lambda conversation: recognising.is_about_sources(conversation.asked),
        calls.list_sources,
        answers.sources,
        "The sources are asked for.",
    ),
    Intent(
        "describe source",
        _describes,
        calls.describe,
        answers.description,
        "The structure of a source is asked for.",
    ),
)

"""The subject of a message to a team, and the words by which to find an agent for it. Pure."""

import re

from backend.demo_model.conversation import LONGEST_QUESTION, Conversation
from backend.demo_model.files.asked import find_file_question
from backend.demo_model.plans import charts
from backend.demo_model.plans.planning import is_compare
from backend.demo_model.questions import recognising
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.request import SUBJECTS, Request
from backend.demo_model.questions.tokens import read_tokens

_LOOKS_BACK = 20  # messages
COMPARISON = ("reconcil", "compar", "differen", "bpc")
FIGURES = ("budget", "spen", "posting", "figure", "forecast")
SOURCES = ("data", "source", "describ", "file")
REPORT = ("report", "writ", "document")
CHART = ("chart", "draw", "plot")

_REPORT_CLAUSE = re.compile(
    r"[\s,;.]{0,5}\b(?:and\s{1,3})?(?:then\s{1,3})?(?:please\s{1,3})?"
    r"(?:write|make|prepare|draft|create|compose|give|produce|send)"
    r"(?:\s{1,3}(?:me|us|up|it))?(?:\s{1,3}(?:an?|the|my|our|short|brief|full)){0,3}"
    r"\s{1,3}reports?\b(?:\s{1,3}(?:about|of|on|for)\s{1,3}(?:it|that|this)\b)?"
    r"(?:[\s,]{1,3}please)?",
    re.IGNORECASE,
)
_ABOUT_THE_TEAM = re.compile(
    r"\b(?:what (?:else )?can (?:you|the team|this team|your team) do(?: for (?:me|us))?"
    r"|(?:who|what|how) are (?:you|your agents|the agents)|who is (?:there|here|in the team)"
    r"|(?:can|could) you help(?: me)?|help(?: me)?|how does (?:this|it) work)\b",
    re.IGNORECASE,
)
_GREETING_WORDS = """
    hello hi hey good morning afternoon evening thanks thank you very much so there team sage a lot
    great please bye nice to meet welcome and dear all again
"""
_GREETINGS = frozenset(_GREETING_WORDS.split())
_STARTING_WORDS = """
    yes yep yeah ok okay sure proceed go do run start begin agreed agree fine good perfect approved
    approve execute alright continue
"""
_STARTING = frozenset(_STARTING_WORDS.split())
_AROUND_STARTING = """
    please ahead with that the this plan your it looks great sounds now and so all let's let us as
    proposed carry on out right make for then just
"""
_AGREEMENT = _STARTING | frozenset(_AROUND_STARTING.split())
_OPENING = re.compile(r"(?:(?:yes|no|ok|okay|please|but|and)\b[\s,]{0,5}){1,4}", re.IGNORECASE)
_REFUSAL = re.compile(r"(?:no|nope|stop|cancel|never ?mind|don't|do not|not now)\b", re.IGNORECASE)


def find_matter(conversation: Conversation) -> tuple[str, ...] | None:
    """Return the words of the last message's subject; None if it is unclear."""
    conversation = charts.without_words(conversation)
    if recognising.holds_select(conversation.question) or find_file_question(conversation):
        return (*FIGURES, *SOURCES)
    if recognising.is_about_sources(conversation.asked):
        return SOURCES
    if recognising.asks_to_describe(conversation.asked):
        return SOURCES
    request = parse(conversation.asked, None)
    return matter_of(_standing(request, conversation))


def _standing(request: Request, conversation: Conversation) -> Request:
    """Return the question that a request without a subject of its own is to change."""
    if not request.is_about_figures or request.topics & SUBJECTS:
        return request
    texts = [text for role, text in conversation.transcript[:-1] if role == "user"]
    earlier = (parse(text[:LONGEST_QUESTION], None) for text in reversed(texts[-_LOOKS_BACK:]))
    return next((one for one in earlier if one.topics & SUBJECTS), request)


def matter_of(request: Request) -> tuple[str, ...] | None:
    """Return the words of a request's subject."""
    if not request.is_about_figures:
        return None
    return COMPARISON if is_compare(request) else FIGURES


def asks_for_report(text: str) -> bool:
    """Return whether the text asks for a report."""
    return _REPORT_CLAUSE.search(text) is not None


def without_report(text: str) -> str:
    """Return a request for a report without that: what the report is to be about."""
    rest = " ".join(_REPORT_CLAUSE.sub(" ", text).split()).strip(" ,;.")
    return re.sub(r"^(?:about|of|on|for|and|that)\s+", "", rest, flags=re.IGNORECASE)


def changed_question(question: str, wish: str) -> str:
    """Return a plan's question with one more filter; empty if the request is something else."""
    before, rest = parse(question, None), _OPENING.sub("", wish.strip())
    asked = parse(rest, None)
    is_whole = asked.unread or asked.topics & SUBJECTS or asked.problems
    if is_whole or not asked.filters or before.filters.keys() & asked.filters.keys():
        return ""
    return f"{question}, {rest.rstrip(' .!')}"


def is_small_talk(text: str) -> bool:
    """Return whether the whole text is a greeting, thanks, or asks what the team can do."""
    rest = _words(_ABOUT_THE_TEAM.sub(" ", text))
    return bool(text.strip()) and all(word in _GREETINGS for word in rest)


def agrees(text: str) -> bool:
    """Return whether the whole text agrees to start a plan."""
    words = _words(text)
    return bool(_STARTING.intersection(words)) and all(word in _AGREEMENT for word in words)


def refuses(text: str) -> bool:
    """Return whether the text begins by refusing."""
    return _REFUSAL.match(text.strip()) is not None


def _words(text: str) -> list[str]:
    return [t.plain.lower() for t in read_tokens(text) if t.kind in ("word", "number", "other")]

"""The demo model's decision whether a message continues with the agent that spoke last. Pure."""

import json
import re

from backend.demo_model.conversation import LONGEST_QUESTION, Conversation
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.recognising import holds_select, is_about_sources
from backend.demo_model.questions.request import SUBJECTS, Request
from backend.demo_model.team.matters import agrees, asks_for_report, is_small_talk, matter_of
from backend.demo_model.team.members import Member

_HEADING = "# Continuity"
_CANDIDATE = re.compile(r"The agent (\S+) spoke last\.\n(.*)")
_LATEST = re.compile(r"^Latest message:\n[^:\n]{1,80}: ", re.MULTILINE)
_ADDRESSED = ("explain", "difference", "compare")  # about the last answer, if without a subject
_SHORT = 8  # words


def is_asked(conversation: Conversation) -> bool:
    """Return whether the request asks about continuity."""
    return conversation.system.startswith(_HEADING)


def answer(conversation: Conversation) -> str:
    """Return the answer as the requested JSON."""
    found = _CANDIDATE.search(conversation.system)
    latest = _LATEST.search(conversation.question)
    if not found or not latest:
        return _said("UNSURE", "I cannot read the question.")
    candidate = Member(found[1], found[2])
    text = conversation.question[latest.end() :][:LONGEST_QUESTION]
    return _said(*_judge(candidate, text))


def _judge(candidate: Member, text: str) -> tuple[str, str]:
    if asks_for_report(text) or agrees(text):
        return "NO", "It is about a plan or a report."
    if is_small_talk(text):
        return "NO", "It asks nothing of the agent."
    if holds_select(text) or is_about_sources(text):
        return "NO", "It stands for itself."
    asked = parse(text, None)
    if not _changes_the_one_before(asked, text):
        return _stands_alone(asked)
    if asked.topics & SUBJECTS - set(_ADDRESSED):
        matter = matter_of(asked)
        if matter and not candidate.fits(matter):
            return "NO", f"It follows, but it is nothing for {candidate.name}."
    return "YES", "It changes or continues the question before."


def _changes_the_one_before(asked: Request, text: str) -> bool:
    if asked.is_marked or asked.adds:
        return asked.is_about_figures or len(text.split()) <= _SHORT
    return asked.is_about_figures and not (asked.topics & SUBJECTS or asked.unread)


def _stands_alone(asked: Request) -> tuple[str, str]:
    if asked.topics & SUBJECTS:
        return "NO", "It is a question of its own."
    return "UNSURE", "I do not understand what it is about."


def _said(word: str, reason: str) -> str:
    return json.dumps({"answer": word, "reason": reason})

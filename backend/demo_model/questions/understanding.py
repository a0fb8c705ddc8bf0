"""The meaning of the last question, including what it inherits from earlier ones. Pure."""

from dataclasses import dataclass, replace
from functools import reduce

from backend.demo_model.conversation import LONGEST_QUESTION, Conversation
from backend.demo_model.questions.catalogue import Catalogue, find_catalogue
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.recognising import dismisses, holds_select, is_about_sources
from backend.demo_model.questions.request import Request, follows, merge

NOTHING_OPEN = (
    "There is nothing of your last question that I did not understand. Name what to leave out, or"
    " what to change."
)
_LOOKS_BACK = 50  # questions
_READS_BACK = 10_000  # characters
_ANY = Request(
    topics=frozenset({"difference"})
)  # a question that even "the differences" may follow


@dataclass(frozen=True)
class Understanding:
    """The request, whether it follows another, and the catalogue if it was looked up."""

    request: Request
    catalogue: Catalogue | None
    follows: bool = False


@dataclass(frozen=True)
class _Before:
    """What a question may change: the last one, and the last that was not refused."""

    last: Request | None = None
    answered: Request | None = None

    def then(self, asked: Request) -> tuple[Request, bool]:
        """Return the question read together with the one that it changes, and whether it does.

        A whole question has nothing to do with a refused one, unless it chooses what was open.
        """
        passes = asked.is_whole and not asked.bare_kinds
        base = self.answered if passes and self.last and self.last.is_refused else self.last
        if base is None or not follows(asked, base):
            return asked, False
        if asked.drops and not base.is_refused:
            return replace(asked, problems=(NOTHING_OPEN, *asked.problems)), False
        return merge(base, asked), True

    def add(self, asked: Request) -> "_Before":
        """Return what the next question may change."""
        last = replace(self.then(asked)[0], notes=(), drops=False, is_marked=False)
        return _Before(last, self.answered if last.is_refused else last)


def understand(conversation: Conversation) -> Understanding:
    """Return the request of the last question, read together with those that it follows."""
    catalogue = find_catalogue(conversation)
    asked = parse(conversation.asked, catalogue)
    request, is_following = _before(conversation, catalogue).then(asked)
    return Understanding(request, catalogue, follows=is_following)


def _before(conversation: Conversation, catalogue: Catalogue | None) -> _Before:
    """Return what the questions before the last one leave to be changed."""
    texts = [text for role, text in conversation.transcript if role == "user"][:-1]
    requests: list[Request] = []
    read = 0
    for text in reversed(texts[-_LOOKS_BACK:]):
        plain = " ".join(text.split())
        if is_about_sources(plain) or dismisses(plain):
            continue
        read += len(plain)
        if len(plain) > LONGEST_QUESTION or read > _READS_BACK or holds_select(plain):
            requests.append(Request(is_lost=True))
            break
        request = parse(plain, catalogue)
        if not request.is_about_figures:
            continue
        requests.append(request)
        if not follows(request, _ANY) and not request.is_refused:
            break
    else:
        if len(texts) > _LOOKS_BACK:
            requests.append(Request(is_lost=True))
    return reduce(_Before.add, reversed(requests), _Before())

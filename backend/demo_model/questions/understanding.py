"""The meaning of the last question, including what it inherits from earlier ones. Pure."""

from dataclasses import dataclass, replace

from backend.demo_model.conversation import LONGEST_QUESTION, Conversation
from backend.demo_model.questions.catalogue import Catalogue, find_catalogue
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.recognising import holds_select, is_about_sources
from backend.demo_model.questions.request import Request, follows, merge

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


def understand(conversation: Conversation) -> Understanding:
    """Return the request of the last question, read together with those that it follows."""
    catalogue = find_catalogue(conversation)
    asked = parse(conversation.asked, catalogue)
    before = _before(conversation, catalogue)
    if before is None or not follows(asked, before):
        return Understanding(asked, catalogue)
    return Understanding(merge(before, asked), catalogue, follows=True)


def _before(conversation: Conversation, catalogue: Catalogue | None) -> Request | None:
    """Return the request before the last question; None if there is none to refer to."""
    texts = [text for role, text in conversation.transcript if role == "user"][:-1]
    requests: list[Request] = []
    read = 0
    for text in reversed(texts[-_LOOKS_BACK:]):
        plain = " ".join(text.split())
        if is_about_sources(plain):
            continue
        read += len(plain)
        if len(plain) > LONGEST_QUESTION or read > _READS_BACK or holds_select(plain):
            requests.append(Request(is_lost=True))
            break
        request = parse(plain, catalogue)
        if not request.is_about_figures:
            continue
        requests.append(request)
        if not follows(request, _ANY):
            break
    else:
        if len(texts) > _LOOKS_BACK:
            requests.append(Request(is_lost=True))
    standing: Request | None = None
    for request in reversed(requests):
        is_new = standing is None or not follows(request, standing)
        standing = request if is_new or standing is None else merge(standing, request)
    return standing and replace(standing, notes=(), drops=False, is_marked=False)

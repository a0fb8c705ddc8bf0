"""Why a turn was routed to its agent: a short phrase beside the name, and a sentence."""

from collections.abc import Callable, Mapping

from backend.schemas.conversations.turns import Route, RouteReason
from ui.shared.formats import reader


def short(route: Route | None, manager: str | None) -> str:
    """Return the reason in a word or two; empty where there is none to show."""
    if route is None:
        return ""
    if route.reason is RouteReason.HANDED_OVER:
        by = route.candidate or manager
        return f"by {by}" if by else _SHORT[route.reason]
    return _SHORT[route.reason]


def sentence(route: Route, agent: str, manager: str | None) -> str:
    """Return the reason as a sentence, with the tokens that the decision used."""
    sentences = [_SENTENCES[route.reason](route, agent, manager or "The manager")]
    if route.detail:
        sentences.append(route.detail.rstrip(".") + ".")
    if route.usage and (tokens := route.usage.input_tokens + route.usage.output_tokens):
        sentences.append(f"Asking a model about it took {reader.number(tokens)} tokens.")
    return " ".join(sentences)


def _by_manager(route: Route, agent: str, _: str) -> str:
    if route.candidate is None or route.answer is None:
        return f"The message names no agent, so {agent} took it."
    if route.answer == "NO":
        return f"The message does not continue with {route.candidate}, so {agent} took it."
    return f"It was unclear whether to continue with {route.candidate}, so {agent} took it."


def _by_other(route: Route, agent: str, manager: str) -> str:
    return f"{route.candidate or manager} handed the turn to {agent}."


_SHORT: Mapping[RouteReason, str] = {
    RouteReason.ASKED: "chosen",
    RouteReason.MENTION: "mentioned",
    RouteReason.CONTINUES: "continues",
    RouteReason.MANAGER: "manager",
    RouteReason.HANDED_OVER: "handed over",
    RouteReason.PENDING: "",
}
_SENTENCES: Mapping[RouteReason, Callable[[Route, str, str], str]] = {
    RouteReason.ASKED: lambda _, agent, __: f"The message was sent to {agent}.",
    RouteReason.MENTION: lambda _, agent, __: f"The message mentions {agent}.",
    RouteReason.CONTINUES: lambda _, agent, __: f"The message continues with {agent}.",
    RouteReason.MANAGER: _by_manager,
    RouteReason.HANDED_OVER: _by_other,
    RouteReason.PENDING: lambda *_: "The agent that answers is still being chosen.",
}

"""The table of all named policies, which a domain names and this module builds for a turn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from pydantic import BaseModel, ValidationError

from backend.agents.middleware.approvals import Approvals, ApprovalsSettings
from backend.agents.middleware.filesystem import Filesystem, FilesystemSettings
from backend.agents.middleware.model_call_limit import ModelCallLimit, ModelCallLimitSettings
from backend.agents.middleware.model_fallback import ModelFallback, ModelFallbackSettings
from backend.agents.middleware.model_retry import ModelRetry, ModelRetrySettings
from backend.agents.middleware.shortening.context_editing import (
    ContextEditing,
    ContextEditingSettings,
)
from backend.agents.middleware.shortening.recent_messages import (
    RecentMessages,
    RecentMessagesSettings,
)
from backend.agents.middleware.shortening.summarization import Summarization, SummarizationSettings
from backend.agents.middleware.title import TitleSettings
from backend.agents.middleware.todos import Todos, TodosSettings
from backend.agents.middleware.tool_call_limit import ToolCallLimit, ToolCallLimitSettings
from backend.agents.middleware.tool_names import tools_named_in
from backend.agents.middleware.tool_retry import ToolRetry, ToolRetrySettings
from backend.agents.policy_context import PolicyContext
from backend.domains.fault_words import faults_of
from backend.errors.base import InvalidInput
from backend.schemas.domains.configuration import Fault
from backend.schemas.wire import READING
from backend.types import JSON

Policy = AgentMiddleware[Any, Any]


@dataclass(frozen=True)
class PolicySpec:
    """A policy's settings, and how it is built from them for one turn.

    Without `build` it is not part of the agent: it works between turns. `brings`: its own tools.
    """

    settings: type[BaseModel]
    build: Callable[[Any, PolicyContext], Policy] | None
    brings: Sequence[str] = ()


MIDDLEWARE: Mapping[str, PolicySpec] = {
    "approvals": PolicySpec(ApprovalsSettings, lambda s, context: Approvals(s, context.answers)),
    "todos": PolicySpec(TodosSettings, lambda s, _: Todos(s), ["write_todos"]),
    "filesystem": PolicySpec(
        FilesystemSettings,
        lambda _, __: Filesystem(),
        ["list_files", "read_file", "write_file", "edit_file", "search_files"],
    ),
    "summarization": PolicySpec(SummarizationSettings, Summarization),
    "recent_messages": PolicySpec(RecentMessagesSettings, lambda s, _: RecentMessages(s)),
    "context_editing": PolicySpec(ContextEditingSettings, lambda s, _: ContextEditing(s)),
    "model_retry": PolicySpec(ModelRetrySettings, ModelRetry),
    "model_fallback": PolicySpec(ModelFallbackSettings, ModelFallback),
    "tool_retry": PolicySpec(ToolRetrySettings, lambda s, _: ToolRetry(s)),
    "model_call_limit": PolicySpec(ModelCallLimitSettings, lambda s, _: ModelCallLimit(s)),
    "tool_call_limit": PolicySpec(ToolCallLimitSettings, lambda s, _: ToolCallLimit(s)),
    "title": PolicySpec(TitleSettings, None),
}


def build_middleware(named: Sequence[str | JSON], context: PolicyContext) -> list[Policy]:
    """Return the named policies in order. Raise InvalidInput for an unknown one or setting."""
    chosen = [(MIDDLEWARE[name].build, settings) for name, settings in _read(named, READING)]
    return [build(settings, context) for build, settings in chosen if build]


def brought_tools(named: Sequence[str | JSON]) -> set[str]:
    """Return the names of the tools that these policies bring."""
    return {tool for name, _ in _read(named, READING) for tool in MIDDLEWARE[name].brings}


def check_middleware_names(named: Sequence[str | JSON]) -> None:
    """Raise InvalidInput unless every policy is known, named once, and its settings are valid."""
    names = [name for name, _ in _read(named, None)]
    if len(set(names)) != len(names):
        raise InvalidInput("A middleware is named twice.")


def find_policy_faults(path: Sequence[str | int], named: Sequence[str | JSON]) -> list[Fault]:
    """Return all faults of the policies at this path, each with its own path."""
    faults: list[Fault] = []
    seen: set[str] = set()
    for place, entry in enumerate(named):
        here = [*path, place]
        try:
            name, settings = _name_and_settings(entry)
            spec = _find(name)
        except InvalidInput as error:
            faults.append(Fault(path=here, message=error.detail))
            continue
        if name in seen:
            faults.append(Fault(path=here, message=f"{name} is named twice. Remove one."))
        seen.add(name)
        try:
            spec.settings.model_validate(settings)
        except ValidationError as error:
            faults += faults_of([*here, name], error.errors(include_url=False))
    return faults


def find_unknown_tools(
    path: Sequence[str | int], named: Sequence[str | JSON], tools: Sequence[str]
) -> list[Fault]:
    """Return a fault for each tool that these valid policies name and that nobody has.

    `tools` are those of the agents; the policies' own are added.
    """
    read = _read(named, None)
    known = [*tools, *(tool for name, _ in read for tool in MIDDLEWARE[name].brings)]
    return [
        Fault(
            path=[*path, place, name, *where],
            message=f"There is no tool {tool!r} here. Name one of these, or remove it:"
            f" {', '.join(known) or 'none'}.",
        )
        for place, (name, settings) in enumerate(read)
        for where, tool in tools_named_in(name, settings)
        if tool not in known
    ]


def find_settings(named: Sequence[str | JSON], wanted: str) -> Any:
    """Return the settings of the wanted policy; None if it is not named."""
    return next((settings for name, settings in _read(named, READING) if name == wanted), None)


def _read(named: Sequence[str | JSON], context: JSON | None) -> list[tuple[str, BaseModel]]:
    return [_read_one(*_name_and_settings(entry), context) for entry in named]


def _name_and_settings(entry: str | JSON) -> tuple[str, JSON]:
    if isinstance(entry, str):
        return entry, {}
    if len(entry) == 1 and isinstance(settings := next(iter(entry.values())), dict):
        return next(iter(entry)), settings
    raise InvalidInput("A middleware is a name, or {name: {setting: value}}.")


def _read_one(name: str, settings: JSON, context: JSON | None) -> tuple[str, BaseModel]:
    strict = False if context is READING else None  # stored settings are read as they are
    model = _find(name).settings
    try:
        return name, model.model_validate(settings, context=context, strict=strict)
    except ValidationError as error:
        raise InvalidInput(f"The middleware {name}: {_reason(error)}.") from error


def _find(name: str) -> PolicySpec:
    if name not in MIDDLEWARE:
        known = ", ".join(MIDDLEWARE)
        raise InvalidInput(f"There is no middleware {name!r}. There are: {known}.")
    return MIDDLEWARE[name]


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message

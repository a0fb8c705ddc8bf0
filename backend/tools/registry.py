"""The table of all tools: a domain names them, this module builds them for one turn."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from langchain_core.tools import BaseTool

from backend.errors.base import InvalidInput
from backend.tools.artifacts.charting import draw_chart
from backend.tools.artifacts.keeping import keep_file
from backend.tools.artifacts.making import make_artifact, revise_artifact
from backend.tools.artifacts.reading import read_artifact
from backend.tools.context import ToolContext
from backend.tools.sources.budget import get_budget
from backend.tools.sources.charting import make_chart
from backend.tools.sources.comparison import compare_sources
from backend.tools.sources.documents import read_document, search_document
from backend.tools.sources.querying import describe_source, list_sources, query_source


class Effect(StrEnum):
    """What running a tool a second time would do; decides what happens after a lost worker.

    read_only: nothing changes; idempotent: the same result as once; acts: it happens twice.
    """

    READ_ONLY = "read_only"
    IDEMPOTENT = "idempotent"
    ACTS = "acts"


@dataclass(frozen=True)
class ToolSpec:
    """How a tool is built for a turn, and its effect.

    One that is `for_documents` is offered by default only where there are documents, one that is
    `for_artifacts` only where artifacts are made.
    """

    build: Callable[[ToolContext], BaseTool]
    effect: Effect
    for_documents: bool = False
    for_artifacts: bool = False


def _chart_tool(context: ToolContext) -> BaseTool:
    """Return the tool that draws charts, also of artifacts where those are made."""
    return draw_chart(context) if context.makes_artifacts else make_chart(context)


TOOLS: Mapping[str, ToolSpec] = {
    "list_sources": ToolSpec(list_sources, Effect.READ_ONLY),
    "describe_source": ToolSpec(describe_source, Effect.READ_ONLY),
    "query_source": ToolSpec(query_source, Effect.READ_ONLY),
    "get_budget": ToolSpec(get_budget, Effect.READ_ONLY),
    "compare_sources": ToolSpec(compare_sources, Effect.READ_ONLY),
    "make_chart": ToolSpec(_chart_tool, Effect.READ_ONLY),
    "read_document": ToolSpec(read_document, Effect.READ_ONLY, for_documents=True),
    "search_document": ToolSpec(search_document, Effect.READ_ONLY, for_documents=True),
    "make_artifact": ToolSpec(make_artifact, Effect.IDEMPOTENT, for_artifacts=True),
    "read_artifact": ToolSpec(read_artifact, Effect.READ_ONLY, for_artifacts=True),
    "revise_artifact": ToolSpec(revise_artifact, Effect.IDEMPOTENT, for_artifacts=True),
    "keep_file": ToolSpec(keep_file, Effect.IDEMPOTENT, for_artifacts=True),
}
ARTIFACT_TOOLS = frozenset(name for name, spec in TOOLS.items() if spec.for_artifacts)


def check_tool_names(names: Sequence[str]) -> None:
    """Raise InvalidInput that names the first unknown tool and those that exist."""
    for name in names:
        if name not in TOOLS:
            raise InvalidInput(f"There is no tool {name!r}. The tools are {', '.join(TOOLS)}.")


def offered_tools(
    names: Sequence[str] | None, named: Collection[str], context: ToolContext
) -> list[str]:
    """Return the tools of a turn: the named ones, or all that apply.

    `named` are those that agents name themselves: they get them in any case.
    """
    if names is not None:
        return list(names)
    return [
        name
        for name, spec in TOOLS.items()
        if name in named
        or (
            (context.has_documents or not spec.for_documents)
            and (context.makes_artifacts or not spec.for_artifacts)
        )
    ]


def build_tools(names: Sequence[str] | None, context: ToolContext) -> list[BaseTool]:
    """Return the named tools for one turn, each once and in that order; for None, all."""
    chosen = list(TOOLS) if names is None else list(dict.fromkeys(names))
    check_tool_names(chosen)
    return [TOOLS[name].build(context) for name in chosen]

"""Which tools the settings of policies name: a name that no tool has is without effect."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Named = Iterable[tuple[list[str | int], str]]  # each with its place in the settings

NAMING: Mapping[str, Callable[[Any], Named]] = {
    "approvals": lambda s: (
        (["rules", place, "tools"], rule.tools)
        for place, rule in enumerate(s.rules)
        # A pattern may be about tools to come.
        if not set("*?[") & set(rule.tools)
    ),
    "context_editing": lambda s: ((["never", place], tool) for place, tool in enumerate(s.never)),
    "tool_retry": lambda s: ((["tools", place], tool) for place, tool in enumerate(s.tools or ())),
    "tool_call_limit": lambda s: [(["tool"], s.tool)] if s.tool else [],
}


def tools_named_in(policy: str, settings: Any) -> Named:
    """Return the tools that the settings of a policy name."""
    return NAMING[policy](settings) if policy in NAMING else ()

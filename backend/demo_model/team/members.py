"""What a manager's system prompt tells the demo model: its role, and the agents to ask. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_AGENTS, _FORM = "# Agents", "# How to answer"
_TOOLS = re.compile(r" *\(has [^()]*\)$")  # an agent's tools describe its purpose less well
_LINE = re.compile(r"[-*] +[`*]*([^\W\d_][^\s`*:]*)[`*]*(?: *[:-] *(.*))?")


@dataclass(frozen=True)
class Member:
    """An agent that a manager may ask."""

    name: str
    description: str

    def fits(self, roots: Sequence[str]) -> int:
        """Return how many of these word stems its name and description contain."""
        text = f"{self.name} {self.description}".lower()
        return sum(root in text for root in roots)


def leads(system: str) -> bool:
    """Return whether the system prompt is a manager's: it has agents, and a response form."""
    lines = system.splitlines()
    return _AGENTS in lines and _FORM in lines


def read_members(system: str) -> list[Member]:
    """Return the agents that the system prompt lists."""
    lines = system.splitlines()
    members = []
    for line in lines[lines.index(_AGENTS) + 1 :]:
        if line.startswith("# "):
            break
        if found := _LINE.fullmatch(line.strip()):
            members.append(Member(found[1], _TOOLS.sub("", found[2] or "").strip()))
    return members


def choose_member(members: Sequence[Member], roots: Sequence[str]) -> Member | None:
    """Return the agent that these words fit best; None if they fit none."""
    best = max(members, key=lambda member: member.fits(roots), default=None)
    return best if best and best.fits(roots) else None


def listed(members: Sequence[Member]) -> str:
    """Return the agents as a list, with the purpose of each."""
    lines = [
        f"- **{member.name}**: {member.description}" if member.description else f"- {member.name}"
        for member in members
    ]
    return "\n".join(lines)

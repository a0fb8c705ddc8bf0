"""Recorded answers of many endpoints, written anew in their form, and what each of them means.

A file of `samples/answers` has a first part of three lines (what it shows, status, content type),
a blank line, and then the bytes of the answer. The tables here say what has to come out.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.types import JSON

FOLDER = Path(__file__).parent / "samples" / "answers"
BUDGET = ("get_budget", {"cost_centre": "CC-1001"})
SOURCES = ("list_sources", {})
SIGNATURE = {"google": {"thought_signature": "CpcBAdHtim9xQz8+a/Vn=="}}


@dataclass(frozen=True)
class Expected:
    """What an answer says. `usage`: tokens in, out, of them cached and of thinking.

    `ids`: of its calls, None for one that was made up. `back`: fields of its message that are
    sent again beside role, content and calls; `back_calls`: fields of its calls, by their places.
    `content`: what is sent again instead of the text.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, JSON], ...] = ()
    ids: tuple[str | None, ...] = ()
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    back: JSON = field(default_factory=dict)
    back_calls: dict[int, JSON] = field(default_factory=dict)
    content: Any = None
    told: JSON = field(default_factory=dict)


def details(kind: str, style: str, **fields: Any) -> JSON:
    """A piece of thinking in OpenRouter's form."""
    return {"type": f"reasoning.{kind}", "format": style, "index": 0, **fields}


def step(name: str) -> JSON:
    """The recorded answer as a step of a scripted model."""
    head, _, body = (FOLDER / f"{name}.txt").read_bytes().partition(b"\n\n")
    _, status, kind = head.decode().split("\n")
    return {
        "raw": body,
        "status": int(status.removeprefix("status: ")),
        "media_type": kind.removeprefix("content-type: "),
    }

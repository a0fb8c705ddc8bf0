"""JSON in a Markdown fence, as models answer with it. In linear time: models write anything."""

import re
from collections.abc import Iterator

MARK = "```"
# Blanks of one line only, so that no search begins in the middle of what another has read.
OPENING = re.compile(r"```(?:json)?[^\S\n]*\n")


def fenced_parts(text: str) -> Iterator[str]:
    """Yield what is in each fence of a text, without blanks around it."""
    end = 0
    while opening := OPENING.search(text, end):
        start = opening.end()
        if (closing := text.find(MARK, start)) < 0:
            return
        yield text[start:closing].strip()
        end = closing + len(MARK)


def without_fence(text: str) -> str:
    """Return what is in the fence around a whole text, or the text, without blanks around it.

    A fence within it ends nothing: it belongs to what is in the outer one.
    """
    text = text.strip()
    opening = OPENING.match(text)
    closed = text.endswith(f"\n{MARK}")
    return text[opening.end() : -len(MARK)].strip() if opening and closed else text

"""The mark of an agent: its initial on a colour derived from its name. Pure.

White has a contrast of 4.5 to 1 on each colour, and each colour has one of 3 to 1 on the page
backgrounds of both themes (WCAG 1.4.3 and 1.4.11).
"""

from html import escape
from zlib import crc32

COLOURS = (
    "#347f78", "#41789f", "#556eb9", "#7a63bf", "#9e51b8", "#b54a91",
    "#b8516b", "#b15a48", "#98683e", "#826f35", "#5d7b32", "#35824f",
)  # fmt: skip
_MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="8" fill="{colour}"/>'
    '<text x="16" y="21.5" text-anchor="middle" fill="#ffffff" font-size="15" font-weight="600"'
    ' font-family="sans-serif">{initial}</text></svg>'
)


def colour(name: str) -> str:
    """Return the colour for a name, the same in all sessions."""
    return COLOURS[crc32(f"agent {name.lower()}".encode()) % len(COLOURS)]


def initial(name: str) -> str:
    """Return the letter that stands for a name."""
    return name[:1].upper() or "?"


def picture(name: str) -> str:
    """Return the mark as SVG."""
    return _MARK.format(colour=colour(name), initial=escape(initial(name)))

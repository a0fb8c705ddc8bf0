"""Addresses that stand in a text as they are: where one ends, and the next sentence begins. Pure.

One begins with http:// or https://. It ends before a space, a quotation mark, a bracket without
partner, any punctuation outside ASCII, and a letter of a script without spaces between words,
unless a whole segment begins with it (`/wiki/中国`); and before punctuation at its end.
`ui/assets/dialect.js` has the same rule.
"""

import re

from markdown_it.rules_inline import StateInline

from backend.text import UNSPACED

_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
_ADDRESS = re.compile(
    r"https?://(?=[^\W_])"
    rf"(?:[\w.~:/?#@!$&()+,;=%-](?<![{UNSPACED}])|(?<=[/=])[{UNSPACED}]+)+",
    re.IGNORECASE,
)
_AT_END = ".,:;!?_~&$("
LONGEST_SCHEME = len("https")


def find_address(text: str, start: int, end: int) -> str:
    """Return the address that begins at this place; empty if none does."""
    found = _ADDRESS.match(text, start, end)
    if found is None:
        return ""
    address, depth = found[0], 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            address = address[:place]
            break
    address = address.rstrip(_AT_END)
    return address if len(address) > len("https://") else ""


def read_bare_link(state: StateInline, silent: bool) -> bool:
    """Read an address as a link to it; the parser stops at its colon."""
    if state.src[state.pos] != ":" or state.linkLevel:
        return False
    scheme = _SCHEME.search(state.src[max(0, state.pos - LONGEST_SCHEME - 1) : state.pos])
    if scheme is None:
        return False
    before = len(scheme[0])
    address = find_address(state.src, state.pos - before, state.posMax)
    href = state.md.normalizeLink(address)
    if not address or not state.md.validateLink(href):
        return False
    if not silent:
        state.pending = state.pending[:-before]
        state.push("link_open", "a", 1).attrs = {"href": href}
        state.push("text", "", 0).content = address
        state.push("link_close", "a", -1)
    state.pos += len(address) - before
    return True

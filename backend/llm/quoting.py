"""Quoting an endpoint's error message for people: on one line, shortened, without secrets."""

import re
from typing import Any

from colloquy_kit.messages.clean import clean_text

MAX_CHARS = 300
MAX_WORDS = 20_000  # characters of an endpoint's words that are searched at all
MAX_FAULTS = 20
HIDDEN = "…"
# After "key" and a blank, a word in small letters is a word: "Incorrect API key provided".
_SECRET = re.compile(
    r"\b(?:(?:sk|pk|key|bearer)[-_]|(?:sk|pk|bearer) )[\w\-*.]{4,}"
    r"|\bkey (?!(?-i:[a-z]+)[.,:;]?(?:\s|\Z))[\w\-*.]{4,}"
    r"|\b(?:gsk|csk|xai|pplx|nvapi|hf|fw|tgp)[-_][\w\-*.]{4,}|\bAIza[\w-]{8,}|//[^/\s@]+@",
    re.IGNORECASE,
)


def error_in(body: Any) -> Any:
    """Return the error itself in an error's body, without what is around it."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    return (body.get("error") or body) if isinstance(body, dict) else body


def words_in(body: Any) -> str:
    """Return the message in an error's body; nothing if it is an HTML page."""
    body = error_in(body)
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("title") or ""
    if isinstance(body, dict):
        body = body.get("detail")
    if isinstance(body, list):
        body = "; ".join(_fault(fault) for fault in body[:MAX_FAULTS] if isinstance(fault, dict))
    text = body if isinstance(body, str) else ""
    return "" if text.lstrip().startswith("<") else text[:MAX_WORDS]


def _fault(fault: dict[str, Any]) -> str:
    """Return a refused field and why, as FastAPI writes it."""
    place = fault.get("loc")
    name = ".".join(map(str, place)) if isinstance(place, list) else ""
    return f"{name}: {fault.get('msg')}" if name else str(fault.get("msg") or "")


def without_secrets(text: str) -> str:
    """Return the text without anything that looks like a credential."""
    return _SECRET.sub(HIDDEN, text)


def without_key(text: str, key: str) -> str:
    """Return the text without the key that was sent; a placeholder may be a part of words."""
    return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", HIDDEN, text) if key else text


def one_line(text: str) -> str:
    """Return a text on one line, without secrets, shortened."""
    line = " ".join(clean_text(without_secrets(text)).split())
    return f"{line[:MAX_CHARS]}…" if len(line) > MAX_CHARS else line


def quote(text: str) -> str:
    """Return a text in quotation marks: on one line, without secrets, shortened."""
    return f"“{one_line(text)}”"

"""Reading a delta of an answer: its text, thinking, content parts and usage."""

import math
from typing import Any

from langchain_core.messages.ai import UsageMetadata

from backend.types import JSON
from colloquy_kit.messages.arguments import REASONING
from colloquy_kit.messages.clean import clean_text

THOUGHTS = ("thinking", "reasoning")
THOUGHT_KEYS = ("thinking", "reasoning", "text", "summary")
TEXTS = ("text", "output_text")
UNSHOWN = "unshown"  # kinds of parts that people do not see, in a message's metadata
LONGEST_KIND = 40
_READ = (*THOUGHTS, "reference")
_MEDIA = ("images", "audio")  # beside the content
CUT_SHORT = ("length", "content_filter")
BROKEN = (None, "error", "abort", "insufficient_system_resource", "network_error")
MAX_TOKENS = 10**9  # of one answer: an endpoint may report anything
MALFORMED = "malformed_function_call"
# Other finish reasons, by their prefix.
_REASONS = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "spii": "content_filter",
    "function_call_filter": MALFORMED,
    MALFORMED: MALFORMED,
}


def finish_reason_of(choice: JSON) -> str | None:
    """Return why the answer ended, in OpenAI's terms; None while it has not."""
    if not (given := str(choice.get("finish_reason") or "")):
        return None
    known = (reason for begin, reason in _REASONS.items() if given.lower().startswith(begin))
    return next(known, given)


def text_of(content: Any) -> str:
    """Return the text of a delta; some endpoints send it in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") in TEXTS)
    if content is not None and not isinstance(content, str):
        raise TypeError("content is neither text nor parts")
    return content or ""


def thinking_of(delta: JSON) -> str:
    """Return a delta's thinking: a field beside the content, or parts there or within it."""
    reasoning = delta.get(REASONING) or delta.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        return reasoning
    places = (delta.get("content"), delta.get("reasoning_details"), delta.get("thinking_blocks"))
    parts = [part for given in places if isinstance(given, list) for part in given]
    return "".join(_thought(part) for part in parts if isinstance(part, dict))


def unshown_in(delta: JSON) -> set[str]:
    """Return the kinds of a delta's parts that people do not see: pictures, sound, unknown ones."""
    content = delta.get("content")
    parts = content if isinstance(content, list) else ()
    kinds = {str(part.get("type") or "part") for part in parts}
    unknown = {kind for kind in kinds.difference(TEXTS) if not kind.startswith(_READ)}
    return {clean_text(kind[:LONGEST_KIND]) for kind in unknown} | {
        name for name in _MEDIA if delta.get(name)
    }


def says_thoughts(content: Any) -> bool:
    """Return whether a content comes in parts that include thinking."""
    parts = content if isinstance(content, list) else ()
    kinds = (str(part.get("type")) for part in parts if isinstance(part, dict))
    return any(kind.startswith(THOUGHTS) for kind in kinds)


def usage_in(chunk: JSON) -> JSON | None:
    """Return the usage in a chunk; endpoints put it in various places."""
    usage = chunk.get("usage")
    for place in (chunk.get("x_groq"), *(chunk.get("choices") or ())[:1]):
        if not usage and place and "usage" in place:
            usage = place["usage"]
    return usage if usage and isinstance(usage, dict) else None


def usage_of(usage: JSON | None) -> UsageMetadata | None:
    """Return the usage in LangChain's terms.

    xAI and Gemini count thinking in the total only, and some endpoints name just the total.
    """
    if usage is None:
        return None
    total, written = _count(usage, "total_tokens"), _count(usage, "completion_tokens")
    tokens_in = _count(usage, "prompt_tokens") or max(0, total - written)
    tokens_out = max(written, total - tokens_in)
    used = UsageMetadata(
        input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out
    )
    of_input, of_output = (usage.get(f"{part}_tokens_details") for part in ("prompt", "completion"))
    own_words = _count(usage, "prompt_cache_hit_tokens") or _count(usage, "cached_tokens")
    if cached := min(_count(of_input, "cached_tokens") or own_words, tokens_in):
        used["input_token_details"] = {"cache_read": cached}
    if reasoning := min(_count(of_output, "reasoning_tokens"), tokens_out):
        used["output_token_details"] = {"reasoning": reasoning}
    return used


def _count(usage: Any, name: str) -> int:
    """Return a number of tokens, within bounds; some endpoints send it as a float or as text."""
    count = usage.get(name) if isinstance(usage, dict) else None
    try:
        tokens = math.ceil(float(count))  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        return 0
    return min(max(0, tokens), MAX_TOKENS)


def _thought(part: JSON) -> str:
    """Return the thinking in a part; endpoints differ in where they put it."""
    if not str(part.get("type")).startswith(THOUGHTS):
        return ""
    thought = next((thought for key in THOUGHT_KEYS if (thought := part.get(key))), "")
    if isinstance(thought, list):
        return "".join(str(inner.get("text") or "") for inner in thought if isinstance(inner, dict))
    return thought if isinstance(thought, str) else ""

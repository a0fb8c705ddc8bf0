"""Cuts a long text into parts that a browser lays out one by one. Pure."""

PART_CHARS = 8_000


def split_lines(text: str, size: int) -> list[str]:
    """Return a text in parts of about `size` characters, cut at line ends where possible."""
    parts, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            found = text.rfind("\n", start, end) + 1
            end = found or end
        parts.append(text[start:end])
        start = end
    return parts

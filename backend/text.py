"""Text as it may be stored: what PostgreSQL and JSON refuse is replaced, visibly, on arrival."""

NUL_SYMBOL = "\u2400"
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """Replace NUL and lone surrogates; join surrogate pairs; leave all other text as it is."""
    text = text.replace("\x00", NUL_SYMBOL)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

"""The dialect's examples, and HTML in the one form in which two ways are compared."""

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import yaml

LEFT_OUT = ("target", "rel", "class")


@dataclass(frozen=True)
class Example:
    """What a text means, as HTML."""

    claim: str
    text: str
    html: str


def examples() -> list[Example]:
    """Return all examples."""
    found = yaml.safe_load((Path(__file__).parent / "samples" / "markdown.yaml").read_text())
    return [Example(**one) for one in found]


class _Parts(HTMLParser):
    """Gathers the tags and texts of some HTML, without blanks around them."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = sorted((name, (value or "").rstrip(";").replace(": ", ":")) for name, value in attrs)
        self.parts.append(f"<{tag}{[one for one in kept if one[0] not in LEFT_OUT] or ''}>")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts += [" ".join(data.split())] if data.strip() else []
        self.words += data.split()


def structure_of(html: str) -> list[str]:
    """Return the tags and texts of some HTML."""
    return _read(html).parts


def words_of(html: str) -> str:
    """Return the visible text of some HTML, with its blanks made equal."""
    return " ".join(_read(html).words)


def _read(html: str) -> _Parts:
    parser = _Parts()
    parser.feed(html)
    parser.close()
    return parser

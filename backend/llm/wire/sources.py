"""The sources of an answer, as endpoints report them: cited pages, tools run by the provider.

They are for people only. Lists come whole with each chunk (Perplexity, xAI), as annotations of a
delta (OpenAI, OpenRouter), within results of tools that the provider ran (Groq), or in content
parts (Mistral).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from backend.types import JSON
from colloquy_kit.messages.clean import clean_text

SOURCES, MORE_SOURCES, EXECUTED = "sources", "more_sources", "executed_tools"
MAX_SOURCES = 100
MAX_TITLE_CHARS = 300
MAX_URL_CHARS = 2_000
MAX_TOOLS = 50
MAX_READ = 1_000
_LISTS = ("citations", "search_results", "web_search", "references")
_WITHIN = ("context", "search_info")
_PLACES = frozenset([*_LISTS, *_WITHIN, "annotations", EXECUTED])
_ADDRESSES = ("url", "link", "uri")
_OF_TOOL = ("name", "type", "arguments", "search_results")
_TITLES = ("title", "name", "filepath")


class Sources:
    """Gathers the sources of one answer, in the order in which its text numbers them."""

    def __init__(self) -> None:
        self._lists: dict[str, list[Any]] = {}
        self._cited: list[Any] = []
        self._references: dict[str, None] = {}
        self._executed: dict[Any, JSON] = {}

    def add(self, told: JSON) -> None:
        """Add the sources in a chunk, a delta or a message."""
        if _PLACES.isdisjoint(told):
            return
        for name in _LISTS:
            if isinstance(given := told.get(name), list) and given:
                self._lists[name] = given[:MAX_READ]  # complete each time
        for place in _WITHIN:
            if isinstance(inner := told.get(place), dict):
                self.add(inner)
        self._cite(told)
        for tool in _objects(told.get(EXECUTED)):
            self._add_tool(tool)

    def add_parts(self, parts: Iterable[Any]) -> None:
        """Add content parts that refer to something."""
        for part in _objects(list(parts)):
            if part.get("type") == "reference":
                ids = part.get("reference_ids")
                names = ids if isinstance(ids, list) else []
                self._references |= {f"Reference {name}"[:MAX_TITLE_CHARS]: None for name in names}
            self._cite(part)

    def told(self) -> JSON:
        """Return what is stored with the message, without empty parts."""
        sources = list(self._found())
        told: JSON = {
            SOURCES: sources[:MAX_SOURCES],
            MORE_SOURCES: max(0, len(sources) - MAX_SOURCES),
            EXECUTED: [_executed(tool) for tool in self._executed.values()],
        }
        return {name: value for name, value in told.items() if value}

    def _cite(self, told: JSON) -> None:
        if len(self._cited) < MAX_READ:
            self._cited += _of_annotations(told.get("annotations"))

    def _add_tool(self, tool: JSON) -> None:
        key = tool.get("index", len(self._executed))
        if key in self._executed or len(self._executed) < MAX_TOOLS:
            known = {name: tool[name] for name in _OF_TOOL if tool.get(name) is not None}
            self._executed[key] = {**self._executed.get(key, {}), **known}

    def _found(self) -> Iterator[JSON]:
        """Yield each page once, by first mention; its title may come with a later one."""
        results: list[Any] = []
        for tool in self._executed.values():
            found = tool.get("search_results")
            results += _objects(found.get("results") if isinstance(found, dict) else found)
        lists = [each for name in _LISTS for each in self._lists.get(name, ())]
        by_url: dict[str, JSON] = {}
        for given in (*lists, *self._cited, *results):
            source = _source(given)
            if url := source.get("url"):
                by_url[url] = {**source, **by_url.get(url, {})}
            elif source:
                by_url.setdefault(source["title"], source)
        yield from by_url.values()
        yield from ({"title": name} for name in self._references)


def _source(given: Any) -> JSON:
    """Return a source as title and address, each if it has one."""
    if isinstance(given, str):
        is_address = given.startswith(("http://", "https://"))
        given = {"url" if is_address else "title": given}
    if not isinstance(given, dict):
        return {}
    url = next((u for name in _ADDRESSES if isinstance(u := given.get(name), str)), "")
    title = next((t for name in _TITLES if isinstance(t := given.get(name), str)), "")
    source = {"url": clean_text(url) if len(url) <= MAX_URL_CHARS else ""}
    source["title"] = clean_text(" ".join(title.split()))[:MAX_TITLE_CHARS]
    return {name: value for name, value in source.items() if value}


def _of_annotations(given: Any) -> list[Any]:
    """Return the pages that annotations cite; their fields may be one level deeper."""
    kinds = ("url_citation", "file_citation")
    return [
        inner if isinstance(inner := annotation.get(kind), dict) else annotation
        for annotation in _objects(given)
        for kind in kinds
        if annotation.get("type") == kind
    ]


def _executed(tool: JSON) -> JSON:
    """Return what people see of a tool that the provider ran."""
    name = tool.get("name") or tool.get("type") or "tool"
    arguments = tool.get("arguments")
    entry = {"name": clean_text(str(name))[:MAX_TITLE_CHARS]}
    if isinstance(arguments, str) and arguments:
        text = clean_text(arguments)
        is_long = len(text) > MAX_TITLE_CHARS
        entry["arguments"] = f"{text[: MAX_TITLE_CHARS - 1]}…" if is_long else text
    return entry


def _objects(given: Any) -> list[JSON]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []

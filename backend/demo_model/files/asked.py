"""Decides whether a question is about an uploaded file, and which one. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from backend.demo_model.conversation import Conversation
from backend.demo_model.reading import read_rows
from backend.schemas.data.files import ATTACHED_LINE

_LOOKS_BACK = 50  # messages
_LONGEST = 2_000
_LEDGER = re.compile(
    r"\b(fi|bpc|budgets?|forecasts?|cost cent(?:re|er)s?|cc-?\d+|compan(?:y|ies)|gl accounts?"
    r"|ledgers?|variances?|overspent|spen[dt]\w*|sources?|select|what data)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"`(?P<code>[^`\n]{1,255})`"
    r"|(?P<file>[^\s\"'`,;:?!()]{1,200}\.(?:csv|tsv|txt|xlsx?|xlsm|parquet|jsonl?|ndjson|xml|sta|pdf|md)\b)"
    r"|\b(?:of|in|from|for|about) (?:the )?file (?P<after>[^\W\d]\w{1,60})(?=$|[\s?.!,])",
    re.IGNORECASE,
)
_NO_NAMES = frozenset(["by", "has", "have", "and", "with", "in", "is", "of", "the", "that", "i"])


@dataclass(frozen=True)
class FileQuestion:
    """The file that a question is about, and the question without its name.

    `source` is empty until the name has been looked up; `name` is then as it was written. `others`:
    the names of the other attached files, where the question names none.
    """

    source: str
    name: str
    text: str
    others: tuple[str, ...] = ()


def find_file_question(conversation: Conversation) -> FileQuestion | None:
    """Return the file that the last question is about, if any."""
    texts = [text for role, text in conversation.transcript if role == "user"]
    earlier = texts[:-1][-_LOOKS_BACK:]
    known = {source: name for text in earlier for source, name in _attached(text).items()}
    found = _directly(conversation.question, known)
    if found is None and not _LEDGER.search(conversation.question[:_LONGEST]):
        found = _standing(earlier, known, conversation.question)
    if found and not found.source:
        return _looked_up(conversation, found)
    return found


def _directly(question: str, known: Mapping[str, str]) -> FileQuestion | None:
    """Return the file that is attached to the question, or that it names."""
    attached = _attached(question)
    text = ATTACHED_LINE.sub("", question)[:_LONGEST].strip()
    for source, name in {**attached, **known}.items():
        for written in (name, source, name.rpartition(".")[0]):
            if written and re.search(rf"(?<!\w){re.escape(written)}(?!\w)", text, re.IGNORECASE):
                bare = re.sub(re.escape(written), " ", text, flags=re.IGNORECASE)
                return FileQuestion(source, name, bare.replace("`", " "))
    if attached:
        (source, name), *others = attached.items()
        return FileQuestion(source, name, text, tuple(name for _, name in others))
    named = _NAMED.search(text)
    name = next((part for part in named.groups() if part), "") if named else ""
    if not named or name.lower() in (*_NO_NAMES, "fi", "bpc") or _is_table(name):
        return None
    return FileQuestion("", name, f"{text[: named.start()]} {text[named.end() :]}")


def _standing(earlier: list[str], known: Mapping[str, str], question: str) -> FileQuestion | None:
    """Return the file that the previous questions were about, if any."""
    for text in reversed(earlier):
        if found := _directly(text, known):
            return replace(found, text=question[:_LONGEST])
        if _LEDGER.search(text[:_LONGEST]):
            return None
    return None


def _attached(text: str) -> dict[str, str]:
    return {found["source"]: found["name"] for found in ATTACHED_LINE.finditer(text)}


def _is_table(name: str) -> bool:
    """Return whether this is a table of the bundled ledgers, such as fi.documents."""
    return name.lower().startswith(("fi.", "bpc."))


def _looked_up(conversation: Conversation, asked: FileQuestion) -> FileQuestion:
    """Return the file with its source, once the sources have been listed."""
    wanted = asked.name.lower()
    for row in _listed(conversation):
        in_words = rf"(?<!\w){re.escape(wanted)}(?!\w)"
        if wanted == row["source"] or re.search(in_words, row["description"].lower()):
            return replace(asked, source=row["source"])
    return asked


def _listed(conversation: Conversation) -> Iterator[Mapping[str, str]]:
    for result in conversation.results:
        if result.call.name == "list_sources":
            yield from read_rows(result.content, "source", "description")

"""Reading an upload: this runs in a child of the sandbox, because files are not trusted."""

import base64
import binascii
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote_to_bytes

from backend.errors.base import AppError
from backend.imports.errors import ImportRefused
from backend.imports.model import ImportedConversation, Skipped, StoredConversation
from backend.imports.prepare import count_parts
from backend.imports.registry import find_format
from backend.imports.tree import MOST_MESSAGES
from backend.imports.upload import Upload
from backend.sandbox.messages import Bounds

INSPECTING = Bounds(seconds=300, megabytes=2_000)
READING = Bounds(seconds=900, megabytes=2_000)
MOST_CONVERSATIONS = 100_000
MOST_NAMED = 100  # skipped conversations that an inspection names
MOST_NOTES = 30
MOST_TITLES = 10
_PIECE = 1 << 20
Read = ImportedConversation | StoredConversation | Skipped


@dataclass
class Inspection:
    """What is in an upload; `ids` are its conversations'."""

    format: str
    label: str
    conversations: int = 0
    messages: int = 0
    attachments: int = 0
    missing: int = 0
    skipped: list[dict[str, str]] = field(default_factory=list)
    skipped_count: int = 0
    notes: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    first_at: datetime | None = None
    last_at: datetime | None = None
    ids: list[str] = field(default_factory=list)


def inspect(path: Path, name: str) -> Inspection:
    """Read all of an upload and return what is in it. Raise ImportRefused."""
    upload = Upload(path, name)
    found = find_format(upload)
    result = Inspection(found.NAME, found.LABEL)
    notes: Counter[str] = Counter()
    for one in _read(upload):
        if isinstance(one, Skipped):
            result.skipped_count += 1
            if len(result.skipped) < MOST_NAMED:
                named = (one.title or one.source_id)[:200]
                result.skipped.append({"title": named, "reason": one.reason[:500]})
            continue
        _count(result, one)
        notes.update(note[:300] for note in one.notes)
    notes.update(upload.notes)
    result.notes = [
        note if count == 1 else f"{note} ({count:,} times)"
        for note, count in notes.most_common(MOST_NOTES)
    ]
    return result


def convert(path: Path, name: str, place: Path) -> int:
    """Write the conversations of an upload to a file, each as it was read; return their number.

    The file appears at its place when it is complete. Raise ImportRefused.
    """
    count = 0
    beside = place.with_name(f"{place.name}.part")
    with beside.open("wb") as file:
        for one in _read(Upload(path, name)):
            pickle.dump(one, file, pickle.HIGHEST_PROTOCOL)
            count += 1
    beside.rename(place)
    return count


def converted(place: Path, after: int) -> Iterator[Read]:
    """Yield what `convert` has written, without the first ones."""
    with place.open("rb") as file:
        number = 0
        while True:
            try:
                one: Read = pickle.load(file)  # noqa: S301 - written by our own child
            except EOFError:
                return
            number += 1
            if number > after:
                yield one


def extract(path: Path, name: str, wanted: Sequence[str], folder: Path) -> dict[str, Path]:
    """Write the named attachments to files in a folder; those that are not there are left out."""
    upload = Upload(path, name)
    made: dict[str, Path] = {}
    for number, where in enumerate(dict.fromkeys(wanted)):
        place = folder / str(number)
        try:
            if where.startswith("data:"):
                place.write_bytes(_decoded(where))
            else:
                with upload.open(where) as source, place.open("wb") as file:
                    while piece := source.read(_PIECE):
                        file.write(piece)
        except (AppError, KeyError, ValueError):
            place.unlink(missing_ok=True)
            continue
        made[where] = place
    return made


def _read(upload: Upload) -> Iterator[Read]:
    for number, one in enumerate(find_format(upload).read(upload)):
        if number >= MOST_CONVERSATIONS:
            raise ImportRefused(
                f"It has more than {MOST_CONVERSATIONS:,} conversations. Import it in parts."
            )
        if isinstance(one, ImportedConversation) and not one.messages:
            yield Skipped(one.source_id, one.title, "It has no messages.")
        elif isinstance(one, ImportedConversation) and len(one.messages) > MOST_MESSAGES:
            count = len(one.messages)
            reason = f"It has {count:,} messages; at most {MOST_MESSAGES:,} can be imported."
            yield Skipped(one.source_id, one.title, reason)
        else:
            yield one


def _count(result: Inspection, one: ImportedConversation | StoredConversation) -> None:
    result.conversations += 1
    result.ids.append(one.source_id)
    if one.title and len(result.titles) < MOST_TITLES:
        result.titles.append(one.title[:200])
    if isinstance(one, StoredConversation):
        result.messages += len(one.records["message"])
        result.attachments += len(one.records["file"])
        times = [one.head.created_at, one.head.updated_at]
    else:
        result.messages += len(one.messages)
        for file in count_parts(one):
            result.attachments += 1
            result.missing += file.where is None
        times = [one.created_at, one.updated_at, *(m.created_at for m in one.messages)]
    known = [at if at.tzinfo else at.replace(tzinfo=UTC) for at in times if at is not None]
    if known:
        result.first_at = min([*known, *filter(None, [result.first_at])])
        result.last_at = max([*known, *filter(None, [result.last_at])])


def _decoded(url: str) -> bytes:
    """Return the bytes of a `data:` URL. Raise ValueError."""
    head, _, data = url.partition(",")
    if not head.endswith(";base64"):
        return unquote_to_bytes(data)
    try:
        return base64.b64decode(data, validate=False)
    except binascii.Error as error:
        raise ValueError from error

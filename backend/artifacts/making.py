"""New versions before they are stored: files with content, checked and described."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from backend.artifacts.media_types import HEAD_BYTES, PIXELS, sniff
from backend.artifacts.previews import json_preview, table_preview, text_preview
from backend.data.files.parquet import Written
from backend.data.results import Column, Table, scalar
from backend.errors.artifacts import ArtifactRefused
from backend.schemas.artifacts import ArtifactKind
from backend.schemas.bounds import refuse_unfit
from backend.tabular.charts.fitting import chart_of
from backend.tabular.charts.spec import SpecRefused
from backend.text import is_visible
from backend.types import JSON
from colloquy_kit.messages.clean import clean_text

MOST_CHARS = 2_000_000
MOST_GIVEN_ROWS = 10_000
MOST_FILE_BYTES = 100_000_000
MOST_TITLE_CHARS = 200
CONTENT = "content"


@dataclass(frozen=True)
class Maker:
    """The maker of a version, and its session; `key` is the same for each retry of a call."""

    conversation_id: UUID
    turn_id: UUID | None = None
    agent: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Content:
    """A content in a file, with the data stored beside it."""

    kind: ArtifactKind
    place: Path
    media_type: str
    preview: JSON
    origin: JSON = field(default_factory=dict)


@dataclass(frozen=True)
class ChartOf:
    """The artifact version that a chart draws."""

    artifact_id: UUID
    version: int
    columns: Sequence[Mapping[str, Any]]


def clean_title(title: str) -> str:
    """Return a title on one line. Raise ArtifactRefused if it is invisible or too long."""
    line = " ".join(clean_text(title).split())
    if not is_visible(line):
        raise ArtifactRefused("An artifact needs a visible title.")
    if len(line) > MOST_TITLE_CHARS:
        raise ArtifactRefused(f"A title may have at most {MOST_TITLE_CHARS} characters.")
    return line


def document(text: str, folder: Path, origin: JSON) -> Content:
    """Return a document in Markdown. Raise ArtifactRefused."""
    plain = clean_text(text)
    place = _written(plain, folder)
    return Content(ArtifactKind.DOCUMENT, place, "text/markdown", text_preview(plain), origin)


def json_value(value: Any, folder: Path, origin: JSON) -> Content:
    """Return a JSON value. Raise ArtifactRefused if it cannot be stored."""
    text = dump(value)
    place = _written(text, folder)
    return Content(ArtifactKind.JSON, place, "application/json", json_preview(text), origin)


def dump(value: Any) -> str:
    """Return a JSON value as text, equal for equal values. Raise ArtifactRefused."""
    try:
        refuse_unfit(value)
    except ValueError as error:
        raise ArtifactRefused(f"This JSON cannot be stored: {error}.") from None
    return clean_text(json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False))


def chart(spec: JSON | None, data: ChartOf, folder: Path, origin: JSON) -> Content:
    """Return a chart of an artifact's version. Raise ArtifactRefused."""
    try:
        checked = chart_of(spec, data.columns)
    except SpecRefused as refusal:
        raise ArtifactRefused(f"The chart cannot be drawn: {refusal}") from None
    named = {"artifact_id": str(data.artifact_id), "version": data.version}
    value = {"spec": checked, "data": named}
    place = _written(dump(value), folder)
    return Content(ArtifactKind.CHART, place, "application/vnd.vegalite+json", value, origin)


def table(written: Written, place: Path, origin: JSON) -> Content:
    """Return a table that was written as Parquet."""
    preview = table_preview(written.sample, written.rows)
    return Content(ArtifactKind.TABLE, place, "application/vnd.apache.parquet", preview, origin)


def check_size(size: int) -> None:
    """Raise ArtifactRefused for a file that is empty or too large."""
    if not size:
        raise ArtifactRefused("The file is empty; there is nothing to keep.")
    if size > MOST_FILE_BYTES:
        raise ArtifactRefused(
            f"The file has {size / 1e6:,.0f} MB; an artifact may have at most"
            f" {MOST_FILE_BYTES / 1e6:,.0f} MB. Keep a part of it, or a table of its content."
        )


def kept_file(place: Path, name: str, origin: JSON) -> Content:
    """Return a file unchanged, as an image if its bytes are pixels. Raise ArtifactRefused.

    A drawing that is a document, such as SVG, is a file.
    """
    check_size(place.stat().st_size)
    with place.open("rb") as file:
        media_type = sniff(file.read(HEAD_BYTES), name)
    kind = ArtifactKind.IMAGE if media_type in PIXELS else ArtifactKind.FILE
    return Content(kind, place, media_type, {"name": name} if name else {}, origin)


def given_table(rows: Any) -> Table:
    """Return rows that a model wrote as objects. Raise ArtifactRefused."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not rows:
        raise ArtifactRefused(
            "A table's content is a list of objects, one for each row: [{column: value}]. For data "
            "of a source give `source` and `query` instead."
        )
    if len(rows) > MOST_GIVEN_ROWS:
        raise ArtifactRefused(
            f"A table given as rows may have at most {MOST_GIVEN_ROWS:,} of them; give a query."
        )
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    cells = [[scalar(row.get(name)) for name in names] for row in rows]
    columns = tuple(Column(name, _type([row[n] for row in cells])) for n, name in enumerate(names))
    return Table(columns, cells)


def title_of(title: str | None, known: str) -> str:
    """Return the title of a version, by default that of the previous one."""
    return known if title is None else clean_title(title)


def read_text_content(content: Any) -> str:
    """Return a document's text. Raise ArtifactRefused for anything else."""
    if not isinstance(content, str):
        raise ArtifactRefused("A document's content is a text in Markdown.")
    return content


def read_json_content(content: Any) -> Any:
    """Return a JSON value; a string that contains JSON is parsed."""
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _written(text: str, folder: Path) -> Path:
    if len(text) > MOST_CHARS:
        raise ArtifactRefused(f"The content is longer than {MOST_CHARS:,} characters. Split it.")
    place = folder / CONTENT
    place.write_text(text, encoding="utf-8")
    return place


def _type(values: Sequence[Any]) -> str:
    kinds = {type(value).__name__ for value in values if value is not None}
    if kinds <= {"int"} and kinds:
        return "INTEGER"
    if kinds <= {"int", "float"} and kinds:
        return "DOUBLE"
    return "BOOLEAN" if kinds == {"bool"} else "VARCHAR"

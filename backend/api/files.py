"""Files made by tools, as downloads: browsers must never run them or show them as our page."""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote
from uuid import UUID

from fastapi import Depends, Query, Response

from backend.api.http.sanitize import Text
from backend.errors.base import InvalidInput
from backend.tabular import workbook
from backend.tabular.cells import rows_with
from backend.tabular.charts.choosing import Choices, choices_of, given_spec
from backend.tabular.charts.drawing import draw
from backend.tabular.charts.spec import SpecRefused
from backend.tabular.columns import described
from backend.tabular.csv_text import csv_of
from backend.tabular.locales import chart_locale

MAX_NAME_CHARS = 80
CHUNK = 256_000
_NOT_IN_NAMES = re.compile(r"[^\w .()+,-]+")
# Media types that browsers do not execute; everything else is sent as plain bytes.
PLAIN_KINDS = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp"}
    | {"audio/mpeg", "audio/wav", "audio/ogg", "audio/flac", "application/pdf"}
)


BYTES: dict[str, Any] = {
    "schema": {"type": "string", "contentMediaType": "application/octet-stream"}
}
Format = Literal["json", "csv", "xlsx", "chart"]


def _text(description: str, most: int = 500) -> Any:
    return Query(max_length=most, description=description)


@dataclass(frozen=True)
class TableAsked:
    """The form of a table; a chart without choices is as the model asked for it, or as fits."""

    format: Format = "json"
    locale: Annotated[Text | None, _text("How a chart writes numbers and days.", 35)] = None
    containing: Annotated[Text | None, _text("A chart: of the rows with this text.")] = None
    mark: Annotated[Text | None, _text("A chart's mark: bar, line, area or point.", 20)] = None
    x: Annotated[Text | None, _text("A chart: the column of the x axis.")] = None
    y: Annotated[Text | None, _text("A chart: the column that is measured.")] = None
    colour: Annotated[Text | None, _text("A chart: the column of colours; empty: none.")] = None


TableQuery = Annotated[TableAsked, Depends()]
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "By `format`: the whole result as JSON, a table as CSV or as an Excel workbook, or a "
            "file's own bytes."
        ),
        "content": {
            "application/json": {"schema": {"type": "object", "additionalProperties": True}},
            "text/csv": {"schema": {"type": "string"}},
            workbook.MEDIA_TYPE: BYTES,
            "application/octet-stream": BYTES,
            **dict.fromkeys(sorted(PLAIN_KINDS), BYTES),
        },
    }
}


def attachment(title: str, ending: str) -> str:
    """Return the header that makes browsers save a file under a safe form of this title."""
    name = _NOT_IN_NAMES.sub("-", title)[:MAX_NAME_CHARS].strip(" .-") or "conversation"
    plain = name.encode("ascii", "replace").decode().replace("?", "-")
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"


def pieces(file: Any) -> Iterator[bytes]:
    """Yield a file's bytes, then close it."""
    with file:
        while piece := file.read(CHUNK):
            yield piece


def result_response(
    result: dict[str, Any], result_id: UUID, format: str
) -> Response | dict[str, Any]:
    """Return a stored result in one of the forms that `RESPONSES` describes."""
    if format == "json":
        return result
    name = str(result.get("title") or result.get("name") or f"result-{result_id}")
    return _WRITERS[format](result, name)


def table_response(
    table: dict[str, Any], name: str, asked: TableAsked
) -> Response | dict[str, Any]:
    """Return a message's table as it is shown, as a file, or as its chart.

    `name`: of the file of a table without a title.

    Raise InvalidInput for wishes that would have no effect, and if there is nothing to draw.
    """
    if asked.format == "chart":
        return chart_response(table, asked)
    if asked != TableAsked(asked.format):
        raise InvalidInput("Only a chart is asked for so. Leave it out, or ask for format=chart.")
    if asked.format == "json":
        return described(table)
    return _WRITERS[asked.format](table, str(table.get("title") or name))


def chart_response(table: dict[str, Any], asked: TableAsked) -> dict[str, Any]:
    """Return the chart of a stored table: as it was asked for, or else one that fits.

    As Vega-Lite with its data, its height if it needs one, the notes on what was cut or combined,
    why it is another than was asked for, and what can be chosen. Raise InvalidInput.
    """
    spec, told = given_spec(table)
    if spec is None:
        raise InvalidInput("There are no numbers to chart.")
    choices = choices_of(spec, table["columns"])
    if choices and (wanted := _chosen(choices, asked)) != choices:
        choices, spec = wanted, wanted.spec(table["columns"])
    if asked.containing:
        table = {**table, "rows": rows_with(table, asked.containing, asked.locale)}
    drawing = draw(spec, table, asked.locale)
    config = {"locale": chart_locale(asked.locale)}
    return {
        "spec": {**drawing.spec, "config": config, "data": {"values": drawing.rows}},
        "height": drawing.height,
        "notes": drawing.notes,
        "told": told,
        "choices": choices and choices.shown(),
    }


def _chosen(choices: Choices, asked: TableAsked) -> Choices:
    try:
        return choices.choose(asked.mark, asked.x, asked.y, asked.colour)
    except SpecRefused as refusal:
        raise InvalidInput(str(refusal)) from refusal


def csv_response(result: dict[str, Any], name: str) -> Response:
    """Return a stored table as CSV. Raise InvalidInput if the result is not a table."""
    if "columns" not in result:
        raise InvalidInput("This result is not a table. Leave out format=csv.")
    return _attachment(csv_of(result).encode(), "text/csv; charset=utf-8", name, "csv")


def workbook_response(result: dict[str, Any], name: str) -> Response:
    """Return a table as an Excel workbook. Raise InvalidInput if the result is not a table."""
    if "columns" not in result:
        raise InvalidInput("This result is not a table. Leave out format=xlsx.")
    return _attachment(workbook.workbook_of(result), workbook.MEDIA_TYPE, name, "xlsx")


def file_response(result: dict[str, Any], name: str) -> Response:
    """Return a stored file as its bytes. Raise InvalidInput if the result is not a file."""
    if "data" not in result:
        raise InvalidInput("This result is not a file. Leave out format=file.")
    kind = result.get("mime_type")
    content = base64.b64decode(result["data"])
    kind = kind if kind in PLAIN_KINDS else "application/octet-stream"
    stem, dot, ending = name.rpartition(".")
    is_plain = bool(dot) and ending.isascii() and ending.isalnum()
    return _attachment(content, kind, stem if is_plain else name, ending if is_plain else "bin")


def _attachment(content: bytes, media_type: str, title: str, ending: str) -> Response:
    headers = {"Content-Disposition": attachment(title, ending)}
    return Response(content, media_type=media_type, headers=headers)


_WRITERS = {"csv": csv_response, "xlsx": workbook_response, "file": file_response}

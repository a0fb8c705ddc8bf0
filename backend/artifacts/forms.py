"""The download formats of a version: made in a child of the sandbox, piece by piece."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.data.files.parquet import SAMPLE, read_page, read_rows
from backend.data.results import Scalar
from backend.errors.artifacts import ArtifactRefused
from backend.tabular.charts.drawing import Drawing
from backend.tabular.charts.drawing import draw as draw_chart
from backend.tabular.csv_text import as_field
from backend.tabular.locales import chart_locale
from backend.tabular.workbook import MEDIA_TYPE as WORKBOOK
from backend.tabular.workbook import write_workbook
from backend.types import JSON

MOST_SHEET_ROWS = 1_048_575
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_ENGINE: Any = {"allowed_base_urls": [], "vl_version": "6.4"}
MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": WORKBOOK,
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "file": "application/octet-stream",
}
FORMS: Mapping[str, Sequence[str]] = {
    "table": ("csv", "xlsx", "parquet"),
    "chart": ("png", "svg", "json"),
    "document": ("md", "html", "pdf"),
    "json": ("json",),
    "image": ("file",),
    "file": ("file",),
}
# For these, the stored bytes already have the format.
AS_STORED = frozenset({("table", "parquet"), ("document", "md"), ("json", "json"),
                       ("chart", "json"), ("image", "file"), ("file", "file")})  # fmt: skip


def check_form(kind: str, form: str) -> None:
    """Raise ArtifactRefused, which names the formats of this kind, unless it has this one."""
    if form not in FORMS[kind]:
        known = ", ".join(FORMS[kind])
        raise ArtifactRefused(
            f"An artifact of the kind {kind} cannot be downloaded as {form}. It is available as: "
            f"{known}."
        )


def write_csv(place: Path, target: Path) -> None:
    """Write a table as CSV, all fields quoted, so that no text is run as a formula."""
    names = [column.name for column in read_page(place, 0, SAMPLE).columns]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(map(as_field, names))
        writer.writerows(map(as_field, row) for row in read_rows(place))


def write_xlsx(place: Path, title: str, total: int, target: Path) -> None:
    """Write a table as a workbook of one sheet. Raise ArtifactRefused if it has too many rows."""
    if total > MOST_SHEET_ROWS:
        raise ArtifactRefused(f"An Excel sheet cannot hold {total:,} rows. Use csv or parquet.")
    head = read_page(place, 0, SAMPLE)
    columns = [column.wire for column in head.columns]
    with target.open("wb") as file:
        write_workbook([(title, {"columns": columns, "rows": _Rows(place, head.rows)})], file)


def draw(chart: Mapping[str, Any], table: JSON, form: str, target: Path) -> None:
    """Draw a chart with its data; nothing is loaded."""
    looks = {"config": {"locale": chart_locale(None)}}
    drawn = {**with_data(draw_chart(chart["spec"], table)), **looks}
    if form == "svg":
        target.write_text(as_svg(drawn), encoding="utf-8")
        return
    import vl_convert  # it starts threads: never before a fork

    target.write_bytes(vl_convert.vegalite_to_png(drawn, scale=2, **_ENGINE))


def as_svg(drawn: JSON) -> str:
    """Return a chart that contains its data as SVG. Raise ValueError if it fails."""
    import vl_convert  # it starts threads: never before a fork

    return str(vl_convert.vegalite_to_svg(drawn, **_ENGINE))


def read_json(place: Path) -> Any:
    """Return a stored JSON value."""
    return json.loads(place.read_bytes())


def with_data(drawing: Drawing) -> JSON:
    """Return a complete Vega-Lite specification."""
    return {"$schema": SCHEMA, **drawing.spec, "data": {"values": drawing.rows}}


@dataclass(frozen=True)
class _Rows:
    """A file's rows as the workbook writer needs them: a sample, and one pass over all."""

    place: Path
    head: Sequence[Sequence[Scalar]]

    def __iter__(self) -> Iterator[list[Scalar]]:
        return read_rows(self.place)

    def __getitem__(self, part: slice) -> Sequence[Sequence[Scalar]]:
        return self.head[part]

"""A session as one printable HTML file that loads and runs nothing."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from html import escape
from typing import Any

from backend.export.document_body import BodyWriter, write_figure
from backend.export.history import History
from backend.export.parts import SHOWN_ROWS, Part, count_words, speaker_of
from backend.export.reader import Reader
from backend.tabular.cells import cell_writers, is_number
from backend.tabular.columns import kinds_of

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: light-dark(#667, #a4a4b4);
  background: Canvas; color: CanvasText; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 2rem 0 0.5rem; }
h2 time, .quiet, figcaption, summary { color: var(--quiet); font-weight: normal;
  font-size: 0.85rem; }
.you { border-left: 3px solid #2f5d62; padding-left: 1rem; white-space: pre-wrap; }
pre { background: #8881; padding: 0.75rem; border-radius: 0.4rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: 0.8rem; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.5rem; text-align: start;
  vertical-align: top; }
h1, h2, h3, h4, h5, h6, p, li, th, td, .you { unicode-bidi: plaintext; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1rem 0; overflow-x: auto; } img { max-width: 100%; }
.chart svg { max-width: 100%; height: auto; } .chart { text-align: center; }
.missing { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.5rem 0.75rem; }
.problem { border-left: 3px solid #a34a5a; padding-left: 1rem; white-space: pre-wrap; }
@media screen { :not(figure) > table { display: block; overflow-x: auto; } }
@media print {
  :root { color-scheme: light; }
  th, td { overflow-wrap: anywhere; }
  @page { margin: 18mm; }
  body { margin: 0; max-width: none; font-size: 10pt; color: #000; background: #fff; }
  h2 { break-after: avoid; } tr, img, pre { break-inside: avoid; }
  .chart { break-inside: avoid; } thead { display: table-header-group; }
  figure { overflow: visible; } a { color: inherit; }
}
"""


def write_html(history: History) -> Iterator[str]:
    """Yield the page in pieces."""
    session = history.session
    title = escape(session.title or "Conversation")
    about = f"{escape(session.domain)}, {_time(session.created_at, history)}"
    yield f'{page_head(title)}<p class="quiet">{about}</p>\n'
    body, before = BodyWriter(history.href), ""
    for row in history.rows():
        speaker = speaker_of(row)
        if speaker != before:
            yield f"<h2>{escape(speaker)} {_time(row.created_at, history)}</h2>\n"
            before = speaker
        yield _write(history.part(row), body, history) + "\n"
    yield "</body></html>\n"


def page_head(title: str, *, has_heading: bool = True) -> str:
    """Return the page up to its content; the title is escaped by the caller."""
    heading = f"<h1>{title}</h1>\n" if has_heading else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n{heading}"
    )


def _write(part: Part, body: BodyWriter, history: History) -> str:
    if part.kind in ("markdown", "chart"):
        text = part.place or part.text
        return f"<div>{body.write(text, history.figures(text))}</div>"
    if part.kind == "table" and part.table is not None:
        chart = history.chart(part)
        return (write_figure(chart) if chart else "") + _table(
            part.label, part.table, history.reader
        )
    if part.kind == "image":
        return _image(part, history)
    if part.kind == "problem":
        return f'<p class="problem">{escape(part.text)}</p>'
    if part.kind == "verbatim" and not part.label:
        return f'<p class="you">{escape(part.text)}</p>'
    if part.kind == "aside" and not part.label:
        return f'<p class="quiet">{escape(part.text)}</p>'
    block = f"<pre>{escape(part.text)}</pre>"
    if not part.label:
        return block
    return f"<details><summary>{escape(part.label)}</summary>{block}</details>"


def _table(label: str, table: Mapping[str, Any], reader: Reader) -> str:
    columns, rows = table["columns"], table.get("rows", [])[:SHOWN_ROWS]
    kinds = kinds_of(columns)
    head = "".join(f"<th>{escape(str(column.get('name', '')))}</th>" for column in columns)
    writers = cell_writers(columns, reader.locale)
    opening = ['<td class="number">' if is_number(kind) else "<td>" for kind in kinds]
    body = "".join(
        "<tr>"
        + "".join(
            f"{start}{escape(write(cell))}</td>"
            for start, cell, write in zip(opening, row, writers, strict=False)
        )
        + "</tr>\n"
        for row in rows
    )
    caption = f"{escape(label)} ({count_words(table, len(rows), reader)})"
    notes = "".join(f'<p class="quiet">{escape(str(n))}</p>' for n in table.get("notes") or [])
    return (
        f"<figure><figcaption>{caption}</figcaption><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}</figure>"
    )


def _image(part: Part, history: History) -> str:
    found = history.result(part.result_id) if part.result_id else None
    name = escape(part.text)
    if not found or found.get("mime_type") not in PICTURES or "data" not in found:
        return f'<p class="quiet">Image: {name}</p>'
    address = f"data:{found['mime_type']};base64,{escape(str(found['data']))}"
    return f'<figure><img alt="{name}" src="{address}"><figcaption>{name}</figcaption></figure>'


def _time(when: datetime, history: History) -> str:
    return f'<time datetime="{when.isoformat()}">{history.reader.moment(when)}</time>'

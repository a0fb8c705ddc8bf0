"""The page layout of a document's PDF: size, fonts, footer and title block. Pure."""

from dataclasses import dataclass
from datetime import datetime

from backend.artifacts.documents.charts import Figures
from backend.artifacts.documents.glyphs import find_missing, say_missing
from backend.artifacts.documents.typst_blocks import Blocks, write_verbatim
from backend.artifacts.documents.typst_text import breakable, literal
from backend.markdown.cells import Href, link_cells
from backend.markdown.dialect import LONGEST_MARKDOWN, reader

VERBATIM = (
    f"This document is longer than {LONGEST_MARKDOWN:,} characters, so it is shown as plain text"
    ", without formatting."
)
_STYLE = """
#set document(title: name, date: date)
#let ink = rgb("#1f2933")
#let quiet = rgb("#667085")
#let hairline = 0.5pt + rgb("#d0d5dd")
#let accent = rgb("#2f5d62")
#let rule = block(above: 1.2em, below: 1.2em, line(length: 100%, stroke: hairline))
#let missing(title, why) = block(
  width: 100%, inset: 10pt, radius: 3pt, stroke: hairline, fill: rgb("#f7f8fa"),
  { strong(title); linebreak(); text(fill: quiet, why) },
)
#let notice(said) = block(
  width: 100%, inset: (x: 10pt, y: 8pt), radius: 3pt, fill: rgb("#fdf6e3"), below: 1.4em,
  text(size: 9pt, said),
)
#set page(paper: "a4", margin: (x: 24mm, top: 20mm, bottom: 22mm))
#set text(
  font: ("Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono"),
  size: 10.5pt, fill: ink, hyphenate: false,
)
#set par(leading: 0.68em, spacing: 1.05em, linebreaks: "simple")
#set list(indent: 0.4em, body-indent: 0.6em, spacing: 0.7em)
#set enum(indent: 0.4em, body-indent: 0.6em, spacing: 0.7em)
#set table(
  inset: (x: 6pt, y: 5pt),
  stroke: (_, y) => (
    top: if y == 0 { 0.9pt + ink },
    bottom: if y == 0 { 0.6pt + ink } else { hairline },
  ),
)
#show table: set text(size: 9pt, number-width: "tabular")
#show table: set par(leading: 0.5em)
#show table: it => block(above: 1.2em, below: 1.4em, it)
#show heading: set text(fill: ink, weight: 600)
#show heading: set block(above: 1.7em, below: 1em, sticky: true)
#show list.where(tight: true): it => block(above: 0.9em, below: 1em, it)
#show enum.where(tight: true): it => block(above: 0.9em, below: 1em, it)
#show heading.where(level: 1): set text(size: 16pt)
#show heading.where(level: 2): set text(size: 13pt)
#show heading.where(level: 3): set text(size: 11.5pt)
#show link: set text(fill: accent)
#show raw: set text(font: "DejaVu Sans Mono", size: 8.5pt)
#show raw.where(block: true): it => block(
  width: 100%, inset: 9pt, radius: 3pt, fill: rgb("#f4f5f7"), breakable: true, it,
)
#show quote.where(block: true): it => block(
  width: 100%, inset: (left: 12pt, y: 2pt), stroke: (left: 2pt + accent),
  text(fill: quiet, it.body),
)
#set figure(numbering: none, supplement: none, gap: 0.7em)
#show figure: set block(above: 1.5em, below: 1.6em, width: 100%)
#show figure.caption: it => text(size: 9pt, fill: quiet, it.body)
#set page(footer: context {
  set text(size: 8pt, fill: quiet)
  grid(
    columns: (1fr, auto), column-gutter: 12pt,
    box(clip: true, height: 1.1em, width: 100%, name),
    { counter(page).display(); " / "; counter(page).final().map(str).join() },
  )
})
#block(below: 0.9em, text(size: 21pt, weight: 600, title))
#text(size: 9.5pt, fill: quiet, about)
#block(above: 1em, below: 1.8em, line(length: 100%, stroke: 1.2pt + accent))
"""


@dataclass(frozen=True)
class Subject:
    """A document's title, version, date and author."""

    title: str
    version: int
    agent: str
    created_at: datetime


def write_typst(subject: Subject, text: str, figures: Figures, href: Href) -> str:
    """Return a document as Typst, which names no file and loads nothing.

    `href` is where links to cells lead.
    """
    is_long = len(text) > LONGEST_MARKDOWN
    tokens = [] if is_long else reader().parse(text)
    link_cells(tokens, href)
    blocks = Blocks(tokens, figures)
    title = blocks.title() or literal(breakable(subject.title))
    body = write_verbatim(text) if is_long else blocks.write()
    pictures = "".join(figure.svg for figure in figures.values())
    notices = [say_missing(find_missing(f"{subject.title}{text}{pictures}"))]
    notices += [VERBATIM] if is_long else []
    notices = [f"#notice({literal(notice)})\n" for notice in notices if notice]
    day = subject.created_at
    date = f"datetime(year: {day.year}, month: {day.month}, day: {day.day})"
    named = {
        "name": literal(subject.title),
        "title": title,
        "about": literal(_about(subject)),
        "date": date,
    }
    definitions = "".join(f"#let {name} = {value}\n" for name, value in named.items())
    return f"{definitions}{_STYLE}{''.join(notices)}#{{\n{body}\n}}\n"


def _about(subject: Subject) -> str:
    by = [subject.agent] if subject.agent else []
    return " · ".join([f"{subject.created_at:%Y-%m-%d}", f"Version {subject.version}", *by])

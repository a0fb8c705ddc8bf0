"""A document in Markdown as one HTML file that loads nothing and runs nothing. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from backend.artifacts.documents.charts import Figures, figure_at
from backend.export.html_page import page_head
from backend.tabular.chart_places import CHART
from backend.tabular.document_reader import LONGEST_MARKDOWN, reader

_FIGURES = "figures"


def write_document(title: str, text: str, figures: Figures) -> str:
    """Return the page; a text that is too long to be laid out stands as it is written.

    A document that begins with a heading of its own has no other.
    """
    if len(text) > LONGEST_MARKDOWN:
        body = f"<pre>{escape(text)}</pre>"
    else:
        parser = reader()
        parser.add_render_rule(CHART, _write_chart)
        body = parser.render(text, {_FIGURES: figures})
    head = page_head(escape(title), has_heading=not body.startswith("<h1>"))
    return f"{head}{body}\n</body></html>\n"


def _write_chart(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Mapping[str, Any],
) -> str:
    """Return a chart as its picture; it is from the engine that draws, which is given no HTML."""
    found = figure_at(env[_FIGURES], tokens[place].meta["place"])
    title = escape(found.title)
    if not found.svg:
        return f'<p class="missing"><strong>{title}</strong><br>{escape(found.problem)}</p>\n'
    return (
        f'<figure class="chart" role="img" aria-label="{title}">{found.svg}'
        f"<figcaption>{title}</figcaption></figure>\n"
    )

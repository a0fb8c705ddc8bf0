"""Agents' Markdown as HTML that loads and runs nothing, with its charts in place. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from backend.artifacts.documents.charts import Figure, Figures, figure_at
from backend.markdown.cells import Href, link_cells
from backend.markdown.dialect import LONGEST_MARKDOWN
from backend.markdown.html import html_reader
from backend.tabular.chart_places import CHART

_FIGURES = "figures"


class BodyWriter:
    """Writes texts one after the other; links to cells lead to `href`."""

    def __init__(self, href: Href) -> None:
        self._href = href
        self._parser = html_reader()
        self._parser.add_render_rule(CHART, _write_chart)

    def write(self, text: str, figures: Figures) -> str:
        """Return a text as HTML; one too long to be formatted is shown as its source."""
        if len(text) > LONGEST_MARKDOWN:
            return f"<pre>{escape(text)}</pre>"
        env = {_FIGURES: figures}
        tokens = self._parser.parse(text, env)
        link_cells(tokens, self._href)
        written: str = self._parser.renderer.render(tokens, self._parser.options, env)
        return written


def _write_chart(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Mapping[str, Any],
) -> str:
    """Return the chart at this place of a text."""
    return write_figure(figure_at(env[_FIGURES], tokens[place].meta["place"]))


def write_figure(found: Figure) -> str:
    """Return a chart as its SVG, unescaped: our own engine drew it, and was given no HTML."""
    title = escape(found.title)
    if not found.svg:
        return f'<p class="missing"><strong>{title}</strong><br>{escape(found.problem)}</p>\n'
    return (
        f'<figure class="chart" role="img" aria-label="{title}">{found.svg}'
        f"<figcaption>{title}</figcaption></figure>\n"
    )

"""Markdown as HTML that loads and runs nothing. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from backend.markdown.dialect import reader
from backend.markdown.formulas import FORMULA
from backend.markdown.notes import NOTE

FORMULA_CLASS = "colloquy-formula"


def html_reader() -> MarkdownIt:
    """Return the parser with all that is needed to write HTML, except charts."""
    parser = reader()
    parser.add_render_rule(FORMULA, _formula)
    parser.add_render_rule(NOTE, _note)
    parser.add_render_rule("link_open", _link)
    return parser


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Mapping[str, Any],
) -> str:
    """Return the beginning of a link that opens in another tab, and tells it nothing of ours."""
    token = tokens[place]
    token.attrs = {**token.attrs, "target": "_blank", "rel": "noopener noreferrer"}
    return renderer.renderToken(tokens, place, options, dict(env))


def _formula(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Mapping[str, Any],
) -> str:
    """Return a formula's source; pages draw it: `ui/assets/formulas.js`."""
    token = tokens[place]
    end = "\n" if token.block else ""
    return f'<{token.tag} class="{FORMULA_CLASS}">{escape(token.content)}</{token.tag}>{end}'


def _note(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Mapping[str, Any],
) -> str:
    return f"<sup>{escape(tokens[place].content)}</sup>"

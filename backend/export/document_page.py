"""A Markdown document as one HTML file that loads and runs nothing. Pure."""

from html import escape

from backend.artifacts.documents.charts import Figures
from backend.export.document_body import BodyWriter
from backend.export.html_page import page_head
from backend.markdown.cells import Href


def write_document(title: str, text: str, figures: Figures, href: Href) -> str:
    """Return the page; no heading is added to a document that begins with one.

    `href` is where links to cells lead.
    """
    body = BodyWriter(href).write(text, figures)
    head = page_head(escape(title), has_heading=not body.startswith("<h1>"))
    return f"{head}{body}\n</body></html>\n"

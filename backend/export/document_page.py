"""A Markdown document as one HTML file that loads and runs nothing. Pure."""

from html import escape

from backend.artifacts.documents.charts import Figures
from backend.export.document_body import BodyWriter
from backend.export.html_page import page_head


def write_document(title: str, text: str, figures: Figures) -> str:
    """Return the page; no heading is added to a document that begins with one."""
    body = BodyWriter().write(text, figures)
    head = page_head(escape(title), has_heading=not body.startswith("<h1>"))
    return f"{head}{body}\n</body></html>\n"
